package monitor

import (
	"fmt"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// isGuarded says whether nodes vote only where the restart guard lets them.
func isGuarded(r *Run) bool { return protocols.Of[protocols.RedlockSettings](r.Lock).Guard != nil }

// isFit says whether a node has a record of the restart guard of its own run, with the largest TTL that clients have, and no
// quarantine.
func (r *Run) isFit(s *redis.Server) bool {
	record, _, _ := s.Observable().Peek(driver.GuardKey)
	maxTTL := protocols.Of[protocols.RedlockSettings](r.Lock).Guard.MaxTTL
	return record.Value == fmt.Sprint(s.RunID(), " 0 ", maxTTL.Milliseconds())
}

// maxTTLOf is the largest TTL in a node's record of the restart guard; 0 if it has none that can be read.
func maxTTLOf(s *redis.Server) time.Duration {
	record, _, _ := s.Observable().Peek(driver.GuardKey)
	var run string
	var since, ms int64
	if n, _ := fmt.Sscan(record.Value, &run, &since, &ms); n < 3 {
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}
