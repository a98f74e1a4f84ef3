package scenarios

import "redlocksim/faults"

// Limits are what faults are drawn and placed within for a scenario; beyond is for those that exceed its budget, too.
func Limits(s *Scenario, beyond bool) *faults.Limits {
	return &faults.Limits{Names: s.Processes(), Budget: s.Budget, Beyond: beyond, Scale: s.Lock.TTL,
		Persistence: s.Nodes.Persistence.Persistence, Fenced: s.Lock.Fencing, Batches: s.Lock.Batching != 0}
}
