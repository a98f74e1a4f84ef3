package systematic

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

const twoLocks = `
clients: [client-1, client-2]
resources: [invoices, orders]
lock: {protocol: single}
nodes: {names: [A]}
network: {latency: 1ms}
budget: {clock-step: 10s}
duration: 20s
timeline:
  - {at: 0s, client: client-1, do: [try-lock: invoices, hold: 1s, try-lock: orders, hold: 6s, unlock, unlock]}
  - {at: 3s, client: client-2, do: [try-lock: orders, hold: 5s]}
  - {at: 6s, client: client-2, do: [try-lock: invoices, hold: 5s]}
`

// Every event of a run is a moment, told by the resource that it is about: the n-th of those on it is that very event.
func TestMomentsOnSeveralResources(t *testing.T) {
	b := newBase(t, twoLocks, false)
	r := scenariotest.Judged(t, b.scenario, scenarios.Options{})
	on := map[string]int{}
	at := 0
	for _, m := range b.moments {
		if m.After == nil {
			continue
		}
		for at < len(r.History) && faults.EventName(&r.History[at]) == "" {
			at++
		}
		e := &r.History[at]
		at++
		left := max(m.After.Nth, 1)
		i := slices.IndexFunc(r.History, func(e history.Event) bool {
			if m.After.Matches(&e) {
				left--
			}
			return left == 0
		})
		if i < 0 || r.History[i].Seq != e.Seq {
			t.Errorf("%v is event %d, not %d, which is %v", m, i+1, e.Seq, e)
		}
		if m.After.Resource != e.Resource {
			t.Errorf("%v is on %q", m, e.Resource)
		}
		on[m.After.Resource]++
	}
	if on["invoices"] < 4 || on["orders"] < 4 {
		t.Errorf("%v", on)
	}
}

// A clock step right after the grant of a resource breaks the lock on it, whichever it is: what was placed at the one is
// found, and at the other.
func TestPlacementsAroundEachResourcesGrants(t *testing.T) {
	b := newBase(t, twoLocks, false)
	b.faults = slices.DeleteFunc(b.faults, func(f scenarios.Item) bool {
		s, ok := f.Fault.(*faults.ClockStep)
		return !ok || s.Process != "A" || s.By < 0
	})
	if len(b.faults) != 1 {
		t.Fatalf("%d faults", len(b.faults))
	}
	broken := map[string]bool{}
	for i, m := range b.moments {
		if m.After == nil || m.After.Event != "acquire-done" || m.After.Client != "client-1" {
			continue
		}
		r := scenariotest.Judged(t, b.place(uint64(i)), scenarios.Options{})
		for _, f := range r.Report.Findings {
			if f.Kind == checker.LeaseOverlap {
				broken[m.After.Resource+": "+f.Resource] = true
			}
		}
	}
	// The step at the grant of the invoices comes before that of the orders.
	for _, want := range []string{"invoices: invoices", "orders: invoices", "orders: orders"} {
		if !broken[want] {
			t.Errorf("no %q in %v", want, broken)
		}
	}
	if broken["invoices: orders"] {
		t.Error("the orders are broken by a step before their grant")
	}
	s, err := Explore(t.Context(), b, Options{})
	var kinds []checker.Kind
	for _, f := range s.Findings {
		kinds = append(kinds, f.Kind)
	}
	// Where nobody else comes by, the lock is only unprotected.
	if err != nil || !slices.Equal(kinds, []checker.Kind{checker.LeaseOverlap, checker.Unprotected}) || s.Placements.Violations == 0 {
		t.Errorf("%v, %v, %+v", err, kinds, s.Placements)
	}
}

// What differs in the resource alone is another run.
func TestDigestTellsResourcesApart(t *testing.T) {
	run := func(text string) (history.History, error) {
		r, err := verdict.Judge(scenariotest.Given(t, text), scenarios.Options{})
		if err != nil {
			return nil, err
		}
		return r.History, nil
	}
	a, err := run(twoLocks)
	if err != nil {
		t.Fatal(err)
	}
	b, err := run(strings.Replace(twoLocks, "client-2, do: [try-lock: orders", "client-2, do: [try-lock: invoices", 1))
	if err != nil {
		t.Fatal(err)
	}
	same := slices.Clone(b)
	for i := range same {
		if same[i].Process == "client-2" && same[i].Resource == "invoices" && same[i].Time < 6e9 {
			same[i].Resource = "orders"
		}
	}
	if fingerprint(a) != fingerprint(same) || fingerprint(a) == fingerprint(b) {
		t.Error("the fingerprint does not tell the resources apart")
	}
}
