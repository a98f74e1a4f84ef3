package faults

import (
	"cmp"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/sim/kernel"
)

// knob is a field of a fault that a scenario file can set. Its name and type say what it is:
//
//	Process, Client, Node, Resource   the name of one; that of a resource may be empty, which is all
//	Links, Outage                     what faults share
//	For                               how long it lasts, which searches choose by themselves
//
// and so do its tags:
//
//	range:"0s.."      what a file can say, as package strictyaml has it: every number has one, unless it goes both ways
//	least:"10ms"      the size of the fault, which the budget bounds: searches choose it, from that on
//	back:"3"          it goes both ways, and one in three that are drawn is negative
//	forever:"8"       one in eight that are drawn lasts for good
//	from:"10ms"       how long it lasts at least, if drawn; otherwise that is minOutage
//	placed:"0,1"      the lengths that a systematic search tries, in times to live; otherwise that is one
//	size:"the pause"  the one knob that makes the fault worse, in words
//
// What is left to say has a method: refuses finds more values that make no sense, drawn draws the other fields and says
// whether the limits allow the fault, placed lists all that a systematic search places, and follow changes what depends on the
// size that was turned by so much.
type knob struct {
	reflect.StructField
	value reflect.Value
}

type (
	refuses interface{ refuses(Names) []Problem }
	drawn   interface {
		drawn(Choices, *Limits) bool
	}
	placed  interface{ placed(*Limits) []Fault }
	follows interface{ follow(by time.Duration) }
)

// knobs are those of a fault, or of the struct that several share, in the order of the file.
func knobs(of any) []knob {
	v := reflect.ValueOf(of).Elem()
	all := make([]knob, v.NumField())
	for i := range all {
		all[i] = knob{v.Type().Field(i), v.Field(i)}
	}
	return all
}

// key is the knob's name in scenario files.
func (k knob) key() string {
	key, _, _ := strings.Cut(k.Tag.Get("yaml"), ",")
	return key
}

// number and length are what a tag says; zero if it is not there.
func (k knob) number(tag string) int64 {
	n, _ := strconv.ParseInt(k.Tag.Get(tag), 10, 64)
	return n
}

func (k knob) length(tag string) time.Duration {
	d, _ := time.ParseDuration(k.Tag.Get(tag))
	return d
}

// bounded says that the knob is the size of the fault, which the budget bounds.
func (k knob) bounded() bool { return k.length("least") > 0 }

// Check finds fields of a fault that make no sense among these processes. Nil means that it can be injected.
func Check(f Fault, n Names) []Problem {
	problems := check(f, n)
	if own, is := f.(refuses); is {
		problems = append(problems, own.refuses(n)...)
	}
	return problems
}

func check(of any, n Names) (problems []Problem) {
	for _, k := range knobs(of) {
		problems = append(problems, k.check(n)...)
	}
	return problems
}

func (k knob) check(n Names) []Problem {
	switch v := k.value.Addr().Interface().(type) {
	case *Links:
		return v.check(n)
	case *Outage:
		return check(v, n)
	case *string:
		if valid, what := n.named(k.Name); what != "" && (*v != "" || k.Name != "Resource") {
			return among(k.key(), *v, valid, what)
		}
	case *Rate:
		if v.abs().ratio.GreaterThan(decimal.New(kernel.MaxRate, -9)) {
			return []Problem{{Field: k.key(), Word: v.String(), Text: "must be from -50% to 50%"}}
		}
	}
	return nil
}

// targets are the fields that say whom a fault happens to.
var targets = [...]string{OneNode: "Node", OneClient: "Client", AnyProcess: "Process"}

// TargetOf is the process that a fault happens to; empty if that is links.
func TargetOf(f Fault) string {
	if name := targets[kindOf(f).Target]; name != "" {
		return reflect.ValueOf(f).Elem().FieldByName(name).String()
	}
	return ""
}

// Draw draws a fault of the kind at random; nil if the limits allow none.
func (k Kind) Draw(c Choices, l *Limits) Fault {
	f := k.New()
	for _, knob := range knobs(f) {
		if !k.draw(f, knob, c, l) {
			return nil
		}
	}
	if own, is := f.(drawn); is && !own.drawn(c, l) {
		return nil
	}
	return f
}

// draw draws one of the fields; false if the limits allow no value.
func (k Kind) draw(f Fault, of knob, c Choices, l *Limits) (ok bool) {
	switch v := of.value.Addr().Interface().(type) {
	case *Links:
		*v = l.links(c)
	case *Outage:
		*v = l.outage(c, f.(outage).how())
	case *string:
		*v = l.name(c, of.Name)
	case *time.Duration:
		switch forever := of.number("forever"); {
		case of.bounded():
			if *v, ok = l.upTo(c.For(of.key(), 0), of.length("least"), l.Budget.size(k.Takes[0])); !ok {
				return false
			}
			if back := of.number("back"); back > 0 && c.For("back", 0).Below(back) == 1 {
				*v = -*v
			}
		case of.Name == "For" && (forever == 0 || c.For("for good", 0).Below(forever) != forever-1):
			*v = l.Times.Length(c.For(of.key(), 0), cmp.Or(of.length("from"), minOutage), 2*l.Scale)
		}
	}
	return true
}

