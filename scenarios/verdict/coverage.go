package verdict

import (
	"slices"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/reach"
	"redlocksim/sim/history"
)

// Reached is what there is to say about which steps, faults, moments and rules a run got to.
func (r *Result) Reached() *reach.Run {
	run := &reach.Run{History: r.History, Counts: r.Counts, Report: &r.Report, Used: r.Used, Blind: r.Blind() != "",
		Other: r.foreign != nil || !protocols.Has[protocols.RedlockSettings](r.Scenario.Lock)}
	for i := range r.Scenario.Timeline {
		item := &r.Scenario.Timeline[i]
		came := !slices.Contains(r.Left, i)
		add := func(all, reached *[]string, name string) {
			if *all = append(*all, name); came {
				*reached = append(*reached, name)
			}
		}
		if item.Fault != nil {
			add(&run.Placed, &run.Injected, item.Kind)
		}
		if item.When.After != nil {
			add(&run.Awaited, &run.Fired, item.When.After.Event)
		}
	}
	return run
}

// IsEffective says whether the faults of a kind make a difference to a run on tier model: whether anything but the faults
// themselves is another without them. Where something else waits for such a fault it cannot be told from that, and is not
// said.
func IsEffective(s *scenarios.Scenario, seed uint64, kind string) (bool, error) {
	without := *s
	without.Timeline = nil
	for _, item := range s.Timeline {
		if item.When.After != nil && item.When.After.Event == kind {
			return false, nil
		}
		if item.Fault == nil || item.Kind != kind {
			without.Timeline = append(without.Timeline, item)
		}
	}
	var all [2]history.History
	for i, x := range []*scenarios.Scenario{s, &without} {
		out, err := scenarios.Run(x, scenarios.Options{Seed: seed, Unhashed: true, Unwatched: true})
		if err != nil {
			return false, err
		}
		all[i] = slices.DeleteFunc(out.History, func(e history.Event) bool { return e.Kind == history.Fault })
	}
	x, y := parting(all[0], all[1], func(*history.Event) bool { return true })
	return x != y, nil
}
