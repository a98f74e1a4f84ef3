package rules

import (
	"redlocksim/sim/kernel"
	"redlocksim/sim/trace"
)

// watchNodeClocks has f called when the clock by which a node's keys end has been stepped, or goes at another rate: they end at
// another time than they would have.
func watchNodeClocks(r *Run, f func()) {
	type course struct{ ahead, rate int64 }
	courses := make([]course, len(r.World.Servers))
	look := func() (changed bool) {
		for i, s := range r.World.Servers {
			now := course{ahead(s.Process), s.Clock().Rate()}
			changed = changed || courses[i] != now
			courses[i] = now
		}
		return changed
	}
	look()
	trace.On(r.World.Events, func(kernel.ClockMoved) {
		if look() {
			f()
		}
	})
}
