package scenarios

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
)

// A lock on one Redis whose fencing tokens come from the storage, and whose restart guard only the library knows: the probe
// that confirms what was found unprotected draws a token, too.
func TestTheProbeReachesTheStorage(t *testing.T) {
	found, err := Parse("sequence.yaml", []byte(`
title: a fast node
source: a test
explanation: Node A forgets the lock while client-1 holds it.
claim: holds
clients: [client-1, client-2]
lock: {protocol: one-redis, ttl: 5s, guard: {max-ttl: 5s}, sequence: true}
nodes: {names: [A]}
storage: fenced-writes
timeline:
  - {at: 0s, client: client-1, do: [prepare, sleep: 5s, try-lock, hold: 4s, unlock]}
  - {at: 13s, client: client-2, do: [lock]}
  - {at: 7s, fault: {clock-step: {process: A, by: 5s}}}
duration: 15s
expect: {findings: unprotected, unavailable: {at-most: 30s}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range Tiers() {
		r, err := Judge(found[0], Options{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		isThere := false
		for _, f := range r.Report.Findings {
			isThere = isThere || f.Kind == checker.Unprotected
		}
		if !isThere {
			t.Errorf("tier %s: %v, and nothing to confirm", tier, r.Report.Findings)
		}
	}
}

// A crash for good has no size, and stays as it is beside one that has.
func TestFaultsWithoutASizeStay(t *testing.T) {
	item := func(after *time.Duration) Item {
		return Item{Kind: "crash", Fault: &faults.Crash{Client: "client-1", RestartAfter: after}}
	}
	s := &Scenario{Timeline: []Item{item(new(time.Second)), item(nil)}}
	got := resized(s, "crash", time.Minute).Timeline
	of := func(i int) *time.Duration { return got[i].Fault.(*faults.Crash).RestartAfter }
	if of(0) == nil || *of(0) != time.Minute || of(1) != nil {
		t.Errorf("restarts after %v and %v, want a minute and never", of(0), of(1))
	}
}
