package search

import (
	"time"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/sim"
)

// trial is what one run of a candidate showed.
type trial struct {
	candidate Candidate
	kinds     []checker.Kind // of violations
	beyond    bool           // the faults exceeded the budget
	notTested bool
	run       *reach.Run
	reached   reach.Set
	families  []string
	grants    int
	order     uint64 // of the events that matter
	history   string // its hash, of a violation
	margin    *scenarios.Margin
}

func (t *trial) escape() Escape {
	return Escape{t.candidate, t.margin.Client, time.Duration(t.margin.Expiry), time.Duration(t.margin.Free)}
}

// try runs a candidate. The history is recorded in the buffer.
func (s Space) try(c Candidate, buffer *history.History) (trial, error) {
	x := c.Scenario(s)
	r, err := scenarios.Judge(x, scenarios.Options{Seed: c.Seed, Margins: true, Unhashed: true, Buffer: *buffer})
	if err != nil {
		return trial{}, err
	}
	*buffer = r.History
	t := trial{candidate: c, beyond: r.Beyond != nil, families: Families(x), grants: r.Report.Grants, order: order(r.History), margin: r.Margin,
		kinds: Violations(r), notTested: r.Report.NotTested() != ""}
	run := r.Reached()
	t.reached = reach.Of(run)
	t.run = &reach.Run{Placed: run.Placed, Injected: run.Injected, Awaited: run.Awaited, Fired: run.Fired} // the history's memory is used again
	if len(t.kinds) > 0 {
		t.history = history.Hash(r.History)
	}
	return t, nil
}

// order stands for the order in which what concerns the lock and the resource happened, whatever the times: how much of
// the behaviours there are a search has seen is how many orders, not how many runs.
func order(h history.History) uint64 {
	var k sim.Key
	for i := range h {
		if e := &h[i]; e.Kind != history.Step {
			k = k.WithString(string(e.Kind)).WithString(e.Process).WithString(string(e.Func)).WithString(string(e.Outcome)).WithString(e.Name).WithString(e.Node)
		}
	}
	return uint64(k)
}
