package protocols

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// Own is the settings that a protocol has beside those of every lock: a struct whose fields are keys of a scenario file. What
// several protocols have is a struct that is inline in theirs.
//
// A protocol for tier live whose own settings have times says with a method faster what they are at a multiple of the speed.
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

// With is the settings for another protocol: what both have stays, and the rest is as the other has it by default.
func (s Settings) With(name Name) Settings {
	p, known := Find(name)
	if !known || s.Protocol == name && s.own != nil {
		return s
	}
	own := copied(p.own)
	if s.own != nil {
		was := reflect.ValueOf(s.own)
		for _, f := range strictyaml.Fields(was.Type()) {
			for _, to := range strictyaml.Fields(own.Type()) {
				if f.Owner == to.Owner && f.Name == to.Name {
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

// UnmarshalNode reads the preset and the protocol, wherever they stand, and then, over what follows from them, the other keys.
func (s *Settings) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	var which struct {
		Preset   Preset        `yaml:"preset"`
		Protocol Name          `yaml:"protocol"`
		TTL      time.Duration `yaml:"ttl"`
	}
	if !d.Fields(n, func(*yaml.Node) {}, &which) {
		d.Fields(n, func(key *yaml.Node) { // a key of another protocol may be right, if only it were known which one is meant
			if having(key.Value) == nil {
				d.Errorf(key, key.Value, allKeys(), "unknown key")
			}
		}, s)
		return
	}
	if which.Preset != "" {
		*s = which.Preset.settings(which.TTL)
	}
	*s = s.With(which.Protocol)
	own := copied(s.own)
	if d.Fields(n, func(key *yaml.Node) { s.refuse(d, key) }, s, own.Addr().Interface()) {
		s.own = own.Interface().(Own)
	}
}

// refuse reports a key that the protocol does not have: to pass over it would test another lock than the one asked for.
func (s *Settings) refuse(d *strictyaml.Decoder, key *yaml.Node) {
	if others := having(key.Value); others != nil {
		d.Errorf(key, key.Value, nil,
			"protocol %s has no such setting; leave it out, or choose a protocol that has it (%s):", s.Protocol, strings.Join(others, ", "))
		return
	}
	valid := keys(s.Protocol.Keys())
	if _, near := strictyaml.Nearest(key.Value, valid); !near {
		if _, near := strictyaml.Nearest(key.Value, allKeys()); near {
			valid = allKeys()
		}
	}
	d.Errorf(key, key.Value, valid, "unknown key")
}

func keys(fields []strictyaml.Field) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Key
	}
	return names
}

// allKeys are the keys of all protocols.
func allKeys() (all []string) {
	for _, p := range All() {
		for _, key := range keys(p.Name.Keys()) {
			if !slices.Contains(all, key) {
				all = append(all, key)
			}
		}
	}
	return all
}

// MarshalNode is the counterpart of UnmarshalNode: what is not as in the preset or, without one, in Default.
func (s Settings) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	type plain Settings // without this method
	std := Default()
	if s.Preset != "" {
		std = s.Preset.settings(0)
		if s.TTL != std.TTL { // which must be in the file then: others follow from it
			std = s.Preset.settings(s.TTL)
			std.TTL = s.TTL + 1
		}
		std.Preset = ""
	}
	n := e.Encode(plain(s), plain(std))
	if s.own == nil || reflect.TypeOf(s.own) != reflect.TypeOf(std.With(s.Protocol).own) {
		e.Errorf("lock: protocol %s with settings of another protocol", s.Protocol)
		return n
	}
	n.Content = append(n.Content, e.Encode(s.own, std.With(s.Protocol).own).Content...)
	return n
}

// DescribeNode is what UnmarshalNode reads: the keys of all protocols, each with those that have it.
func (Settings) DescribeNode(s *strictyaml.Schemas) *jsonschema.Schema {
	type field struct {
		owner reflect.Type
		name  string
	}
	of := map[field][]string{}
	var own []reflect.Type
	for _, p := range All() {
		t := reflect.TypeOf(p.own)
		own = append(own, t)
		for _, f := range strictyaml.Fields(t) {
			at := field{f.Owner, f.Name}
			of[at] = append(of[at], string(p.Name))
		}
	}
	named := *s
	named.Comment = func(t reflect.Type, name string) string {
		text := s.Comment(t, name)
		if protocols := of[field{t, name}]; protocols != nil {
			meaning, rest, _ := strings.Cut(text, " Default: ")
			text = fmt.Sprintf("%s Protocols: %s. Default: %s", meaning, strings.Join(protocols, ", "), rest)
		}
		return text
	}
	return named.Struct(reflect.TypeFor[Settings](), own...)
}
