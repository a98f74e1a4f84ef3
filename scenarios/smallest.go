package scenarios

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// Smallest is how much of a kind of fault it takes to break the lock, everything else being as in the scenario.
type Smallest struct {
	// Fault is the kind, and Knob its size in words.
	Fault string
	Knob  string
	// Breaks is the mildest size that still breaks the lock, and Holds the next one, a millisecond milder, that does
	// not. For a fault that is worse the smaller it is, Holds is the larger.
	Breaks, Holds time.Duration
	// Formula is what the arithmetic gives for the schedule in which it is tight: the smallest size that breaks the lock,
	// or for a fault that is worse the smaller it is the smallest that holds. Why is what it consists of and what makes
	// the difference. Zero and empty where there is no formula.
	Formula time.Duration
	Why     string
	// Confirmed says that both sides were run on the other tier too, with the same verdicts.
	Confirmed bool
}

// resolution is how exactly the smallest fault is found: that of Redis' clock.
const resolution = time.Millisecond

// FindSmallest looks, for each kind of fault in the timeline that has a size, for the mildest that still gives the
// findings of r; all faults of the kind are given the same size. It bisects on tier model and confirms both sides on the
// others. Kinds without which the findings are the same are left out.
func FindSmallest(r *Result) ([]Smallest, error) {
	var all []Smallest
	var kinds []string
	for _, item := range r.Scenario.Timeline {
		if item.Fault == nil || faults.SizeOf(item.Fault) == nil || slices.Contains(kinds, item.Kind) {
			continue
		}
		kinds = append(kinds, item.Kind)
		found, err := bisect(r, item.Kind, faults.SizeOf(item.Fault))
		if err != nil {
			return nil, err
		}
		if found != nil {
			all = append(all, *found)
		}
	}
	return all, nil
}

func bisect(r *Result, kind string, of *faults.Size) (*Smallest, error) {
	breaks := func(tier Tier, size time.Duration) (bool, error) {
		out, err := Run(resized(r.Scenario, kind, size), Options{Tier: tier, Seed: r.Seed, Foreign: r.foreign})
		if err != nil {
			return false, err
		}
		report, err := r.Scenario.check(out)
		return slices.Equal(violations(report), violations(r.Report)), err
	}
	// bad is known to break the lock and good not to, where the sizes are the multiples of the resolution.
	bad := of.Value / resolution * resolution
	good := time.Duration(0)
	if of.Shrinks {
		good = bad + r.Scenario.Duration
	}
	for _, known := range []struct {
		size time.Duration
		want bool
	}{{bad, true}, {good, false}} {
		if got, err := breaks(Model, known.size); err != nil || got != known.want {
			return nil, err
		}
	}
	for (good - bad).Abs() > resolution {
		middle := (good + bad) / 2 / resolution * resolution
		broken, err := breaks(Model, middle)
		if err != nil {
			return nil, err
		}
		if broken {
			bad = middle
		} else {
			good = middle
		}
	}
	s := &Smallest{Fault: kind, Knob: of.Knob, Breaks: bad, Holds: good, Confirmed: true}
	for _, tier := range Tiers() {
		if tier == Model {
			continue
		}
		worse, err := breaks(tier, bad)
		if err != nil {
			return nil, err
		}
		milder, err := breaks(tier, good)
		if err != nil {
			return nil, err
		}
		s.Confirmed = s.Confirmed && worse && !milder
	}
	s.Formula, s.Why = formula(r, kind)
	return s, nil
}

// resized is the scenario with all faults of a kind at a size, but for those that have none, such as a crash for good.
func resized(s *Scenario, kind string, size time.Duration) *Scenario {
	changed := *s
	changed.Timeline = slices.Clone(s.Timeline)
	for i := range changed.Timeline {
		if item := &changed.Timeline[i]; item.Kind == kind && faults.SizeOf(item.Fault) != nil {
			item.Fault = faults.SizeOf(item.Fault).With(size)
		}
	}
	return &changed
}

// violations are the kinds of findings that break mutual exclusion.
func violations(r checker.Report) []checker.Kind {
	var kinds []checker.Kind
	for _, f := range r.Own() {
		if f.Kind.Violation() && !slices.Contains(kinds, f.Kind) {
			kinds = append(kinds, f.Kind)
		}
	}
	return kinds
}

// formula is what the arithmetic of the literature gives for a counterexample against Redlock with one holder: the
// smallest jump of a node's clock, or the shortest delay of a restart that is safe. Both are tight when messages take no
// time and the second client asks at the right moment.
func formula(r *Result, kind string) (time.Duration, string) {
	w := r.Witness()
	asked, injected := time.Duration(-1), time.Duration(-1)
	for i := range r.History {
		e := &r.History[i]
		if asked < 0 && e.Kind == history.Call && e.Func == history.Acquire && e.Resource == w.Resource {
			asked = time.Duration(e.Time)
		}
		if injected < 0 && e.Kind == history.Fault && e.Name == kind && e.Node != "" {
			injected = time.Duration(e.Time)
		}
	}
	if !protocols.Has[protocols.RedlockSettings](r.Scenario.Lock) || w.Kind != checker.LeaseOverlap || asked < 0 || injected < asked || r.hasMoreThan(kind) {
		return 0, ""
	}
	k, _ := faults.Find(kind)
	if k.Tight == nil {
		return 0, ""
	}
	return k.Tight(faults.Schedule{TTL: r.Scenario.Lock.TTL, Asked: asked, Injected: injected, Until: time.Duration(w.Windows[0].To)})
}

// hasMoreThan says whether more than one moment decides, or faults of other kinds do as well, but for those that only
// decide which nodes a client reaches.
func (r *Result) hasMoreThan(kind string) bool {
	var moment *faults.Trigger
	for i := range r.Scenario.Timeline {
		item := &r.Scenario.Timeline[i]
		of, _ := faults.Find(item.Kind)
		switch {
		case item.Fault == nil || of.Routes:
		case item.Kind != kind || moment != nil && moment.String() != item.When.String():
			return true
		default:
			moment = &item.When
		}
	}
	return false
}
