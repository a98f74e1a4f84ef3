package rules

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
)

// rivals are the acquires that ask for any of the keys of one, with itself: good until it is called again.
func (x *needless) rivals(a *ask) []*ask {
	x.rivalry = x.rivalry[:0]
	for _, b := range x.open {
		if meets(a.Call, b.Call) {
			x.rivalry = append(x.rivalry, b)
		}
	}
	return x.rivalry
}

// contenders counts those who ask the nodes for themselves: acquires in one queue of the library are one.
func (x *needless) contenders(rivals []*ask) (n int) {
	for i, a := range rivals {
		if !x.queues || !slices.ContainsFunc(rivals[:i], a.queuesWith) {
			n++
		}
	}
	return n
}

// travel is how long messages take on the ways of those who ask.
func (x *needless) travel(rivals []*ask) (t travel) {
	t.least = time.Duration(kernel.Forever)
	for _, a := range rivals {
		for _, w := range a.client.ways[:x.nodes] {
			t.include(w)
		}
	}
	return t
}
