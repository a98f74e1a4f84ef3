package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"redlocksim/internal/jobs"
	"redlocksim/internal/rounded"
	"redlocksim/internal/shell"
	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
)

// Each run of the table in the simulator is a job, and what the table says of it is the same wherever it is made.

// tableRuns is what the runs of a lock with its settings share.
type tableRuns struct {
	lock    *scenarios.Foreign
	command string // after --lock
}

// packedRuns is that on its way to a worker.
type packedRuns struct {
	Lock    *scenarios.Module
	Command string
}

// tableRun is what the table says of a run.
type tableRun struct {
	locktable.Cell                 // without where it is in the table, and why it has its grades
	NoVerdict      string          // why there is none
	Failed         *search.Failure // if the run did
}

var tableJobs = jobs.Kind[*tableRuns, struct{}, string, *tableRun]{
	Name:  "table-run",
	Title: func(name string) string { return name },
	Do:    func(_ context.Context, x *tableRuns, _ *struct{}, name string) (*tableRun, error) { return x.run(name) },
	Pack: func(x *tableRuns) ([]byte, error) {
		lock, err := x.lock.Portable()
		if err != nil {
			return nil, err
		}
		return json.Marshal(packedRuns{lock, x.command})
	},
	Files: func(x *tableRuns) []jobs.File { return x.lock.Files() },
	Check: func(_ *tableRuns, _ string, run *tableRun) error {
		if run == nil {
			return errors.New("no run")
		}
		if run.Failed != nil {
			return run.Failed.Check()
		}
		return nil
	},
}

// servedTable is the kind of job as a worker does it.
func servedTable(load scenarios.Loader) jobs.Served {
	k := tableJobs
	k.Unpack = func(ctx context.Context, data []byte, fetch jobs.Fetch) (*tableRuns, error) {
		var p packedRuns
		if err := json.Unmarshal(data, &p); err != nil {
			return nil, err
		}
		if p.Lock == nil {
			return nil, errors.New("no lock program")
		}
		lock, err := load(ctx, p.Lock, fetch)
		return &tableRuns{lock, p.Command}, err
	}
	return k
}

// run runs the scenario with a name.
func (x *tableRuns) run(name string) (*tableRun, error) {
	s, ok := scenarios.Find(name)
	if !ok {
		return nil, fmt.Errorf("there is no scenario %s", name)
	}
	o := scenarios.Options{Tier: scenarios.Program, Foreign: x.lock, Seed: s.Seed(nil)}
	r, err := verdict.Verify(s, o)
	if err != nil {
		r = verdict.FailedRun(s, o, err)
	}
	return x.tell(r), nil
}

// tell is what the table says of a run on any tier. One of which nothing can be told has failed.
func (x *tableRuns) tell(r *verdict.Result) (run *tableRun) {
	tell := func() error { run = x.tells(r); return nil }
	if err := search.Safely(tell); err != nil {
		r = verdict.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed, Foreign: x.lock}, err)
		run = x.tells(r)
	}
	return run
}

func (x *tableRuns) tells(r *verdict.Result) *tableRun {
	run := &tableRun{NoVerdict: strings.Join(r.NotTested, "; ")}
	run.Verdict, run.Says, run.Word, run.Grade = rounded.Text(r.Verdict()), r.Says(), r.Worst(), r.Grades()
	run.Repeat = strings.Replace(repeatCommand(r.Scenario.Name, false, r), " --tier live", "", 1) + " --lock " + shell.Quote(x.command)
	if r.Tier != scenarios.Live { // where each run is another
		run.HistoryHash = r.HistoryHash
	}
	if r.Err != nil {
		f := search.NewFailure(nil, r.Seed, 0, r.Err)
		f.Command, run.Failed, run.Grade = run.Repeat, &f, []verdict.Grade{}
	}
	if r.Lost() {
		run.NoVerdict = r.Problems[0].Text
	}
	return run
}
