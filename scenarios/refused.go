package scenarios

import (
	"errors"

	"redlocksim/faults"
	"redlocksim/sim/kernel"
)

// refused are the faults of the timeline that no run injects whatever the clients do, and why not, by the indices of their
// items: a node is killed that is down by then. They are injected here as in a run, so that only the faults say what is
// refused, but nobody does anything meanwhile. So only those are that come at true times, and nothing is said of a process
// that other faults may have happened to by then.
func (s *Scenario) refused() map[int]error {
	names, unsure := s.Processes(), map[string]bool{}
	for _, item := range s.Timeline {
		if item.Fault != nil && item.When.After != nil {
			for _, name := range append(names.Group(faults.TargetOf(item.Fault)), faults.TargetOf(item.Fault)) {
				unsure[name] = true
			}
		}
	}
	sure := *s
	sure.Timeline = nil
	var at []int // in the timeline of the scenario, of these items
	for i, item := range s.Timeline {
		if item.Fault == nil || item.When.After != nil {
			continue
		}
		if on := faults.TargetOf(item.Fault); on != "" && !unsure[on] {
			sure.Timeline, at = append(sure.Timeline, item), append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	w, err := sure.newWorld(&Options{Unhashed: true, Unwatched: true})
	if err != nil {
		return nil // the run says so, too
	}
	defer w.Close()
	armed := sure.Arm(faults.NewField(faults.In(w)), nil)
	w.Kernel.Run(kernel.True(s.Duration))
	why := map[int]error{}
	for i, placed := range armed.faults {
		if placed.Err != nil && !errors.Is(placed.Err, faults.ErrNoKeys) {
			why[at[i]] = placed.Err
		}
		for _, u := range armed.field.Undone {
			if u.Fault == placed.Fault {
				why[at[i]] = u.Err
			}
		}
	}
	return why
}
