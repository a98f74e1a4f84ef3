package monitor

import (
	"strings"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// isGuarded says whether nodes vote only where the restart guard lets them.
func isGuarded(r *Run) bool { return protocols.Of[protocols.RedlockSettings](r.Lock).Guard != nil }

// isFit says whether a node has a record of the restart guard of its own run, and no quarantine.
func isFit(s *redis.Server) bool {
	record, _, _ := s.Observable().Peek(driver.GuardKey)
	since, isOfThisRun := strings.CutPrefix(record.Value, s.RunID())
	return isOfThisRun && strings.HasPrefix(since, " 0 ")
}
