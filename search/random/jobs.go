package random

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
	"redlocksim/sim/history"
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
	space := experiment.Space{Base: base, Swarm: a.Swarm, Beyond: a.Beyond, Strays: a.Strays, Apart: a.Apart, Own: a.Own,
		Clients: a.Clients, Duration: a.Duration, Foreign: lock}
	if err := space.Check(); err != nil {
		return nil, err
	}
	if a.ShrinkRuns < 1 || a.ShrinkRuns > shrinkRuns {
		return nil, fmt.Errorf("%d runs to shrink a violation: want 1 to %d", a.ShrinkRuns, shrinkRuns)
	}
	return &question{space: space, findings: a.Findings, shrinkRuns: a.ShrinkRuns, onWire: onWire}, nil
}

// about is what a job is about: a candidate, by the number of its run.
type about interface {
	of() (run int, c experiment.Candidate)
}

func (n numbered) of() (int, experiment.Candidate) { return n.Run, n.Candidate }
func (p pending) of() (int, experiment.Candidate)  { return p.Run, p.Candidate }

// made is what came of a job: of one that Failed, nothing but Failures. Other runs may have failed on the way.
type made[O any] struct {
	Output   O
	Failed   bool             `json:",omitempty"`
	Failures []search.Failure `json:",omitempty"`
}

// job makes the output of a job. It tells failed of runs on the way that fail.
type job[I, O any] func(ctx context.Context, q *question, buffer *history.History, in I, failed func(error)) (O, error)

// kindOf is a kind of job of a search. Whatever fails or panics is a failure of the job's candidate, and no error. check looks
// at an output that a worker has sent.
func kindOf[I about, O any](name string, do job[I, O], check func(*question, I, *O) error) jobs.Kind[*question, history.History, I, made[O]] {
	one := func(ctx context.Context, q *question, buffer *history.History, in I) (m made[O], err error) {
		run, c := in.of()
		failed := func(err error) { m.Failures = append(m.Failures, failureOf(q.space, c, run, err)) }
		err = search.Safely(func() (err error) {
			m.Output, err = do(ctx, q, buffer, in, failed)
			return err
		})
		if err != nil && ctx.Err() == nil {
			failed(err)
			m.Failed, err = true, nil
		}
		return m, err
	}
	return jobs.Kind[*question, history.History, I, made[O]]{Name: "search-" + name, Do: one, Pack: (*question).pack,
		Files: func(q *question) []jobs.File { return q.space.Foreign.Files() },
		Check: func(q *question, in I, m made[O]) error {
			for i := range m.Failures {
				if err := m.Failures[i].Check(); err != nil {
					return err
				}
			}
			if m.Failed {
				return nil
			}
			return check(q, in, &m.Output)
		}}
}

// failureOf is the failure of a run, which may be that of a candidate whose experiment cannot even be drawn.
func failureOf(space experiment.Space, c experiment.Candidate, run int, err error) search.Failure {
	var s *scenarios.Scenario
	_ = search.Safely(func() error {
		s = c.Scenario(space)
		return nil
	})
	return search.NewFailure(s, c.Seed, run, err)
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

var trialJobs = kindOf("trial", func(_ context.Context, q *question, buffer *history.History, in numbered, failed func(error)) (r tried, err error) {
	if r.Trial, err = try(q.space, in.Candidate, buffer); err != nil {
		return r, err
	}
	for _, kind := range counting(q.space, &r.Trial) {
		p := pending{Run: in.Run, Candidate: in.Candidate, Shown: r.Trial.Shown(kind, r.Trial.Settings)}
		r.Pending = append(r.Pending, q.reduce(p, buffer, failed))
	}
	return r, nil
}, checkTried)

// check is a run to make again, in the same way or on tier wire.
type check struct {
	numbered
	Repeat, OnWire bool
}

var againJobs = kindOf("again", func(_ context.Context, q *question, buffer *history.History, in check, _ func(error)) (struct{}, error) {
	_, r, err := perform(q.space, in.Candidate, buffer)
	if err == nil && in.OnWire {
		err = q.onWire(r)
	}
	if err == nil && in.Repeat {
		err = again(q.space, r)
	}
	return struct{}{}, err
}, func(*question, check, *struct{}) error { return nil })

var reduceJobs = kindOf("reduce", func(_ context.Context, q *question, buffer *history.History, p pending, failed func(error)) (pending, error) {
	if p.Known != 0 {
		return p, nil
	}
	return q.reduce(p, buffer, failed), nil
}, checkReduced)

// shrunk is a finding with its scenario, which its JSON form leaves out.
type shrunk struct {
	search.Finding
}

var shrinkJobs = kindOf("shrink", func(ctx context.Context, q *question, _ *history.History, p pending, failed func(error)) (shrunk, error) {
	v := search.Violation{Foreign: q.space.Foreign, Scenario: p.Candidate.Scenario(q.space), Seed: p.Candidate.Seed, Kind: p.Kind, Beyond: p.Beyond, Despite: p.Despite,
		Unrefined: !isRefined(p.Candidate.Seed), Base: q.space.DrawnAround(), Failed: failed}
	f, _, err := shrink.Finding(ctx, v, q.shrinkRuns)
	f.Run = p.Run
	return shrunk{f}, err
}, checkShrunk)

// packed is a finding on its way.
type packed struct {
	Finding        search.Finding
	Name, Scenario string
}

// MarshalJSON implements json.Marshaler.
func (s shrunk) MarshalJSON() ([]byte, error) {
	if s.Finding.Scenario == nil { // of a job that failed
		return []byte("null"), nil
	}
	data, err := s.Finding.Scenario.Encode()
	if err != nil {
		return nil, err
	}
	return json.Marshal(packed{s.Finding, s.Finding.Scenario.Name, string(data)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *shrunk) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	var f packed
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	all, err := scenarios.Parse(f.Name, []byte(f.Scenario))
	if err != nil {
		return fmt.Errorf("a finding: %w", err)
	}
	if len(all) != 1 {
		return fmt.Errorf("a finding has %d scenarios", len(all))
	}
	s.Finding = f.Finding
	s.Finding.Scenario = all[0]
	return nil
}
