package protocols

import (
	"reflect"
	"slices"

	"redlocksim/internal/strictyaml"
)

// Own is the settings that a protocol has beside those of every lock: a struct whose fields are keys of a scenario file. What
// several protocols have is a struct that is inline in theirs.
type Own interface {
	// Check says what is wrong with the settings, of which the receiver is a part, for a number of nodes.
	Check(s Settings, nodes int) error
}

// Of is the part T of the settings that the protocol of s has of its own: what it shares with others, or all of them (as an
// Own, too).
// It is zero if the protocol does not have it; see Has.
func Of[T any](s Settings) T {
	if whole, is := s.own.(T); is {
		return whole
	}
	part, has := partOf[T](reflect.ValueOf(s.own))
	if !has {
		return *new(T)
	}
	return part.Interface().(T)
}

// Has says whether the protocol of s has the settings T.
func Has[T any](s Settings) bool {
	_, has := partOf[T](reflect.ValueOf(s.own))
	return has
}

// Change changes the part T of the protocol's own settings, and reports whether it has one.
func Change[T any](s *Settings, change func(*T)) bool {
	if whole, is := any(&s.own).(*T); is {
		change(whole)
		return true
	}
	own := copied(s.own)
	part, has := partOf[T](own)
	if !has {
		return false
	}
	change(part.Addr().Interface().(*T))
	s.own = own.Interface().(Own)
	return true
}

// copied is a variable with a copy of the settings.
func copied(own Own) reflect.Value {
	if own == nil {
		return reflect.Value{}
	}
	v := reflect.New(reflect.TypeOf(own)).Elem()
	v.Set(reflect.ValueOf(own))
	return v
}

// partOf looks for a T: the settings themselves, or a struct that is inline in them.
func partOf[T any](own reflect.Value) (reflect.Value, bool) {
	if !own.IsValid() {
		return own, false
	}
	if own.Type() == reflect.TypeFor[T]() {
		return own, true
	}
	for i := range own.NumField() {
		if !own.Type().Field(i).Anonymous {
			continue
		}
		if part, has := partOf[T](own.Field(i)); has {
			return part, true
		}
	}
	return reflect.Value{}, false
}

// With is the settings for another protocol: what both have and was set stays, and the rest is as the other has it by default.
func (s Settings) With(name Name) Settings {
	p, known := Find(name)
	if !known || s.Protocol == name && s.own != nil {
		return s
	}
	own := copied(p.own)
	if s.own != nil {
		was := reflect.ValueOf(s.own)
		before, _ := Find(s.Protocol)
		defaults := reflect.ValueOf(before.own)
		for _, f := range strictyaml.Fields(was.Type()) {
			isDefault := reflect.DeepEqual(was.FieldByIndex(f.Index).Interface(), defaults.FieldByIndex(f.Index).Interface())
			for _, to := range strictyaml.Fields(own.Type()) {
				if f.Owner == to.Owner && f.Name == to.Name && !isDefault {
					own.FieldByIndex(to.Index).Set(was.FieldByIndex(f.Index))
				}
			}
		}
	}
	s.Protocol, s.own = name, own.Interface().(Own)
	return s
}

// Take takes the setting of a key from settings of the same protocol, and reports whether it was another.
func (s *Settings) Take(key string, from Settings) bool {
	own := copied(s.own)
	for _, part := range []struct{ to, from reflect.Value }{
		{reflect.ValueOf(s).Elem(), reflect.ValueOf(from)}, {own, reflect.ValueOf(from.own)},
	} {
		for _, f := range strictyaml.Fields(part.to.Type()) {
			to, value := part.to.FieldByIndex(f.Index), part.from.FieldByIndex(f.Index)
			if f.Key == key && !reflect.DeepEqual(to.Interface(), value.Interface()) {
				to.Set(value)
				s.own = own.Interface().(Own)
				return true
			}
		}
	}
	return false
}

// Keys are the keys of a scenario file that a protocol has under lock, in the order in which they are written.
func (n Name) Keys() []strictyaml.Field {
	common := strictyaml.Fields(reflect.TypeFor[Settings]())
	if p, known := Find(n); known {
		return append(common, strictyaml.Fields(reflect.TypeOf(p.own))...)
	}
	return common
}

// Has says whether a protocol has the setting of a key.
func (n Name) Has(key string) bool {
	return slices.ContainsFunc(n.Keys(), func(f strictyaml.Field) bool { return f.Key == key })
}

// having are the protocols that have the setting of a key.
func having(key string) (names []string) {
	for _, p := range All() {
		if p.Name.Has(key) {
			names = append(names, string(p.Name))
		}
	}
	return names
}
