package shrink

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/network"
)

// isSize says whether a quantity is the size of a fault: without one it is no milder.
func (x *shrinker) isSize(q *quantity) bool {
	return q.at.isOfFault() && !q.isCount() && faults.SizeOf(x.now.Timeline[q.at[1].(int)].Fault) != nil
}

// quantities makes each quantity zero, or as small as it can be, and then a little larger where that is a rounder number.
func quantities(x *shrinker) {
	for n := 0; n < len(quantitiesOf(x.root)); n++ {
		all := quantitiesOf(x.root)
		q, first, rounder := all[n], int64(0), up
		with := func(v int64) *candidate { return x.changed(q.set(v)) }
		if q.isCount() {
			first, rounder = 1, exactly
		}
		switch {
		case q.value != first && !x.isSize(q) && x.take(with(first)):
			n -= len(all) - len(quantitiesOf(x.root))
		case q.grows():
			x.least(q.value, q.value+int64(x.now.Duration), q.unit, down, with)
		default:
			x.least(q.value, 0, q.unit, rounder, with)
		}
	}
}

// fine is what part of a quantity the search for the smallest is content with.
const fine = 64

// least makes a number as mild as still shows what is to be kept, and then a little worse where that is a rounder number. With
// holds nothing is shown.
func (x *shrinker) least(was, holds, unit int64, rounder func(int64, int) int64, with func(int64) *candidate) {
	shows := was
	for max(shows-holds, holds-shows) > max(unit, shows/fine) {
		middle := (shows + holds) / 2 / unit * unit
		if middle == shows || middle == holds {
			break
		}
		if x.shows(with(middle)) {
			shows = middle
		} else {
			holds = middle
		}
	}
	for figures := 1; ; figures++ {
		round := rounder(shows, figures)
		if round == was || x.take(with(round)) || round == shows {
			break
		}
	}
}

// length ends the run soon after the violation.
func length(x *shrinker) {
	x.least(int64(x.now.Duration), 0, int64(time.Millisecond), up, func(v int64) *candidate {
		return x.edited(func(s *scenarios.Scenario) { s.Duration = time.Duration(v) })
	})
}

// equal makes two quantities the same that need not differ. None more than doubles: that would be another story.
func equal(x *shrinker) {
	for i := range quantitiesOf(x.root) {
		for j := range quantitiesOf(x.root) {
			all := quantitiesOf(x.root)
			if i >= len(all) || j >= len(all) {
				return
			}
			if a, b := all[i], all[j]; a.unit == b.unit && !a.isCount() && !x.isSize(a) && a.value != b.value && b.value <= 2*a.value {
				x.cut(a.set(b.value))
			}
		}
	}
}

// latency makes messages take no time, or always the same.
func latency(x *shrinker) {
	x.try(func(s *scenarios.Scenario) { s.Network.Replies = nil })
	for _, of := range []func(*scenarios.Scenario) *scenarios.Latency{
		func(s *scenarios.Scenario) *scenarios.Latency { return &s.Network.Latency },
		func(s *scenarios.Scenario) *scenarios.Latency { return s.Network.Replies },
	} {
		l := of(x.now)
		if l == nil || l.Max() == 0 {
			continue
		}
		for _, constant := range []time.Duration{0, time.Duration(up(int64(l.Max()), 1)), l.Max()} {
			if x.try(func(s *scenarios.Scenario) { of(s).Latency = network.Constant(constant) }) {
				break
			}
		}
	}
}

// shifts moves all that happens from a time on earlier as a whole, so that nothing, or a round length of time, is before it.
func shifts(x *shrinker) {
	instants := func() (all []time.Duration) {
		for i := range x.now.Timeline {
			if when := &x.now.Timeline[i].When; when.After == nil {
				all = append(all, when.At)
			}
		}
		slices.Sort(all)
		return slices.Compact(append([]time.Duration{0}, all...))
	}
	for n := 1; n < len(instants()); n++ {
		at := instants()
		from, gap := at[n], at[n]-at[n-1]
		for _, to := range []time.Duration{0, time.Duration(down(int64(gap), 1)), time.Duration(up(int64(gap/2), 1))} {
			if to < gap && x.try(func(s *scenarios.Scenario) {
				for i := range s.Timeline {
					if when := &s.Timeline[i].When; when.After == nil && when.At >= from {
						when.At -= gap - to
					}
				}
			}) {
				n -= len(at) - len(instants())
				break
			}
		}
	}
}
