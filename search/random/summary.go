package random

import (
	"slices"
	"time"

	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/search"
)

// Summary is what a search has done and found so far.
type Summary struct {
	// Runs is how many experiments were run; those run a second time, the canaries and shrinking are not counted.
	Runs int `json:"runs"`
	// Virtual is the true time that they simulated, together.
	Virtual time.Duration `json:"virtual_ns"`
	// Grants is how many locks were granted, together.
	Grants int `json:"grants"`
	// NotTested is how many runs were without contention, and say nothing.
	NotTested int `json:"not_tested"`
	// Beyond is how many exceeded the budget, and BeyondViolations how many of them violated something.
	Beyond           int `json:"beyond"`
	BeyondViolations int `json:"beyond_violations"`
	// Violations is how many runs violated something that counts: within the budget, or any if the search goes beyond.
	Violations int `json:"violations"`
	// Orders estimates how many distinct orders of the events that concern the lock were seen (HyperLogLog, ±1 %).
	Orders uint64 `json:"orders"`
	// Narrowest is the nearest miss; nil if no lease ran out.
	Narrowest *NearMiss `json:"narrowest,omitempty"`
	// Repeated is how many runs were made again and were the same, and Canaries how often the broken lock was caught.
	Repeated int `json:"repeated"`
	Canaries int `json:"canaries"`
	// Tally is what the runs reached.
	reach.Tally
	// Findings are what was found, shrunk, each of them another way to break the lock.
	Findings search.Findings `json:"findings"`
	// Unshrunk is how many violations were left aside because too many were waiting to be shrunk.
	Unshrunk int `json:"unshrunk"`
	// Unfinished is how many runs violated something that counts in a generation that was not finished. None of its runs is
	// counted above. The violations that no finding explains are in the directory, as search.RawPattern; a search that is resumed
	// comes upon all of them again.
	Unfinished int `json:"unfinished,omitempty"`
}

// clone is a copy that does not change with the summary.
func (s *Summary) clone() Summary {
	c := *s
	c.Findings, c.Tally = slices.Clone(c.Findings), c.Tally.Clone()
	return c
}

// add counts a run, but does not estimate the orders anew, which takes a while.
func (x *explorer) add(t *trial) {
	s := &x.Summary
	s.Runs++
	s.Virtual += x.space.Duration
	s.Grants += t.grants
	if (s.Runs-1)%repeatEvery == 0 {
		s.Repeated++
	}
	if t.NotTested {
		s.NotTested++
	}
	if t.Beyond {
		s.Beyond++
	}
	switch {
	case x.counts(t):
		s.Violations++
	case len(t.Kinds) > 0:
		s.BeyondViolations++
	}
	s.Tally.Add(t.Reached, t.Run)
	x.orders.InsertHash(t.order)
	if t.margin != nil && (x.space.Beyond || !t.Beyond) {
		if e := t.nearMiss(); s.Narrowest == nil || e.Slack() < s.Narrowest.Slack() {
			s.Narrowest = &e
		}
	}
}

// effects looks among some runs for those that kinds of faults made a difference to, for the kinds of which none is known yet.
func (x *explorer) effects(trials []trial) error {
	var first search.Effects
	for i := range trials {
		t := &trials[i]
		first.Add(search.Injected{Number: i, Scenario: func() *scenarios.Scenario { return t.candidate.Scenario(x.space) }, Seed: t.candidate.Seed}, t.Run.Injected)
	}
	return first.Tell(&x.Summary.Tally)
}
