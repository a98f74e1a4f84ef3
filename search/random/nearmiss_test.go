package random

import (
	"slices"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
	"redlocksim/sim/kernel"
)

// What a generation draws comes half from near misses, and asks for the lock when it could be granted too early; a blind
// search draws all of it anew.
func TestCandidatesComeFromNearMisses(t *testing.T) {
	for _, blind := range []bool{false, true} {
		x := &explorer{space: experiment.NewSpace(experiment.DefaultBase()), options: Options{Blind: blind}, checkpoint: &checkpoint{Pool: []NearMiss{
			{Candidate: experiment.Candidate{Seed: 1}, Client: "client-1", Expiry: 2 * time.Second, Free: time.Second},
			{Candidate: experiment.Candidate{Seed: 2}, Client: "client-2", Expiry: 2 * time.Second, Free: 3 * time.Second},
		}}}
		changed, asked := 0, 0
		for _, run := range x.candidates(0, 1000) {
			c := run.Candidate
			if len(c.Mutations) > 0 {
				changed++
			}
			for _, m := range c.Mutations {
				if a := m.Acquire; a != nil {
					asked++
					if c.Seed != 1 || a.Client == "client-1" || a.At < time.Second || a.At >= 2*time.Second {
						t.Errorf("%+v asks %+v", c, a)
					}
				}
			}
		}
		if blind && changed > 0 || !blind && (changed < 400 || changed > 600 || asked < 100) {
			t.Errorf("blind %v: %d of 1000 are changed, %d ask", blind, changed, asked)
		}
	}
}

// TestNearestMisses: kept are runs without a violation, within the budget unless the search goes beyond it, the nearest misses
// first, and few of one seed.
func TestNearestMisses(t *testing.T) {
	near := func(seed uint64, slack time.Duration, also ...func(*trial)) trial {
		t := trial{Candidate: experiment.Candidate{Seed: seed}, Margin: &scenarios.Margin{Expiry: kernel.True(time.Minute), Free: kernel.True(time.Minute + slack)}}
		for _, change := range also {
			change(&t)
		}
		return t
	}
	violated := func(t *trial) { t.Kinds = []checker.Kind{checker.LeaseOverlap} }
	beyond := func(t *trial) { t.Beyond = true }
	trials := []trial{near(1, 5), near(2, 3), near(3, 1, violated), near(4, 2, beyond), {Candidate: experiment.Candidate{Seed: 5}}}
	for i := range maxSiblings {
		trials = append(trials, near(1, time.Duration(10+i)))
	}
	for _, c := range []struct {
		beyond bool
		want   []time.Duration
	}{{false, []time.Duration{3, 5, 10, 11, 12}}, {true, []time.Duration{2, 3, 5, 10, 11, 12}}} {
		x := &explorer{space: experiment.Space{Beyond: c.beyond}, checkpoint: &checkpoint{}}
		var got []time.Duration
		for _, miss := range x.narrowest(trials) {
			got = append(got, miss.Slack())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("beyond the budget %v: kept are the misses by %v, want %v", c.beyond, got, c.want)
		}
		x.Pool = x.narrowest(trials)
		var many []trial
		for seed := range uint64(2 * maxNearMisses) {
			many = append(many, near(100+seed, 4))
		}
		if kept := x.narrowest(many); len(kept) != maxNearMisses || kept[0].Slack() != c.want[0] || kept[maxNearMisses-1].Slack() != 4 {
			t.Errorf("beyond the budget %v: of more than there is room for %v are kept", c.beyond, kept)
		}
	}
}
