package random

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"redlocksim/history"
	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
	"redlocksim/sim/guest"
	"redlocksim/sim/kernel"
)

// A generation is made in steps, each of them jobs that do not depend on each other: runs, those that are made again,
// violations that may be known, and those that are shrunk. They are the same wherever they are done.

// Jobs are the kinds of jobs that a search gives to workers, which load lock programs with load.
func Jobs(load scenarios.Loader) []jobs.Served {
	return []jobs.Served{served(trialJobs, load), served(againJobs, load), served(reduceJobs, load), served(shrinkJobs, load)}
}

// question is what all jobs of a step share.
type question struct {
	space      experiment.Space
	findings   search.Findings // so far
	shrinkRuns int
	onWire     func(*scenarios.Result) error
}

// asked is a question on its way to a worker.
type asked struct {
	Name, Base            string // of settings, and as their file
	Swarm, Beyond, Strays bool
	Apart, Own            bool
	Clients               int
	Duration              time.Duration
	Lock                  *scenarios.Module // nil if it is that of the settings
	Findings              search.Findings
	ShrinkRuns            int
}

func (q *question) pack() ([]byte, error) {
	lock, err := q.space.Foreign.Portable()
	if err != nil {
		return nil, err
	}
	base, err := q.space.Base.EncodeSettings()
	if err != nil {
		return nil, err
	}
	s := &q.space
	return json.Marshal(asked{s.Base.Name, string(base), s.Swarm, s.Beyond, s.Strays, s.Apart, s.Own, s.Clients, s.Duration, lock, q.findings, q.shrinkRuns})
}

func unpack(ctx context.Context, data []byte, fetch jobs.Fetch, load scenarios.Loader) (*question, error) {
	var a asked
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	var lock *scenarios.Foreign
	if a.Lock != nil {
		var err error
		if lock, err = load(ctx, a.Lock, fetch); err != nil {
			return nil, err
		}
	}
	base, err := scenarios.ParseSettings(a.Name+".yaml", []byte(a.Base))
	if err != nil {
		return nil, err
	}
	return &question{
		space: experiment.Space{Base: base, Swarm: a.Swarm, Beyond: a.Beyond, Strays: a.Strays, Apart: a.Apart, Own: a.Own,
			Clients: a.Clients, Duration: a.Duration, Foreign: lock},
		findings: a.Findings, shrinkRuns: a.ShrinkRuns, onWire: onWire,
	}, nil
}

// kindOf is a kind of job of a search.
func kindOf[I, O any](name string, do func(ctx context.Context, q *question, buffer *history.History, in I) (O, error)) jobs.Kind[*question, history.History, I, O] {
	return jobs.Kind[*question, history.History, I, O]{Name: "search-" + name, Do: do, Pack: (*question).pack,
		Files: func(q *question) []jobs.File { return q.space.Foreign.Files() }, Errors: []error{scenarios.ErrNotRepeated, scenarios.ErrTiersDiffer, kernel.ErrTooLong, guest.ErrFailed}}
}

// served is a kind of job as a worker does it.
func served[I, O any](k jobs.Kind[*question, history.History, I, O], load scenarios.Loader) jobs.Served {
	k.Unpack = func(ctx context.Context, packed []byte, fetch jobs.Fetch) (*question, error) {
		return unpack(ctx, packed, fetch, load)
	}
	return k
}

// numbered is a run to make.
type numbered struct {
	Run       int
	Candidate experiment.Candidate
}

// tried is a run that was made, and its violations as far as they are explained by what was found before.
type tried struct {
	Trial   trial
	Pending []pending
}

var trialJobs = kindOf("trial", func(_ context.Context, q *question, buffer *history.History, in numbered) (r tried, err error) {
	if r.Trial, err = try(q.space, in.Candidate, buffer); err != nil {
		return r, err
	}
	for _, kind := range counting(q.space, &r.Trial) {
		p, err := q.reduce(pending{Run: in.Run, Candidate: in.Candidate, Shown: r.Trial.Shown(kind, r.Trial.Settings)}, buffer)
		if err != nil {
			return r, err
		}
		r.Pending = append(r.Pending, p)
	}
	return r, nil
})

// check is a run to make again, in the same way or on tier wire.
type check struct {
	numbered
	Repeat, OnWire bool
}

var againJobs = kindOf("again", func(_ context.Context, q *question, buffer *history.History, in check) (struct{}, error) {
	_, r, err := perform(q.space, in.Candidate, buffer)
	if err == nil && in.OnWire {
		err = q.onWire(r)
	}
	if err == nil && in.Repeat {
		err = again(q.space, r)
	}
	return struct{}{}, err
})

var reduceJobs = kindOf("reduce", func(_ context.Context, q *question, buffer *history.History, p pending) (pending, error) {
	if p.Known != 0 {
		return p, nil
	}
	return q.reduce(p, buffer)
})

// shrunk is a finding with its scenario, which its JSON form leaves out.
type shrunk struct {
	search.Finding
}

var shrinkJobs = kindOf("shrink", func(ctx context.Context, q *question, _ *history.History, p pending) (shrunk, error) {
	v := search.Violation{Foreign: q.space.Foreign, Scenario: p.Candidate.Scenario(q.space), Seed: p.Candidate.Seed, Kind: p.Kind, Beyond: p.Beyond, Despite: p.Despite,
		Unrefined: !isRefined(p.Candidate.Seed), Base: q.space.DrawnAround()}
	f, _, err := shrink.Finding(ctx, v, q.shrinkRuns)
	f.Run = p.Run
	return shrunk{f}, err
})

// packed is a finding on its way.
type packed struct {
	Finding        search.Finding
	Name, Scenario string
}

// MarshalJSON implements json.Marshaler.
func (s shrunk) MarshalJSON() ([]byte, error) {
	data, err := s.Finding.Scenario.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(packed{s.Finding, s.Finding.Scenario.Name, string(data)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *shrunk) UnmarshalJSON(data []byte) error {
	var f packed
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	all, err := scenarios.Parse(f.Name, []byte(f.Scenario))
	if err != nil {
		return fmt.Errorf("a finding: %w", err)
	}
	s.Finding = f.Finding
	s.Finding.Scenario = all[0]
	return nil
}
