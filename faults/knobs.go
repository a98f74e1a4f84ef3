package faults

import (
	"reflect"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/sim/kernel"
)

// What the fields of a fault do not say has a method: refuses finds more values that make no sense, drawn draws the other
// fields and says whether the limits allow the fault, and follow changes what depends on the size that was turned by so much.
type (
	refuses interface{ refuses(Names) []Problem }
	drawn   interface {
		drawn(Choices, *Limits) bool
	}
	follows interface{ follow(by time.Duration) }
)

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
		if r, is := roles[k.Tag.Get("of")]; is && (*v != "" || k.required()) {
			return among(k.key(), *v, r.names(n), r.what)
		}
	case *Rate:
		if v.abs().ratio.GreaterThan(decimal.New(kernel.MaxRate, -9)) {
			return []Problem{{Field: k.key(), Word: v.String(), Text: "must be from -50% to 50%"}}
		}
	}
	return nil
}

// TargetOf is the process that a fault happens to; empty if that is links.
func TargetOf(f Fault) string {
	if names := tagged(f, "of"); names != nil {
		return names[0].value.String()
	}
	return ""
}

// Part is what a fault shares with others, its Links or its Outage; nil if it has none.
func Part[T Links | Outage](f Fault) *T {
	for _, k := range knobs(f) {
		if part, is := k.value.Addr().Interface().(*T); is {
			return part
		}
	}
	return nil
}

// Draw draws a fault of the kind at random; nil if the limits allow none.
func (k Kind) Draw(c Choices, l *Limits) Fault {
	f := k.New()
	if !k.Applies(l) {
		return nil
	}
	for _, knob := range knobs(f) {
		if !knob.draw(f, c, l) {
			return nil
		}
	}
	if own, is := f.(drawn); is && !own.drawn(c, l) {
		return nil
	}
	return f
}

// draw draws a knob of a fault; false if the limits allow no value.
func (k knob) draw(f Fault, c Choices, l *Limits) (ok bool) {
	switch v := k.value.Addr().Interface().(type) {
	case *Links:
		*v = l.links(c)
	case *Outage:
		*v = l.outage(c, f.(outage).how())
	case *string:
		if of, is := k.Tag.Lookup("of"); is && (k.required() || len(l.names(of)) > 1 && c.For("all "+of+"s", 0).Below(2) == 1) {
			*v = l.name(c, of)
		}
	case *time.Duration:
		least, takes, forever := k.length("from"), k.takes(), k.number("forever")
		switch {
		case least == 0:
		case takes != nil:
			if *v, ok = l.upTo(c.For(k.key(), 0), least, l.Budget.size(takes[0])); !ok {
				return false
			}
		case forever == 0 || c.For("for good", 0).Below(forever) != forever-1:
			*v = l.Times.Length(c.For(k.key(), 0), least, 2*l.Scale)
		}
	}
	return true
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
	sizes := tagged(f, "size")
	if sizes == nil {
		return nil
	}
	k := sizes[0]
	words, less, _ := strings.Cut(k.Tag.Get("size"), ",")
	s := &Size{Knob: words, Shrinks: less != ""}
	switch v := k.value.Interface().(type) {
	case *time.Duration:
		if v == nil { // it never comes back
			return nil
		}
		s.Value = *v
		s.With = func(d time.Duration) Fault { return with(f, k.Index, &d, d-s.Value) }
	case time.Duration:
		s.Value = v.Abs()
		s.With = func(d time.Duration) Fault {
			if v < 0 {
				d = -d
			}
			return with(f, k.Index, d, d-v)
		}
	}
	return s
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
