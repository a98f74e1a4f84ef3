package scenarios_test

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// The margin on a schedule that can be computed by hand: no latency, exact clocks, TTL 10 s, drift allowance 102 ms. The
// holder's belief is over after 9.898 s, and the nodes' keys when their clocks read more than 10 s: 10.001 s. A clock that
// jumps by 5 s on three nodes frees a quorum at 5.001 s.
func TestMarginByHand(t *testing.T) {
	for faults, want := range map[string]time.Duration{
		"": 103 * time.Millisecond,
		// Two nodes more or less free are no quorum.
		"  - {at: 1s, fault: {clock-step: {process: A, by: 5s}}}\n  - {at: 1s, fault: {clock-step: {process: B, by: 5s}}}\n": 103 * time.Millisecond,
		"  - {at: 1s, fault: {clock-step: {process: A, by: 5s}}}\n  - {at: 1s, fault: {clock-step: {process: B, by: 5s}}}\n" +
			"  - {at: 1s, fault: {clock-step: {process: C, by: 5s}}}\n": 5001*time.Millisecond - 9898*time.Millisecond,
		// Nodes that are down cannot vote, those that came back empty can.
		"  - {at: 2s, fault: {kill: {node: A, restart-after: 1s}}}\n  - {at: 2s, fault: {kill: {node: B, restart-after: 1s}}}\n" +
			"  - {at: 2s, fault: {kill: {node: C, restart-after: 2s}}}\n": 4*time.Second - 9898*time.Millisecond,
		"  - {at: 2s, fault: {kill: {node: A, restart-after: 1s}}}\n  - {at: 2s, fault: {kill: {node: B, restart-after: 1s}}}\n" +
			"  - {at: 2s, fault: {kill: {node: C}}}\n": 103 * time.Millisecond,
	} {
		out := withMargins(t, "", "lock, {sleep: 20s}", faults)
		if out.Margin == nil || out.Margin.Slack() != want {
			t.Errorf("%s: %+v, want %v", faults, out.Margin, want)
		}
	}
}

// With the guard, nodes that came back empty do not vote while the lease lasts: three of them leave no quorum to be early.
func TestMarginWithAGuard(t *testing.T) {
	kill := func(node string) string {
		return "  - {at: 2s, fault: {kill: {node: " + node + ", restart-after: 1s}}}\n"
	}
	for faults, scored := range map[string]bool{kill("A") + kill("B"): true, kill("A") + kill("B") + kill("C"): false} {
		out := withMargins(t, "lock: {guard: {max-ttl: 10s}}", "prepare, lock, {sleep: 20s}", faults)
		if (out.Margin != nil) != scored || scored && out.Margin.Slack() != 103*time.Millisecond || grantsIn(out) != 1 {
			t.Errorf("%s: %+v, %d grants", faults, out.Margin, grantsIn(out))
		}
	}
}

// withMargins runs one client that takes steps, among faults.
func withMargins(t *testing.T, settings, steps, faults string) *scenarios.Outcome {
	t.Helper()
	all, err := scenarios.Parse("x.yaml", []byte(`
title: t
source: s
explanation: e
claim: holds
clients: [a]
network: {latency: 0s}
`+settings+`
timeline:
  - {at: 0s, client: a, do: [`+steps+`]}
`+faults+`expect: {findings: safe, unavailable: {at-most: 1m}}
`))
	if err != nil {
		t.Fatal(err)
	}
	out, err := scenarios.Run(all[0], scenarios.Options{Margins: true})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// grantsIn is how many acquires of a run succeeded.
func grantsIn(out *scenarios.Outcome) (n int) {
	for i := range out.History {
		if e := &out.History[i]; e.Kind == history.Return && e.Func == history.Acquire && e.Outcome == history.OK {
			n++
		}
	}
	return n
}

// A search keeps the margins of thousands of runs, and must not keep their worlds.
func TestAMarginKeepsNoWorld(t *testing.T) {
	s := scenarios.Default()
	s.Clients, s.Duration = []string{"client-1"}, 30*time.Second
	s.Timeline = []scenarios.Item{{Client: "client-1", Do: []scenarios.Step{{Kind: scenarios.TryLockStep}}}}
	type witness struct{ steps int }
	run := func() (*scenarios.Margin, weak.Pointer[witness]) {
		ofWorld := new(witness) // which the world's kernel knows, and nobody else
		out, err := scenarios.Run(&s, scenarios.Options{Margins: true, Trace: func(kernel.TraceStep) { ofWorld.steps++ }})
		if err != nil || out.Margin == nil || ofWorld.steps == 0 {
			t.Fatalf("%+v after %d steps: %v", out, ofWorld.steps, err)
		}
		return out.Margin, weak.Make(ofWorld)
	}
	margin, ofWorld := run()
	for range 3 { // what lies ready for the next run outlasts two
		runtime.GC()
	}
	if ofWorld.Value() != nil {
		t.Error("the world of the run is still there")
	}
	runtime.KeepAlive(margin)
}
