package sweep

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"redlocksim/reach"
	"redlocksim/scenarios"
)

// effectTries bounds how many runs are made again without a kind of fault, to see whether it does anything.
const effectTries = 2

// injected is a run in which a fault of some kind was injected.
type injected struct {
	// point is the settings, and number which of the runs there it was.
	point    string
	number   int
	scenario *scenarios.Scenario
	seed     uint64
}

// survey is what runs reached, and of each kind of fault the first runs, by their points, in which it was injected. What surveys
// add up to does not depend on the order in which they do.
type survey struct {
	tally    reach.Tally
	injected map[string][]injected
}

// add takes in a run, the number-th at a point.
func (s *survey) add(at []Setting, number int, r *scenarios.Result) {
	run := r.Reached()
	s.tally.Add(reach.Of(run), run)
	if r.Tier != scenarios.Model {
		return
	}
	point := strings.Join(words(at), "\x00")
	for _, kind := range run.Injected {
		s.keep(kind, injected{point, number, r.Scenario, r.Seed})
	}
}

func (s *survey) keep(kind string, all ...injected) {
	if s.injected == nil {
		s.injected = map[string][]injected{}
	}
	kept := append(s.injected[kind], all...)
	order := func(a, b injected) int { return cmp.Or(cmp.Compare(a.point, b.point), cmp.Compare(a.number, b.number)) }
	slices.SortFunc(kept, order)
	kept = slices.CompactFunc(kept, func(a, b injected) bool { return order(a, b) == 0 })
	s.injected[kind] = kept[:min(len(kept), effectTries)]
}

// gathering adds up the surveys of points that several workers run at a time. The zero gathering is ready.
type gathering struct {
	mu  sync.Mutex
	sum survey
}

func (g *gathering) add(other *survey) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sum.tally.Merge(other.tally)
	for kind, all := range other.injected {
		g.sum.keep(kind, all...)
	}
}

// reached is what all runs reached. It makes runs again, to see which kinds of faults made a difference.
func (g *gathering) reached() (reach.Tally, error) {
	t := g.sum.tally
	for kind, all := range g.sum.injected { // the kinds are counted each by itself
		for _, s := range all {
			is, err := scenarios.IsEffective(s.scenario, s.seed, kind)
			if err != nil {
				return t, err
			}
			if is {
				t.Reached.AddEffect(kind)
				break
			}
		}
	}
	return t, nil
}
