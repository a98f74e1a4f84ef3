package verdict

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/internal/frontier"
	"redlocksim/scenarios"
)

// Smallest is how much of a kind of fault it takes to break the lock, everything else being as in the scenario.
type Smallest struct {
	// Fault is the kind, and Knob its size in words.
	Fault string
	Knob  string
	// Breaks is the mildest size that still breaks the lock, and Holds the next one, a millisecond milder, that does
	// not. For a fault that is worse the smaller it is, Holds is the larger.
	Breaks, Holds time.Duration
	// Confirmed says that both sides were run on the other tier too, with the same verdicts. A lock program has no other tier.
	Confirmed bool
}

// resolution is how exactly the smallest fault is found: that of Redis' clock.
const resolution = time.Millisecond

// findSmallest looks, for each kind of fault in the timeline that has a size, for the mildest that still gives the
// findings of r; all faults of the kind are given the same size. It bisects on tier model and confirms both sides on the
// others. Kinds without which the findings are the same are left out.
func findSmallest(r *Result) ([]Smallest, error) {
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
	breaks := func(tier scenarios.Tier, size time.Duration) (bool, error) {
		o := r.options()
		o.Tier = tier
		out, err := scenarios.Run(resized(r.Scenario, kind, size), o)
		if err != nil {
			return false, err
		}
		report, err := checker.Check(out.History, r.Scenario.CheckOptions())
		report.Add(out.Monitored...) // as r's has what the rules found
		return slices.Equal(report.Shows(checker.Kind.Violation), r.Report.Shows(checker.Kind.Violation)), err
	}
	// from and to are the ends between which the lock begins to break, or no longer does, in steps of the resolution.
	from, to := time.Duration(0), of.Value/resolution*resolution
	if of.Shrinks {
		from, to = to, to+r.Scenario.Duration
	}
	line, _, err := frontier.Narrow(int64((to-from)/resolution), func(i int64) (frontier.Side, error) {
		broken, err := breaks(scenarios.Model, from+time.Duration(i)*resolution)
		if broken {
			return frontier.Breaks, err
		}
		return frontier.Holds, err
	})
	if err != nil {
		return nil, err
	}
	holds, broken, changes := frontier.Change(line.Sides)
	if changes == 0 || of.Shrinks != (broken < holds) {
		return nil, nil
	}
	bad, good := from+time.Duration(line.At[broken])*resolution, from+time.Duration(line.At[holds])*resolution
	s := &Smallest{Fault: kind, Knob: of.Knob, Breaks: bad, Holds: good, Confirmed: r.Tier != scenarios.Program}
	for _, tier := range scenarios.Tiers() {
		if tier == scenarios.Model || r.Tier == scenarios.Program {
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
	return s, nil
}

// resized is the scenario with all faults of a kind at a size, but for those that have none, such as a crash for good.
func resized(s *scenarios.Scenario, kind string, size time.Duration) *scenarios.Scenario {
	changed := *s
	changed.Timeline = slices.Clone(s.Timeline)
	for i := range changed.Timeline {
		if item := &changed.Timeline[i]; item.Kind == kind && faults.SizeOf(item.Fault) != nil {
			item.Fault = faults.SizeOf(item.Fault).With(size)
		}
	}
	return &changed
}
