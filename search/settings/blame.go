package settings

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/kernel"
)

// Blame says what is to blame for a finding that the run's faults do not excuse: a setting that is not within its limits for
// what went wrong in the run, or else the lock's code.
func Blame(r *verdict.Result, f *checker.Finding) string {
	if f.Kind == checker.HolderRefused {
		i := slices.IndexFunc(r.Report.Findings, func(of checker.Finding) bool { return misleads(of.Kind) && of.Resource == f.Resource })
		if i < 0 {
			return "the resource is to blame, which refuses its rightful holder"
		}
		f = &r.Report.Findings[i] // by which the resource goes
	}
	limits := "the settings are within their limits"
	if r.Grades() == nil {
		why, isMended := guilty(r, f)
		if why != "" {
			return "the settings are to blame: " + why
		}
		if isMended {
			limits = "it is found with settings within their limits, too"
		}
	}
	switch {
	case f.Excusable() && slices.ContainsFunc(r.Scenario.Timeline, writesUnchecked):
		return "a client is to blame, which writes without making sure of its lease (write-unchecked)"
	case !f.Excusable():
		return "no fault and no setting excuses it: the lock's code is wrong"
	case r.Grades() == nil && protocols.Has[protocols.DriftSettings](r.Scenario.Lock):
		return limits + ": the lock's code is wrong"
	}
	return "the lock is wrong, in its code or its settings" // whose limits nobody knows
}

// misleads says whether findings of a kind are why a resource refuses its rightful holder: it goes by tokens, or by a version
// that only the holder should change.
func misleads(k checker.Kind) bool {
	return isOfTokens(k) || k == checker.LeaseOverlap || k == checker.StaleWrite
}

func isOfTokens(k checker.Kind) bool {
	return k == checker.TokenRepeated || k == checker.TokenRegressed
}

// guilty says in words which setting is not within its limits and causes the finding; empty if none does. Where it is known how
// to set it right, the run is made again with that: what is still found then has another cause, and isMended says so.
func guilty(r *verdict.Result, f *checker.Finding) (why string, isMended bool) {
	s := *r.Scenario
	s.Budget = s.Budget.Taken(r.Used)
	for {
		why, mend := short(&s, f)
		if mend == nil {
			return why, isMended
		}
		if mend(&s.Lock); !remains(r, f, s.Lock) {
			return why, false
		}
		isMended = true
	}
}

// remains says that a finding is there with other settings of the lock as well.
func remains(r *verdict.Result, f *checker.Finding, lock protocols.Settings) bool {
	s := *r.Scenario
	s.Lock = lock
	again, err := verdict.Judge(&s, scenarios.Options{Seed: r.Seed, Unhashed: true})
	return err == nil && !again.Excused(f.Kind) && slices.ContainsFunc(again.Report.Findings, func(of checker.Finding) bool {
		return of.Kind == f.Kind && of.Resource == f.Resource && of.Excusable() == f.Excusable()
	})
}

// leastPause is how long a client has to wait between two attempts to leave the nodes time for others.
const leastPause = time.Millisecond

// short says in words which setting is not within its limits and can cause such a finding, and how to set it right if that is
// known; empty if all are within.
func short(s *scenarios.Scenario, f *checker.Finding) (why string, mend func(*protocols.Settings)) {
	b := &s.Budget
	counters := protocols.Of[protocols.RedlockSettings](s.Lock).CounterTTL
	delay, has := protocols.Of[protocols.DelaySettings](s.Lock).Span(), protocols.Has[protocols.DelaySettings](s.Lock)
	boottime := func(lock *protocols.Settings) { lock.Clock = kernel.Boottime }
	switch {
	case f.Kind == checker.BusyWait && has && delay.Max < leastPause:
		return fmt.Sprintf("clients wait for at most %v between two attempts (retry-delay)", delay.Max), nil
	case isOfTokens(f.Kind) && counters > 0 && f.To.Since(f.From) >= counters:
		return fmt.Sprintf("nodes forget fencing counters after %v (counter-ttl), and the two grants are %v apart", counters, f.To.Since(f.From)), nil
	case s.Lock.Clock == kernel.WallClock && b.ClockStep > 0:
		return fmt.Sprintf("clients measure with a wall clock (clock: wall), which was stepped by %v", b.ClockStep), boottime
	case s.Lock.Clock == kernel.Monotonic && b.Suspend > 0:
		return fmt.Sprintf("the clients' clock stands still while their machine is suspended (clock: monotonic), as it was for %v", b.Suspend), boottime
	case !f.Excusable():
		return "", nil
	}
	own := *s
	switch f.Kind {
	case checker.StaleWrite, checker.AcceptedAfterExpiry, checker.LostUpdate:
	default: // a guard time is about what reaches the resource
		own.Lock.GuardTime = lateness(s)
		if !isOfTokens(f.Kind) {
			own.Budget.CounterLoss = 0
		}
	}
	return uncovered(&own)
}

// writesUnchecked says that a client writes, whether it has the lock or not.
func writesUnchecked(i scenarios.Item) bool {
	return slices.ContainsFunc(i.Do, func(s scenarios.Step) bool { return s.Kind == scenarios.WriteUncheckedStep })
}
