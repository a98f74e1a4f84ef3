package verdict_test

import (
	"strings"
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// The lock of lateWrite.
const (
	plain   = "protocol: redlock-plain, ttl: 2s"
	noDrift = ", drift: {factor: 0%, constant: 0s}"
)

const lateWrite = `
clients: [client-1, client-2]
lock: {` + plain + noDrift + `}
network: {latency: 0s}
timeline:
  - {at: 0s, client: client-1, do: [try-lock, linger, write, sleep: 5s]}
  - {after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: PAUSE}}}
  - {after: {event: nodes-free, client: client-1, nth: 3}, client: client-2, do: [try-lock, write]}
duration: 1m
expect:
  findings: FINDINGS
  unavailable: {at-most: 1m}
  reached:
    - REACHED
`

func judged(t *testing.T, tier scenarios.Tier, pairs ...string) *verdict.Result {
	t.Helper()
	s := scenariotest.Given(t, strings.NewReplacer(pairs...).Replace(lateWrite))
	r := scenariotest.Judged(t, s, scenarios.Options{Tier: tier})
	return r
}

// What a run must have reached is looked for in its history, and a run that has not reached it is not tested.
func TestReached(t *testing.T) {
	for _, c := range []struct {
		reached string
		want    bool
	}{
		{"{event: acquire-done, client: client-2}", true},
		{"{event: acquire-done, nth: 2}", true},
		{"{event: acquire-done, nth: 3}", false},
		{"{event: checked, client: client-1, believing: client-1}", true},
		{"{event: acquire-called, client: client-2, believing: client-1}", false},
		{"{event: write-called, client: client-1, past: client-1}", true},
		{"{event: write-called, client: client-2, past: client-2}", false},
		{"{event: pause, after: {event: checked, client: client-1}, before: {event: write-called, client: client-1}}", true},
		{"{event: pause, after: {event: write-called, client: client-1}}", false},
		{"{event: pause, before: {event: checked, client: client-1}}", false},
		{"{event: pause, before: {event: release-called}}", false},
		{"{event: crash}", false},
	} {
		for _, tier := range scenarios.Tiers() {
			r := judged(t, tier, "PAUSE", "3s", "FINDINGS", "stale-write", "REACHED", c.reached)
			if got := r.NotTested == nil; got != c.want || c.want == r.Has(verdict.NotTested) || r.Findings.String() != "stale-write" {
				t.Errorf("%s on %s: reached %t, %v, verdict %s", c.reached, tier, got, r.Problems, r.Verdict())
			}
		}
	}
}

// A run that was not tested is not evidence for safe, and what it shows all the same still counts.
func TestNotTested(t *testing.T) {
	inTime := []string{"PAUSE", "1ns", "ttl: 2s", "ttl: 2s, guard-time: 1ms", "REACHED", "{event: crash}"}
	r := judged(t, scenarios.Model, append(inTime, "FINDINGS", "safe")...)
	if r.Verdict() != "not tested" || r.Has(verdict.Safety) || !r.Has(verdict.NotTested) {
		t.Errorf("%s: %v", r.Verdict(), r.Problems)
	}
	r = judged(t, scenarios.Model, "PAUSE", "3s", "FINDINGS", "safe", "REACHED", "{event: crash}")
	if r.Verdict() != "not tested, stale-write" || !r.Has(verdict.Safety) {
		t.Errorf("%s: %v", r.Verdict(), r.Problems)
	}
	// A violation that was to be seen is not missed where nothing was tested.
	r = judged(t, scenarios.Model, append(inTime, "FINDINGS", "stale-write")...)
	if r.Has(verdict.Safety) {
		t.Errorf("%v", r.Problems)
	}
}

// The client lingers up to the last nanosecond of its guard time, whatever its clock and protocol, and looks at its lease
// then; one nanosecond later it would have stopped.
func TestLinger(t *testing.T) {
	for _, lock := range []string{
		"protocol: redlock-plain, ttl: 2s", "protocol: redlock-plain, ttl: 2s, clock: wall", "protocol: redlock, ttl: 2s", "preset: redsync, ttl: 2s",
		"protocol: redlock, ttl: 30s", "protocol: redlock, ttl: 30s, guard-time: 4s", "protocol: redlock-plain, ttl: 2s, guard-time: 700ms", "protocol: single, ttl: 2s",
	} {
		settings := lock
		if !strings.Contains(lock, "single") {
			settings += noDrift
		}
		for _, latency := range []string{"0s", "{min: 1ms, max: 5ms}"} {
			r := judged(t, scenarios.Model, plain+noDrift, settings, "latency: 0s", "latency: "+latency, "PAUSE", "1ns", "FINDINGS", "safe", "nth: 3", "nth: 1",
				"REACHED", "{event: checked, client: client-1}")
			if len(r.NotTested) > 0 {
				t.Fatalf("%s: %v", lock, r.NotTested)
			}
			for i := range r.History {
				e := &r.History[i]
				if e.Process != "client-1" || faults.EventName(e) != faults.Checked {
					continue
				}
				guard := r.Scenario.Lock.GuardTime
				until := guard + 1
				if p := r.Scenario.Lock.Protocol; p == "redlock" {
					until = max(until, min(r.Scenario.Lock.TTL/20, 1e9)+1)
				}
				if int64(until) != e.Span {
					t.Errorf("%s, %s: looked with %v left, want %v", lock, latency, e.Span, until)
				}
			}
		}
	}
}

// A budget describes the world: it changes nothing about what clients do. What they do about pauses is their guard time.
func TestBudgetChangesNoClient(t *testing.T) {
	with := judged(t, scenarios.Model, "PAUSE", "3s", "FINDINGS", "stale-write", "REACHED", "{event: pause}", "duration:", "budget: {pause: 3s, suspend: 1s, delay: 1s, clock-rate: 1%}\nduration:")
	without := judged(t, scenarios.Model, "PAUSE", "3s", "FINDINGS", "stale-write", "REACHED", "{event: pause}")
	if with.HistoryHash != without.HistoryHash || with.Findings.String() != "stale-write" {
		t.Errorf("%v with a budget, %v without: %s", with.Findings, without.Findings, verdict.FirstDifference(with.History, without.History))
	}
	// Paused for 1.5 s with 1.5 s in reserve it writes in time; with 2 ms less, after the next holder: the keys live for a
	// millisecond more than their TTL.
	for guard, want := range map[string]string{"1500ms": "safe", "1498ms": "stale-write"} {
		r := judged(t, scenarios.Model, "PAUSE", "1500ms", "FINDINGS", want, "REACHED", "{event: write-effect, nth: 2}", "ttl: 2s", "ttl: 2s, guard-time: "+guard)
		if !r.OK() || r.Verdict() != want {
			t.Errorf("guard time %s: %s, %v", guard, r.Verdict(), r.Problems)
		}
	}
}

// nodes-free is the first moment at which so many nodes have let go, whatever happens to their clocks meanwhile; both tiers
// have it at the same time.
func TestNodesFree(t *testing.T) {
	at := func(tier scenarios.Tier, more string) int64 {
		r := judged(t, tier, "PAUSE", "1ns", "FINDINGS", "safe", "REACHED", "{event: acquire-called, client: client-2}",
			"{at: 0s, client: client-1", more+"{at: 1999us, client: client-1")
		if r.NotTested != nil {
			t.Fatalf("%s: %v", more, r.NotTested)
		}
		for i := range r.History {
			if e := &r.History[i]; e.Process == "client-2" && e.Kind == history.Call {
				return e.Time
			}
		}
		return 0
	}
	for more, want := range map[string]int64{
		// A key that is set within the millisecond lives until the clock reads the millisecond after its last.
		"": 2_002_000_000,
		// A clock that is fast by a half reads 2002 ms after 1334.67.
		"{at: 0s, fault: {clock-rate: {process: A, rate: 50%}}}\n  - {at: 0s, fault: {clock-rate: {process: B, rate: 50%}}}\n  - {at: 0s, fault: {clock-rate: {process: C, rate: 50%}}}\n  - ":       1_335_333_334,
		"{at: 1s, fault: {clock-step: {process: A, by: 10s}}}\n  - {at: 1s, fault: {clock-step: {process: B, by: 10s}}}\n  - {at: 1500ms, fault: {clock-step: {process: C, by: 10s}}}\n  - ":         1_500_000_000,
		"{at: 1s, fault: {kill: {node: A, restart-after: 100ms}}}\n  - {at: 1s, fault: {kill: {node: B, restart-after: 200ms}}}\n  - {at: 1s, fault: {kill: {node: C, restart-after: 300ms}}}\n  - ": 1_300_000_000,
	} {
		for _, tier := range scenarios.Tiers() {
			if got := at(tier, more); got != want {
				t.Errorf("%s on %s: at %d ns, want %d", more, tier, got, want)
			}
		}
	}
}
