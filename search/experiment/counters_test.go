package experiment

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/sim/history"
)

// lostCounters is what a search found: of the three nodes two lose their fencing counters, and the token 1 is granted twice.
const lostCounters = `
title: token-repeated after shutdown
source: a search
explanation: two of three nodes lose their counters
claim: holds
lock: {ttl: 2s, fencing: true}
nodes: {names: [A, B, C]}
clients: [client-1, client-2]
network: {latency: 0s}
storage: fenced
budget: {restart-delay: 2s, counter-loss: COUNT}
timeline:
  - {at: 5s, client: client-1, do: [lock]}
  - {at: 0s, client: client-2, do: [lock, read, write-back]}
  - {after: {event: write-effect}, fault: {shutdown: {node: A, restart-after: 5s}}}
  - {after: {event: write-effect}, fault: {shutdown: {node: C, restart-after: 5s}}}
duration: 5s
expect: {findings: token-repeated, unavailable: {at-most: 1s}}
`

// Lost fencing counters exceed a budget that does not allow for them, whatever the restart delay, and no other.
func TestLostCountersExceedTheBudget(t *testing.T) {
	for count, want := range map[string]string{"0": "A, C lost fencing counters, the budget allows that to no node", "1": "A, C lost fencing counters, the budget allows that to one node", "2": ""} {
		read, err := scenarios.Parse("lost.yaml", []byte(strings.Replace(lostCounters, "COUNT", count, 1)))
		if err != nil {
			t.Fatal(err)
		}
		r := scenariotest.Judged(t, read[0], scenarios.Options{Seed: 1})
		if got := strings.Join(r.Beyond, "; "); got != want || !slices.Contains(r.Report.Shows(checker.Kind.Defect), checker.TokenRepeated) {
			t.Errorf("counter-loss %s: %v, beyond the budget by %q, want %q", count, r.Findings, got, want)
		}
	}
}

// fenced are settings with fencing counters that a restart loses.
func fenced(t *testing.T, counterLoss int) Space {
	t.Helper()
	base := DefaultBase()
	base.Budget.CounterLoss = counterLoss
	protocols.Change(&base.Lock, func(own *protocols.RedlockSettings) { own.Fencing = true })
	base.Nodes.Names = base.Nodes.Names[:3]
	s := NewSpace(base)
	s.Strays = false
	return s
}

// Within a budget that allows for no lost counter hardly a run is wasted on losing one; with it they are lost.
func TestDrawsKeepToTheCounters(t *testing.T) {
	lost := func(counterLoss int) (n int) {
		s := fenced(t, counterLoss)
		for i := range 150 {
			x := Candidate{Seed: uint64(i)}.Scenario(s)
			r := scenariotest.Judged(t, x, scenarios.Options{Seed: uint64(i), Unhashed: true})
			if strings.Contains(strings.Join(r.Beyond, "; "), "counters") {
				t.Errorf("run %d with counter-loss %d exceeds it: %v", i, counterLoss, r.Beyond)
			}
			if slices.ContainsFunc(r.History, func(e history.Event) bool { return e.Name == "restart" }) {
				n++
			}
		}
		return n
	}
	if none, any := lost(0), lost(3); none > 0 || any == 0 {
		t.Errorf("nodes come back in %d runs without an allowance and in %d with one", none, any)
	}
}

// Counters are drawn that are ahead while no quorum is left without them, and clients are granted the lock all the same, with
// tokens that follow them.
func TestCountersAheadOfTheOthers(t *testing.T) {
	s := fenced(t, 0)
	alone, followed := 0, 0
	for seed := range uint64(120) {
		x := Candidate{Seed: seed}.Scenario(s)
		isAlone := slices.ContainsFunc(x.Timeline, func(i scenarios.Item) bool {
			cut, is := i.Fault.(*faults.Partition)
			return is && len(cut.Nodes) == 1 && slices.ContainsFunc(x.Timeline, func(o scenarios.Item) bool { return o.Kind == "set-counters" && o.When.At == i.When.At })
		})
		if !isAlone {
			continue
		}
		alone++
		out, err := scenarios.Run(x, scenarios.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(out.History, func(e history.Event) bool { return e.Func == history.Acquire && e.Token > 1<<11 }) {
			followed++
		}
	}
	if alone < 20 || followed < 5 {
		t.Errorf("in %d of 120 runs counters are ahead while another node is cut off; in %d of these a token follows them", alone, followed)
	}
}
