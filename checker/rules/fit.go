package rules

import (
	"strconv"
	"strings"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// isGuarded says whether nodes vote only where the restart guard lets them.
func isGuarded(r *Run) bool { return hasGuard(r.Lock) }

func hasGuard(lock protocols.Settings) bool {
	return protocols.Of[protocols.RedlockSettings](lock).Guard != nil
}

// guardRecord is a node's record of the restart guard; zero if there is none that can be read.
type guardRecord struct {
	run    string
	since  time.Duration // when its quarantine began, by the node's clock; 0 if there is none
	maxTTL time.Duration // the largest TTL that clients have
}

// guardRecordOf is what a node has now.
func guardRecordOf(s *redis.Server) guardRecord {
	record, _, _ := s.Observable().Peek(driver.GuardKey)
	return parseGuard(record.Value)
}

func parseGuard(value string) guardRecord {
	run, times, _ := strings.Cut(value, " ")
	since, maxTTL, isWhole := strings.Cut(times, " ")
	if !isWhole {
		return guardRecord{}
	}
	from, wrong := strconv.ParseInt(since, 10, 64)
	most, alsoWrong := strconv.ParseInt(maxTTL, 10, 64)
	if wrong != nil || alsoWrong != nil {
		return guardRecord{}
	}
	return guardRecord{run, time.Duration(from) * time.Millisecond, time.Duration(most) * time.Millisecond}
}

// isFit says whether a node has a record of the restart guard of its own run, with the largest TTL that clients have, and no
// quarantine.
func (r *Run) isFit(s *redis.Server) bool {
	return guardRecordOf(s) == guardRecord{s.RunID(), 0, protocols.Of[protocols.RedlockSettings](r.Lock).Guard.MaxTTL}
}
