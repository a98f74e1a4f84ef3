package systematic

import (
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/search"
)

// Summary is what was placed and what it showed.
type Summary struct {
	// Moments and Faults are how many there are: every fault at every moment is a placement of a single one.
	Moments int `json:"moments"`
	Faults  int `json:"faults"`
	// Base is what the run shows with nothing placed. That is never a finding of the search.
	Base scenarios.Findings `json:"base"`
	// Placements are those of each fault at each moment.
	Placements Part `json:"placements"`
	// Findings are the ways to break the lock that were found, shrunk.
	Findings search.Findings `json:"findings"`
	// Unshrunk is how many more classes of violations there are, by kind and faults, that there was no room or no time to
	// shrink.
	Unshrunk int `json:"unshrunk"`
	// Failures are the runs that could not be made or judged.
	search.Failures
	// Tally is what the runs reached, including the one with nothing placed.
	reach.Tally
}

// Part is the placements that were made.
type Part struct {
	// Of is how many there are, and Covered how many were run.
	Of      uint64 `json:"of"`
	Covered uint64 `json:"covered"`
	// Stride says which: placement number k·Stride mod Of, for k from 0 to Covered−1. Placements are numbered by the moment
	// and then by the fault.
	Stride uint64 `json:"stride"`
	// Different is how many made a difference to a client or the resource.
	Different uint64 `json:"different"`
	// NotTested is how many of those that were run show nothing.
	NotTested NotTested `json:"not_tested"`
	// Violations is how many violate something within the budget, or what no fault excuses, and Beyond how many others do
	// beyond it.
	Violations uint64 `json:"violations"`
	Beyond     uint64 `json:"beyond"`
}

// NotTested counts the placements that show nothing, each by the first reason that applies.
type NotTested struct {
	// NotInjected: the fault had nothing to take effect on.
	NotInjected uint64 `json:"not_injected"`
	// Idle: too little happened, as without two clients that ask.
	Idle uint64 `json:"idle"`
	// Failed: the run could not be made or judged.
	Failed uint64 `json:"failed"`
}

// Sum is all of them together.
func (n NotTested) Sum() uint64 { return n.NotInjected + n.Idle + n.Failed }

// Tested is how many placements took place and say something about the lock.
func (p *Part) Tested() uint64 { return p.Covered - p.NotTested.Sum() }

// Complete says that nothing was left out.
func (p *Part) Complete() bool { return p.Covered == p.Of }

// String says which placements were run; of those spread evenly, Stride says which.
func (p *Part) String() string {
	switch {
	case p.Complete():
		return fmt.Sprintf("all %d", p.Of)
	case p.Stride == 1:
		return fmt.Sprintf("the first %d of %d", p.Covered, p.Of)
	}
	return fmt.Sprintf("%d of %d, spread evenly", p.Covered, p.Of)
}
