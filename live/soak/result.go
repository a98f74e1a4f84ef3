package soak

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// Result is the result of a soak.
type Result struct {
	// Options are those given, with defaults filled in.
	Options Options
	Rounds  int
	// Calls counts the requests for a lock, Grants those that were granted, and Attempts the attempts made for them.
	Calls, Grants, Attempts int
	// Extensions counts the leases that were extended, RanOut those that expired by the client's clock, and Crashed the clients
	// that were killed.
	Extensions, RanOut, Crashed int
	// Waits is how long each grant took, shortest first.
	Waits []time.Duration
	// Unavailable is the longest time for which somebody asked for a lock and nobody held it, faults included.
	Unavailable time.Duration
	// Margin is the shortest time from the end of a lease that expired by its client's clock, and was not released later,
	// to the next grant of the lock. It is at least the drift allowance if clocks agree. HasMargin: there was such a grant.
	Margin    time.Duration
	HasMargin bool
	// Injected is how often each kind of fault was injected, in the order of SoakFaults.
	Injected []Injected
	// Takeable is how long after the end of the faults each lock was taken again, Cleared how long after the last client was
	// done no key of a lock was left.
	Takeable, Cleared Bounded
	// Events counts the events that were judged, and Unconfirmed the locks of a round with too many operations for porcupine to
	// give a second opinion.
	Events, Unconfirmed int
	// Problems is empty if nothing is wrong, and enough happened to show it.
	Problems []scenarios.Problem
	// History is that of the first round with a problem, or of the last round.
	History history.History
	kept    bool // History has a problem
}

// Injected is how often a kind of fault was injected.
type Injected struct {
	Fault Fault
	Times int
}

// Bounded is the longest of some times, and their bound.
type Bounded struct {
	Longest, Within time.Duration
	Times           int
}

func (b *Bounded) add(d time.Duration) {
	b.Longest = max(b.Longest, d)
	b.Times++
}

// OK reports that nothing is wrong, and that enough happened to show it.
func (s *Result) OK() bool { return len(s.Problems) == 0 }

// Has reports whether there is a problem of the class.
func (s *Result) Has(c scenarios.Class) bool {
	return slices.ContainsFunc(s.Problems, func(p scenarios.Problem) bool { return p.Class == c })
}

// Wait is a quantile of Waits, 0.5 for the median; zero without any.
func (s *Result) Wait(part float64) time.Duration {
	if len(s.Waits) == 0 {
		return 0
	}
	return s.Waits[min(int(part*float64(len(s.Waits))), len(s.Waits)-1)]
}

func (s *Result) problem(c scenarios.Class, format string, args ...any) {
	s.Problems = append(s.Problems, scenarios.Problem{Class: c, Text: fmt.Sprintf(format, args...)})
}

func (s *Result) injected(a Fault) {
	for i := range s.Injected {
		if s.Injected[i].Fault == a {
			s.Injected[i].Times++
			return
		}
	}
	s.Injected = append(s.Injected, Injected{a, 1})
}

// add adds a round, given when its faults ended and what the checkers found in it.
func (s *Result) add(round int, h history.History, report *checker.Report, ended checker.Instant) {
	s.Rounds++
	s.Events += len(h)
	for _, f := range report.Findings {
		if f.Kind.Violation() {
			s.problem(scenarios.Safety, "round %d: %s: %s", round, f.Kind.Says(), f.Text)
		}
	}
	if why := report.NotTested(); why != "" {
		s.problem(scenarios.NotTested, "round %d: %s", round, why)
	}
	for _, u := range report.Unchecked {
		if u.Kind == checker.LeaseOverlap {
			s.Unconfirmed++
			if !u.Decided {
				s.problem(scenarios.Safety, "round %d: %s was not checked: %s", round, u.Resource, u.Why)
			}
		}
	}
	for _, r := range report.Resources {
		s.Unavailable = max(s.Unavailable, r.Unavailable.For)
	}
	s.count(h)
	s.takeable(round, h, ended)
	if !s.kept {
		s.History, s.kept = h, !s.OK()
	}
}

// count adds up what clients did.
func (s *Result) count(h history.History) {
	called := map[int]int64{}             // when, by operation
	ranOut := map[string]*history.Event{} // by lock, the expiry that the next grant is compared with
	for i := range h {
		e := &h[i]
		switch {
		case e.Kind == history.Call && e.Func == history.Acquire:
			s.Calls++
			called[e.Op] = e.Time
		case e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK:
			s.Grants++
			s.Waits = append(s.Waits, time.Duration(e.Time-called[e.Op]))
			if end := ranOut[e.Resource]; end != nil {
				if d := time.Duration(e.Time - end.Time); !s.HasMargin || d < s.Margin {
					s.Margin, s.HasMargin = d, true
				}
				delete(ranOut, e.Resource)
			}
		case e.Kind == history.Return && e.Func == history.Extend && e.Outcome == history.OK:
			s.Extensions++
		case e.Kind == history.Step && e.Name == observe.AttemptStarted.String():
			s.Attempts++
		case e.Kind == history.Expire:
			s.RanOut++
			ranOut[e.Resource] = e
		case e.Kind == history.Call && e.Func == history.Release:
			// A client that comes late takes its keys off the nodes all the same.
			if end := ranOut[e.Resource]; end != nil && end.Grant == e.Grant {
				delete(ranOut, e.Resource)
			}
		case e.Kind == history.Crash:
			s.Crashed++
		}
	}
}

// takeable checks how soon every lock was taken again after the faults.
func (s *Result) takeable(round int, h history.History, ended checker.Instant) {
	taken := map[string]bool{}
	for i := range h {
		e := &h[i]
		if e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK && isTaker(e) && !taken[e.Resource] {
			taken[e.Resource] = true
			took := checker.Instant(e.Time).Since(ended)
			s.Takeable.add(took)
			if took > s.Takeable.Within {
				s.problem(scenarios.Liveness, "round %d: %s was taken again %v after the faults had ended, expected within %v",
					round, e.Resource, took, s.Takeable.Within)
			}
		}
	}
	for i := range h {
		if e := &h[i]; e.Kind == history.Return && e.Func == history.Acquire && isTaker(e) && !taken[e.Resource] {
			taken[e.Resource] = true
			s.problem(scenarios.Liveness, "round %d: %s could not be taken again within %v after the faults had ended: %s",
				round, e.Resource, s.Takeable.Within, e.Detail)
		}
	}
}

// isTaker reports that an event is of the client that takes a lock after the faults: its name ends in that of the lock.
func isTaker(e *history.Event) bool { return strings.HasSuffix(e.Process, "-"+e.Resource) }

// finish puts the figures in order.
func (s *Result) finish() {
	slices.Sort(s.Waits)
	order := Faults()
	slices.SortFunc(s.Injected, func(a, b Injected) int {
		return slices.Index(order, a.Fault) - slices.Index(order, b.Fault)
	})
	if len(s.Options.Faults) > 0 && len(s.Injected) == 0 {
		s.problem(scenarios.NotTested, "no fault was injected")
	}
}
