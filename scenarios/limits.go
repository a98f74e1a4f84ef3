package scenarios

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

// Limits are what faults are drawn and placed within for a scenario; beyond is for those that exceed its budget, too.
func Limits(s *Scenario, beyond bool) *faults.Limits {
	own := protocols.Of[protocols.RedlockSettings](s.Lock)
	var maxTTL time.Duration
	if own.Guard != nil {
		maxTTL = own.Guard.MaxTTL
	}
	return &faults.Limits{Names: s.Processes(), Budget: s.Budget, Beyond: beyond, Scale: s.Lock.TTL,
		Persistence: s.Nodes.Persistence, Fenced: s.Fenced(), MaxTTL: maxTTL,
		Random: protocols.Has[protocols.RedlockSettings](s.Lock), Strict: protocols.Has[protocols.RedlockSettings](s.Lock), Batches: own.Batching != 0}
}

// Fenced says whether the lock has fencing counters.
func (s *Scenario) Fenced() bool { return protocols.Of[protocols.RedlockSettings](s.Lock).Fencing }
