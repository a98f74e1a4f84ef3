package random

import (
	"time"

	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/settings"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// trial is what one run of a candidate showed. Its fields are those of a job's result; see jobs.
type trial struct {
	search.Trial
	Candidate experiment.Candidate
	// Settings are those that were drawn for a violation.
	Settings []string
	Grants   int
	// Fingerprint is that of the order of its events.
	Fingerprint uint64
	History     string // its hash, of a violation
	Margin      *scenarios.Margin
	States      []scenarios.State
	Wordings    []redis.Wording

	failed bool // there is nothing else
}

func (t *trial) nearMiss() NearMiss {
	return NearMiss{t.Candidate, t.Margin.Client, time.Duration(t.Margin.Expiry), time.Duration(t.Margin.Free)}
}

// isRefined says whether the run with a seed is compared with the specification of Redlock: one of three, as that costs half as
// much as all else that watches it. A violation is shrunk as it was found, and the file is verified with all.
func isRefined(seed uint64) bool { return kernel.Key(0).WithString("refinement").With(seed)%3 == 0 }

// perform runs a candidate. The history is recorded in the buffer: the result's is good until the next run with that.
func perform(space experiment.Space, c experiment.Candidate, buffer *history.History) (search.Trial, *scenarios.Result, error) {
	o := measured(space, c.Seed)
	o.Unrefined = !isRefined(c.Seed)
	return search.Try(c.Scenario(space), o, buffer)
}

// measured are the options of a run that measures what guides the search. Of somebody's lock nothing does.
func measured(space experiment.Space, seed uint64) scenarios.Options {
	own := space.Foreign == nil
	return scenarios.Options{Seed: seed, Foreign: space.Foreign, Margins: own, States: own}
}

// try runs a candidate, and keeps nothing that is in the buffer.
func try(space experiment.Space, c experiment.Candidate, buffer *history.History) (trial, error) {
	found, r, err := perform(space, c, buffer)
	if err != nil {
		return trial{}, err
	}
	t := trial{Trial: found, Candidate: c, Grants: r.Report.Grants, Fingerprint: fingerprint(r.History), Margin: r.Margin, States: r.States, Wordings: r.Wordings}
	if len(t.Kinds) > 0 {
		t.History = history.Hash(r.History)
		if space.Swarm {
			t.Settings = settings.Changed(r.Scenario, space.Base)
		}
	}
	return t, nil
}

// fingerprint stands for the order of lock and resource events, whatever their times. How many orders a search saw says more
// about its coverage than how many runs it made.
func fingerprint(h history.History) uint64 {
	var k kernel.Key
	for i := range h {
		if e := &h[i]; e.Kind != history.Step {
			k = k.WithString(string(e.Kind)).WithString(e.Process).WithString(string(e.Func)).WithString(string(e.Outcome)).WithString(e.Name).WithString(e.Node)
		}
	}
	return uint64(k)
}
