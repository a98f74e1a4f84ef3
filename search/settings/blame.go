package settings

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
)

// Blame says what is to blame for a finding that the run's faults do not excuse: a setting that is not within its limits for
// what went wrong in the run, or else the lock's code.
func Blame(r *scenarios.Result, f *checker.Finding) string {
	if f.Kind == checker.HolderRefused {
		return "the resource is to blame, which refuses its rightful holder"
	}
	if r.Grades() == nil {
		s := *r.Scenario
		s.Budget = s.Budget.Taken(r.Used)
		if why := short(&s, r, f); why != "" {
			return "the settings are to blame: " + why
		}
	}
	switch {
	case f.Excusable() && slices.ContainsFunc(r.Scenario.Timeline, writesUnchecked):
		return "a client is to blame, which writes without making sure of its lease (write-unchecked)"
	case !f.Excusable():
		return "no fault and no setting excuses it: the lock's code is wrong"
	case r.Grades() == nil && protocols.Has[protocols.DriftSettings](r.Scenario.Lock):
		return "the settings are within their limits: the lock's code is wrong"
	}
	return "the lock is wrong, in its code or its settings" // whose limits nobody knows
}

// leastPause is how long a client has to wait between two attempts to leave the nodes time for others.
const leastPause = time.Millisecond

// short says in words which setting is not within its limits, as far as it can cause the finding; empty if all are.
func short(s *scenarios.Scenario, r *scenarios.Result, f *checker.Finding) string {
	b := &s.Budget
	counters := protocols.Of[protocols.RedlockSettings](s.Lock).CounterTTL
	delay, has := protocols.Of[protocols.DelaySettings](s.Lock).RetryDelay, protocols.Has[protocols.DelaySettings](s.Lock)
	switch {
	case f.Kind == checker.BusyWait && has && delay.Max < leastPause:
		return fmt.Sprintf("clients wait for at most %v between two attempts (retry-delay)", delay.Max)
	case !f.Excusable():
		return ""
	case (f.Kind == checker.TokenRepeated || f.Kind == checker.TokenRegressed) && counters > 0 && f.To.Since(f.From) >= counters:
		return fmt.Sprintf("nodes forget fencing counters after %v (counter-ttl), and the two grants are %v apart", counters, f.To.Since(f.From))
	case s.Lock.Clock == kernel.WallClock && b.ClockStep > 0:
		return fmt.Sprintf("clients measure with a wall clock (clock: wall), which was stepped by %v", b.ClockStep)
	case s.Lock.Clock == kernel.Monotonic && b.Suspend > 0:
		return fmt.Sprintf("the clients' clock stands still while their machine is suspended (clock: monotonic), as it was for %v", b.Suspend)
	}
	own := *s
	if !isLate(r, lateness(s)) { // a guard time is against writes that are late by no more than that
		own.Lock.GuardTime = lateness(s)
	}
	if f.Kind == checker.LeaseOverlap && f.To.Since(f.From) > tick { // for longer than the millisecond accounts for
		protocols.Change(&own.Lock, func(d *protocols.DriftSettings) { d.Drift.Constant = max(d.Drift.Constant, tick) })
	}
	return uncovered(&own)
}

// isLate says that writes were found that came after the ends of their leases, by at most so much.
func isLate(r *scenarios.Result, most time.Duration) bool {
	late := false
	for _, f := range r.Report.Findings {
		if f.Kind == checker.StaleWrite || f.Kind == checker.AcceptedAfterExpiry {
			if late = true; f.To.Since(f.From) > most {
				return false
			}
		}
	}
	return late
}

// writesUnchecked says that a client writes, whether it has the lock or not.
func writesUnchecked(i scenarios.Item) bool {
	return slices.ContainsFunc(i.Do, func(s scenarios.Step) bool { return s.Kind == scenarios.WriteUncheckedStep })
}
