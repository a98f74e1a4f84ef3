//go:build linux

package live_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/sim/history"
)

// short is a time to live.
const short = "ttl: 2s"

// small is a scenario of two clients, with settings of the lock and a timeline.
func small(t testing.TB, lock, timeline string) *scenarios.Scenario {
	t.Helper()
	if !strings.Contains(lock, "protocol:") { // others may have no allowance for drift
		lock += ", drift: {factor: 1%, constant: 0ms}"
	}
	return scenariotest.Given(t, fmt.Sprintf(`
lock: {%s}
budget: {clock-rate: 50%%, suspend: 10s}
duration: 8s
timeline:%s
expect: {findings: safe, unavailable: {at-most: 1m}}`, lock, timeline))
}

// firstOf is when a process has its first event that a timeline calls by this name; a negative time if it has none.
func firstOf(h history.History, process, name string) time.Duration {
	for i := range h {
		if h[i].Process == process && faults.EventName(&h[i]) == name {
			return time.Duration(h[i].Time)
		}
	}
	return -1
}

// A belief ends when the client's own clock says so, for the history as for the client itself. The times are the scenario's,
// which is played five times as fast.
func TestBeliefEnds(t *testing.T) {
	t.Parallel()
	livetest.NeedsServer(t)
	// What a machine adds, five times: to the moment at which the grant began, and to what follows from the end.
	const slack = 500 * time.Millisecond
	// And by how much less a clock has lost whose rate was changed a little late.
	const early = 250 * time.Millisecond
	for name, test := range map[string]struct {
		lock, fault string        // the fault comes at 1 s
		ends        time.Duration // for the history
		told        time.Duration // when the client itself is told at the earliest; 0: not looked at
	}{
		// It is slow when 980 ms are left, which take it twice as long.
		"later by a slow clock": {short, "clock-rate: {process: client-1, rate: -50%}", 2960 * time.Millisecond, 2760 * time.Millisecond},
		"sooner by one that is fast": {"ttl: 4s", "clock-rate: {process: client-1, rate: 50%}",
			2973 * time.Millisecond, 2840 * time.Millisecond},
		"later by as long as its machine is suspended": {short, "suspend: {client: client-1, for: 2s}",
			3980 * time.Millisecond, 3880 * time.Millisecond},
		"while its machine is suspended, where its clock counts that": {short + ", clock: boottime", "suspend: {client: client-1, for: 2s}",
			1980 * time.Millisecond, 3880 * time.Millisecond},
		"by a step of the clock that it reads": {short + ", clock: wall", "clock-step: {process: client-1, by: 1h}", time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retry.Test(t, livetest.Disturbing, func(t *retry.T) {
				s := small(t, test.lock, fmt.Sprintf(`
  - {at: 0s, client: client-1, do: [try-lock, sleep: 5s]}
  - {at: 1s, fault: {%s}}`, test.fault))
				r, err := run(t, t.Context(), s, attemptSpeed(t))
				if err != nil {
					t.Fatal(err)
				}
				ends, told := firstOf(r.History, "client-1", "belief-ended"), firstOf(r.History, "client-1", "lost")
				if ends < test.ends-early || ends > test.ends+slack {
					t.Errorf("it ends at %v, want %v", ends, test.ends)
				}
				if test.told > 0 && (told < test.told-early || told > test.told+slack) {
					t.Errorf("the client is told at %v, want %v", told, test.told)
				}
			})
		})
	}
}