// Place lists the faults of the kind that a systematic search places at every moment of a run: with every process or link, and
// with sizes as large as the limits allow.
func (k Kind) Place(l *Limits) []Fault {
	if own, is := k.New().(placed); is {
		return own.placed(l)
	}
	zero := k.New()
	all := []Fault{zero}
	for i, knob := range knobs(zero) {
		values := reflect.ValueOf(k.values(zero, knob, l))
		if !values.IsValid() {
			continue
		}
		var more []Fault
		for _, f := range all {
			for j := range values.Len() {
				f := copyOf(f)
				knobs(f)[i].value.Set(values.Index(j))
				more = append(more, f)
			}
		}
		all = more
	}
	return all
}

// values are those of a field that are placed, in a slice; nil if that is the zero value.
func (k Kind) values(f Fault, of knob, l *Limits) any {
	switch of.value.Interface().(type) {
	case Links:
		return l.allLinks()
	case Outage:
		return l.allOutages(f.(outage).how())
	case string:
		if of.Name != "Resource" {
			valid, _ := l.Names.named(of.Name)
			return valid
		}
	case time.Duration:
		switch {
		case of.bounded():
			var all []time.Duration
			for _, d := range l.allSizes(l.Budget.size(k.Takes[0])) {
				all = append(all, d)
				if of.number("back") > 0 {
					all = append(all, -d)
				}
			}
			return all
		case of.Name == "For":
			lengths, isGiven := of.Tag.Lookup("placed")
			if !isGiven {
				return []time.Duration{l.Scale}
			}
			var all []time.Duration
			for times := range strings.SplitSeq(lengths, ",") {
				n, _ := strconv.Atoi(times)
				all = append(all, time.Duration(n)*l.Scale)
			}
			return all
		}
	}
	return nil
}

// copyOf is a fault with the same fields.
func copyOf(f Fault) Fault {
	c := reflect.New(reflect.TypeOf(f).Elem())
	c.Elem().Set(reflect.ValueOf(f).Elem())
	return c.Interface().(Fault)
}

// Size is how large a fault is.
type Size struct {
	// Value is not negative.
	Value time.Duration
	// Knob names it in words, "the step".
	Knob string
	// Shrinks says that the fault is worse the smaller its size is, as a restart is after a shorter delay.
	Shrinks bool
	// With is the same fault with another size, which is positive.
	With func(time.Duration) Fault
}

// SizeOf is the one knob that makes a fault worse, which a search for the smallest fault turns. Nil if there is none: then a
// search makes each of its numbers smaller by itself.
func SizeOf(f Fault) *Size {
	for _, field := range reflect.VisibleFields(reflect.TypeOf(f).Elem()) {
		words, is := field.Tag.Lookup("size")
		if !is {
			continue
		}
		// A delay makes a fault worse the shorter it is.
		s := &Size{Knob: words, Shrinks: strings.HasSuffix(field.Name, "After")}
		switch v := reflect.ValueOf(f).Elem().FieldByIndex(field.Index).Interface().(type) {
		case *time.Duration:
			if v == nil { // it never comes back
				return nil
			}
			s.Value = *v
			s.With = func(d time.Duration) Fault { return with(f, field.Index, &d, d-s.Value) }
		case time.Duration:
			s.Value = v.Abs()
			s.With = func(d time.Duration) Fault {
				if v < 0 {
					d = -d
				}
				return with(f, field.Index, d, d-v)
			}
		}
		return s
	}
	return nil
}

// with is a fault with another value of a field, which is larger by that.
func with(f Fault, at []int, value any, by time.Duration) Fault {
	other := copyOf(f)
	reflect.ValueOf(other).Elem().FieldByIndex(at).Set(reflect.ValueOf(value))
	if x, is := other.(follows); is {
		x.follow(by)
	}
	return other
}

// Late is by how much a fault can come between a client's look at its lease and the effect that it sends, at the most; zero if
// it cannot, or does not say how long it lasts.
func Late(f Fault) time.Duration {
	if takes := kindOf(f).Takes; len(takes) > 0 {
		switch takes[0] {
		case "delay", "pause", "suspend":
			for _, k := range knobs(f) {
				if k.bounded() {
					return time.Duration(k.value.Int())
				}
			}
		}
	}
	return 0
}
