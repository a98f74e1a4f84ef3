package verdict

import (
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// patience is how much longer than Redlock a lock may be unavailable: how long it waits before it tries again is its own
// affair. On tier live a busy machine makes everything longer, and so does the speed of the run.
const (
	patience       = 2 * time.Second
	patienceOnLive = 15 * time.Second
)

// compareAvailability notes by how much longer the lock was unavailable than a sound Redlock is under the same faults. A lock
// that renews itself lasts for as long as somebody believes in it.
func (r *Result) compareAvailability(sound time.Duration) {
	more := patience
	if r.Tier == scenarios.Live {
		more = patienceOnLive
	}
	var unavailable time.Duration
	for _, on := range r.Report.Resources {
		if r.foreign.Renews {
			unavailable = max(unavailable, on.Unheld)
		} else {
			unavailable = max(unavailable, on.Unavailable.For)
		}
	}
	r.Sound = sound
	if unavailable <= sound+more {
		return
	}
	r.Longer = unavailable - sound
	r.Problems = append(r.Problems, Problem{Liveness, fmt.Sprintf("unavailable for %v, and a sound Redlock for %v under the same faults%s",
		unavailable.Round(time.Millisecond), sound.Round(time.Millisecond), r.unserved())})
}

// IsExpected says that a run of somebody's lock is held to what its file expects of waits, beside what Redlock shows.
func (r *Result) IsExpected() bool {
	return r.Scenario.Theme == scenarios.Own && r.Tier != scenarios.Live && !r.Scenario.Expect.Unavailable.Unbounded
}

// forgetHaste leaves out what is expected of durations and of how often somebody waits or tries.
func forgetHaste(e *scenarios.Expect) {
	e.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: math.MaxInt64}}
	e.Waits = scenarios.Waits{}
	e.Resources = slices.Clone(e.Resources)
	for i := range e.Resources {
		e.Resources[i].Value = scenarios.ExpectOn{Findings: e.Resources[i].Value.Findings}
	}
}

// allowLess leaves out what is expected at the least of how long and how often somebody waits, and of attempts.
func allowLess(e *scenarios.Expect) {
	if e.Unavailable.Unbounded {
		e.Unavailable = scenarios.Unavailable{Bounds: scenarios.Bounds{AtMost: math.MaxInt64}}
	}
	e.Unavailable.AtLeast = 0
	e.Waits = atMost(e.Waits)
	e.Resources = slices.Clone(e.Resources)
	for i := range e.Resources {
		on := &e.Resources[i].Value
		on.Unavailable, on.Waits = upTo(on.Unavailable), atMost(on.Waits)
	}
}

// atMost is without what is expected at the least, and of attempts.
func atMost(w scenarios.Waits) scenarios.Waits {
	return scenarios.Waits{Takeover: upTo(w.Takeover), Bypass: upToCount(w.Bypass), Overtakes: upToCount(w.Overtakes), AfterHealing: upTo(w.AfterHealing)}
}

func upTo(b *scenarios.Bounds) *scenarios.Bounds {
	if b == nil {
		return nil
	}
	return &scenarios.Bounds{AtMost: b.AtMost}
}

func upToCount(b *scenarios.CountBounds) *scenarios.CountBounds {
	if b == nil {
		return nil
	}
	return &scenarios.CountBounds{AtMost: b.AtMost}
}

// unserved says which calls for the lock never returned, or gave up early; empty if none did.
func (r *Result) unserved() string {
	open, asked := map[int]bool{}, map[int]time.Duration{}
	text := ""
	for i := range r.History {
		e := &r.History[i]
		switch {
		case e.Func != history.Acquire:
		case e.Kind == history.Call:
			open[e.Op], asked[e.Op] = true, time.Duration(e.Time)
		case e.Kind == history.Return:
			if delete(open, e.Op); e.Span > 0 && text == "" {
				waited := time.Duration(e.Time) - asked[e.Op]
				text = fmt.Sprintf("; %s was to wait for %v for %s, and was refused after %v", e.Process, (waited + time.Duration(e.Span)).Round(time.Millisecond),
					e.Resource, waited.Round(time.Millisecond))
			}
		}
	}
	for i := range r.History {
		if e := &r.History[i]; text == "" && e.Kind == history.Call && e.Func == history.Acquire && open[e.Op] {
			text = fmt.Sprintf("; %s, which asked for %s at %v, got no answer", e.Process, e.Resource, asked[e.Op].Round(time.Millisecond))
		}
	}
	return text
}
