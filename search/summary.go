package search

import (
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

// Summary is what a search has done and found so far.
type Summary struct {
	// Runs is how many experiments were run; those run a second time, the canaries and shrinking are not counted.
	Runs int `json:"runs"`
	// Virtual is the true time that they simulated, together.
	Virtual time.Duration `json:"virtual_ns"`
	// Grants is how many locks were granted, together.
	Grants int `json:"grants"`
	// Vacuous is how many runs were without contention, and say nothing.
	Vacuous int `json:"vacuous"`
	// Beyond is how many exceeded the budget, and BeyondViolations how many of them violated something.
	Beyond           int `json:"beyond"`
	BeyondViolations int `json:"beyond_violations"`
	// Violations is how many runs violated something that counts: within the budget, or any if the search goes beyond.
	Violations int `json:"violations"`
	// Orders estimates how many distinct orders of the events that concern the lock were seen (HyperLogLog, ±1 %).
	Orders uint64 `json:"orders"`
	// Narrowest is the narrowest escape; nil if no lease ran out.
	Narrowest *Escape `json:"narrowest,omitempty"`
	// Repeated is how many runs were made again and were the same, and Canaries how often the broken lock was caught.
	Repeated int `json:"repeated"`
	Canaries int `json:"canaries"`
	// Findings are what was found, shrunk, each of them another way to break the lock.
	Findings []Finding `json:"findings"`
	// Unshrunk is how many violations were left aside because too many were waiting to be shrunk.
	Unshrunk int `json:"unshrunk"`
}

// Finding is one way to break the lock: a kind of violation and the families of faults that it takes.
type Finding struct {
	// Kind is the violation, and Families are the faults of the shrunk experiment.
	Kind     checker.Kind `json:"kind"`
	Families []string     `json:"families"`
	// Faults is how many faults it has.
	Faults int `json:"faults"`
	// Beyond says that the faults exceed the budget.
	Beyond bool `json:"beyond"`
	// Run is the number of the run in which it was found first, and Seed its seed.
	Run  int    `json:"run"`
	Seed uint64 `json:"seed"`
	// Times is in how many runs that kind of violation came up with those families of faults present.
	Times int `json:"times"`
	// File is the name of the scenario file in the search's directory.
	File string `json:"file,omitempty"`

	// Scenario is the shrunk experiment; nil after a search was resumed.
	Scenario *scenarios.Scenario `json:"-"`
}

// explains is the number of the first finding, from 1, that a violation may be another instance of, as far as the families
// of faults tell that were there; zero if there is none.
func (s *Summary) explains(kind checker.Kind, families []string) int {
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Kind == kind && !slices.ContainsFunc(f.Families, func(kind string) bool { return !slices.Contains(families, kind) }) {
			return i + 1
		}
	}
	return 0
}

// add counts a run.
func (x *explorer) add(t *trial) {
	s := &x.Summary
	s.Runs++
	s.Virtual += x.space.Duration
	s.Grants += t.grants
	if (s.Runs-1)%repeatEvery == 0 {
		s.Repeated++
	}
	if t.vacuous {
		s.Vacuous++
	}
	if t.beyond {
		s.Beyond++
	}
	switch {
	case x.counts(t):
		s.Violations++
	case len(t.kinds) > 0:
		s.BeyondViolations++
	}
	x.orders.InsertHash(t.order)
	s.Orders = x.orders.Estimate()
	if t.margin != nil && (x.space.Beyond || !t.beyond) {
		if e := t.escape(); s.Narrowest == nil || e.Slack() < s.Narrowest.Slack() {
			s.Narrowest = &e
		}
	}
}
