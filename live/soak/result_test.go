package soak

import (
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
)

// told is a history of events with times in milliseconds.
func told(events ...history.Event) history.History {
	for i := range events {
		events[i].Seq, events[i].Time, events[i].Resource = i+1, events[i].Time*int64(time.Millisecond), "lock-1"
	}
	return events
}

func called(at int64, f history.Func, client string, grant int) history.Event {
	return history.Event{Time: at, Kind: history.Call, Func: f, Process: client, Op: grant, Grant: grant}
}

func granted(at int64, client string, grant int) history.Event {
	return history.Event{Time: at, Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Process: client, Op: grant, Grant: grant}
}

func expired(at int64, client string, grant int) history.Event {
	return history.Event{Time: at, Kind: history.Expire, Process: client, Grant: grant}
}

func TestTallyCounts(t *testing.T) {
	s := &Result{}
	s.count(told(called(0, history.Acquire, "a", 1), granted(10, "a", 1), called(20, history.Acquire, "b", 2),
		expired(100, "a", 1), granted(130, "b", 2), // 30 ms after a lease ran out
		expired(200, "b", 2), called(205, history.Release, "b", 2), // released late
		called(206, history.Acquire, "a", 3), granted(207, "a", 3)))
	if s.Calls != 3 || s.Grants != 3 || s.RanOut != 2 || !s.HasMargin || s.Margin != 30*time.Millisecond {
		t.Errorf("%d calls, %d grants, %d leases ran out, margin %v", s.Calls, s.Grants, s.RanOut, s.Margin)
	}
	s.finish()
	for part, want := range map[float64]time.Duration{0: time.Millisecond, 0.5: 10 * time.Millisecond, 1: 110 * time.Millisecond} {
		if got := s.Wait(part); got != want {
			t.Errorf("%v of the waits within %v, want %v", part, got, want)
		}
	}
}

func TestTallyTakeable(t *testing.T) {
	const ended = checker.Instant(100 * time.Millisecond)
	failed := granted(900, "P1-lock-1", 4)
	failed.Outcome = history.Failed
	for name, test := range map[string]struct {
		h    history.History
		want string // in the problem; empty for none
	}{
		"in time":                  {told(granted(150, "P1-lock-1", 1)), ""},
		"too late":                 {told(granted(151, "P1-lock-1", 1)), "taken again 51ms after"},
		"never":                    {told(failed), "could not be taken again"},
		"somebody else in between": {told(granted(120, "P1-17", 1), granted(151, "P1-lock-1", 2)), "taken again 51ms after"},
	} {
		s := &Result{Takeable: Bounded{Within: 50 * time.Millisecond}}
		s.takeable(1, test.h, ended)
		switch {
		case test.want == "" && s.OK():
		case test.want != "" && s.Has(scenarios.Liveness) && strings.Contains(s.Problems[0].Text, test.want):
		default:
			t.Errorf("%s: %v, want %q", name, s.Problems, test.want)
		}
	}
}

// A soak in which no fault was injected, though some were to be, shows nothing.
func TestTallyOfNothing(t *testing.T) {
	s := &Result{Options: Options{Faults: Faults()}}
	if s.finish(); s.OK() || !s.Has(scenarios.NotTested) || s.Has(scenarios.Safety) {
		t.Errorf("%v, want not tested", s.Problems)
	}
}
