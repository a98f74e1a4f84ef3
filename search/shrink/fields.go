package shrink

import (
	"reflect"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// fields leaves out of faults what a file can leave out: who and where, a direction. Numbers have passes of their own.
func fields(x *shrinker) {
	for i := range x.now.Timeline {
		f := x.now.Timeline[i].Fault
		if f == nil {
			continue
		}
		n := 0
		leaves(reflect.ValueOf(f).Elem(), func(reflect.Value) { n++ })
		for at := range n {
			x.try(onLeaf(i, at, func(leaf reflect.Value) {
				switch leaf.Interface().(type) {
				case time.Duration, faults.Rate:
				default:
					leaf.SetZero()
				}
			}))
			for entry := 0; entry < entries(x.now, i, at); {
				if !x.try(onLeaf(i, at, func(leaf reflect.Value) {
					names := leaf.Interface().([]string)
					leaf.Set(reflect.ValueOf(slices.Delete(names, entry, entry+1)))
				})) {
					entry++
				}
			}
		}
	}
}

// onLeaf changes one field of the fault of an item.
func onLeaf(item, at int, change func(reflect.Value)) edit {
	return func(s *scenarios.Scenario) {
		n := 0
		leaves(reflect.ValueOf(s.Timeline[item].Fault).Elem(), func(leaf reflect.Value) {
			if n == at {
				change(leaf)
			}
			n++
		})
	}
}

// entries is how many names a list of a fault has beyond the one that it must have; a list without any means all.
func entries(s *scenarios.Scenario, item, at int) int {
	more := 0
	onLeaf(item, at, func(leaf reflect.Value) {
		if names, ok := leaf.Interface().([]string); ok && len(names) > 1 {
			more = len(names)
		}
	})(s)
	return more
}

// moments has items wait for simpler events: whoever's, the first one, and only once.
func moments(x *shrinker) {
	for i := range x.now.Timeline {
		if x.now.Timeline[i].When.After == nil {
			continue
		}
		for _, simpler := range []func(*faults.Trigger){
			func(t *faults.Trigger) { t.Every = false },
			func(t *faults.Trigger) { t.After.Node = "" },
			func(t *faults.Trigger) { t.After.Client = "" },
			func(t *faults.Trigger) { t.After.Nth = 0 },
		} {
			x.try(func(s *scenarios.Scenario) { simpler(&s.Timeline[i].When) })
		}
		for n := 1; n < x.now.Timeline[i].When.After.Nth; n++ {
			if x.try(func(s *scenarios.Scenario) { s.Timeline[i].When.After.Nth = n }) {
				break
			}
		}
	}
}
