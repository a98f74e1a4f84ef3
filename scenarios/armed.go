package scenarios

import (
	"fmt"

	"redlocksim/faults"
)

// Armed is the timeline of a run, on any tier: its items wait for their moments.
type Armed struct {
	timeline []Item
	field    *faults.Field
	faults   []*faults.Placed // nil for what clients do
	started  []bool
}

// Arm has the items of the timeline wait for their moments, and the healing for its time. starts has a client begin with the
// item of an index, and says whether it could. It must be called before the run starts.
func (s *Scenario) Arm(f *faults.Field, starts func(i int) bool) *Armed {
	f.Fenced, f.Monotonic, f.Budget = s.Fenced(), s.monotonic(), s.Budget
	if s.Heal != nil {
		faults.Trigger{At: *s.Heal}.Arm(f, f.Heal)
	}
	a := &Armed{s.Timeline, f, make([]*faults.Placed, len(s.Timeline)), make([]bool, len(s.Timeline))}
	for i := range s.Timeline {
		item := &s.Timeline[i]
		if item.Fault == nil {
			item.When.Arm(f, func() { a.started[i] = starts(i) })
			continue
		}
		a.faults[i] = &faults.Placed{When: item.When, Fault: item.Fault}
		a.faults[i].Arm(f)
	}
	return a
}

// IsOver says that the moments of all items have come, for the first time at least.
func (a *Armed) IsOver() bool {
	for i, placed := range a.faults {
		if placed == nil && !a.started[i] || placed != nil && !placed.Injected && placed.Err == nil {
			return false
		}
	}
	return true
}

// Tell adds to an outcome what the faults have taken from the budget, which items did not take place, and why.
func (a *Armed) Tell(out *Outcome) {
	out.Used = a.field.Used
	for i, placed := range a.faults {
		item := &a.timeline[i]
		switch {
		case placed == nil && a.started[i] || placed != nil && placed.Injected:
			continue
		case placed == nil:
			out.Idle = append(out.Idle, fmt.Sprintf("%s, %v: the moment never came", item.Client, item.When))
		case placed.Err != nil:
			out.NotInjected = append(out.NotInjected, fmt.Sprintf("%v: %v", item.When, placed.Err))
		default:
			out.NotInjected = append(out.NotInjected, fmt.Sprintf("%v: the moment never came", item.When))
		}
		out.Left = append(out.Left, i)
	}
	for _, u := range a.field.Undone {
		out.NotInjected = append(out.NotInjected, u.Err.Error())
	}
	out.Unmet = a.field.Unmet()
}
