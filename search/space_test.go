package search

import (
	"slices"
	"testing"

	"redlocksim/scenarios"
)

// Whatever the lock is, every experiment that is drawn about it, and every change of it, is a scenario that a file can say.
func TestDrawForEveryLock(t *testing.T) {
	protocols := map[string]bool{}
	for _, s := range scenarios.Catalogue() {
		space := NewSpace(s.Settings())
		space.Beyond = true
		for seed := range uint64(12) {
			c := Candidate{Seed: seed}
			for i := range seed {
				c = c.then(Change{Seed: seed + i})
			}
			x := c.Scenario(space)
			data, err := x.Encode()
			if err == nil {
				_, err = scenarios.Parse("x.yaml", data)
			}
			if err != nil {
				t.Errorf("%s, seed %d: %v", s.Name, seed, err)
			}
		}
		protocols[string(s.Lock.Protocol)] = true
	}
	if len(protocols) < 10 {
		t.Errorf("only of %v", protocols)
	}
}

// Nodes with a restart guard are prepared, and stay so when a client is given other work.
func TestAGuardIsPrepared(t *testing.T) {
	base, err := scenarios.ParseSettings("guard.yaml", []byte("lock: {ttl: 10s, guard: {max-ttl: 60s}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	space := NewSpace(base)
	calm := 0
	for seed := range uint64(40) {
		c := Candidate{Seed: seed}
		for i := range seed % 8 {
			c = c.then(Change{Seed: 100*seed + i})
		}
		x := c.Scenario(space)
		x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool { return i.Fault != nil })
		r, err := scenarios.Judge(x, scenarios.Options{Seed: seed})
		if err != nil {
			t.Fatal(err)
		}
		if r.Report.Grants > 0 {
			calm++
		}
	}
	if calm != 40 {
		t.Errorf("somebody is granted the lock in %d of 40 runs without a fault", calm)
	}
}
