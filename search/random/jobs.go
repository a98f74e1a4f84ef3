package random

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"redlocksim/internal/jobs"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
	"redlocksim/sim/history"
)

// A generation is made in steps, each of them jobs that do not depend on each other: runs, violations that may be known, and
// those that are shrunk. They are the same wherever they are done. Workers, or whoever writes to their Redis, may answer
// anything: what is checked here is what the search prints, makes file names of, or counts by. It cannot see whether a run
// really showed what a worker says.

// Jobs are the kinds of jobs that a search gives to workers, which load lock programs with load.
func Jobs(load scenarios.Loader) []jobs.Served {
	return []jobs.Served{served(trialJobs, load), served(reduceJobs, load), served(shrinkJobs, load)}
}

// question is what all jobs of a step share.
type question struct {
	space      experiment.Space
	findings   search.Findings // so far
	shrinkRuns int
	onWire     func(*verdict.Result) error
}

// asked is a question on its way to a worker.
type asked struct {
	experiment.Space
	Name, Base string            // of settings, and as their file
	Lock       *scenarios.Module // nil if it is that of the settings
	Findings   search.Findings
	ShrinkRuns int
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
	return json.Marshal(asked{q.space, q.space.Base.Name, string(base), lock, q.findings, q.shrinkRuns})
}

func unpack(ctx context.Context, data []byte, fetch jobs.Fetch, load scenarios.Loader) (*question, error) {
	var a asked
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	var err error
	if a.Lock != nil {
		if a.Foreign, err = load(ctx, a.Lock, fetch); err != nil {
			return nil, err
		}
	}
	if a.Space.Base, err = scenarios.ParseSettings(a.Name+".yaml", []byte(a.Base)); err != nil {
		return nil, err
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	if a.ShrinkRuns < 1 || a.ShrinkRuns > shrinkRuns {
		return nil, fmt.Errorf("%d runs to shrink a violation: want 1 to %d", a.ShrinkRuns, shrinkRuns)
	}
	return &question{space: a.Space, findings: a.Findings, shrinkRuns: a.ShrinkRuns, onWire: onWire}, nil
}

// about is what a job is about: the run of a candidate.
type about interface{ of() numbered }

// numbered is a run to make.
type numbered struct {
	Run int `json:"run"`
	experiment.Candidate
}

func (n numbered) of() numbered { return n }

// made is what came of a job: of one that Failed, nothing but Failures, at least one. Other runs may have failed on the way.
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
		failed := func(err error) {
			m.Failures = append(m.Failures, failureOf(q.space, in.of().Candidate, in.of().Run, err))
		}
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
			switch {
			case m.Failed && len(m.Failures) == 0:
				return fmt.Errorf("the %s of run %d has failed, and does not say how", name, in.of().Run)
			case m.Failed:
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

// tried is a run that was made, and its violations as far as they are explained by what was found before.
type tried struct {
	Trial   trial
	Pending []pending
}

var trialJobs = kindOf("trial", func(_ context.Context, q *question, buffer *history.History, in numbered, failed func(error)) (tried, error) {
	t, r, err := try(q.space, in.Candidate, buffer)
	if err != nil {
		return tried{}, err
	}
	if err := search.Safely(func() error { return check(q.space.Foreign, q.onWire, &t, r, in.Run) }); err != nil {
		failed(err)
	}
	out := tried{Trial: t}
	for _, kind := range counting(q.space, &t) {
		p := pending{numbered: in, Shown: t.Shown(kind, t.Settings), History: t.History}
		out.Pending = append(out.Pending, q.reduce(p, buffer, failed))
	}
	return out, nil
}, func(q *question, in numbered, out *tried) error {
	if out.Trial.Run == nil {
		return fmt.Errorf("run %d does not say what it reached", in.Run)
	}
	for i := range out.Pending {
		if err := out.Pending[i].check(q, in); err != nil {
			return err
		}
	}
	return nil
})

// pending is a violation that is to be shrunk.
type pending struct {
	numbered
	search.Shown
	// Known is the number, from 1, of the finding that explains it; 0 if none does.
	Known int `json:"known,omitempty"`
	// History is the hash of that of the run.
	History string `json:"history,omitempty"`
}

// check looks at a violation of a run, from whose experiment something may have been taken out.
func (p *pending) check(q *question, in numbered) error {
	switch {
	case p.Run != in.Run || p.Seed != in.Seed || p.Worst != in.Worst:
		return fmt.Errorf("a violation of run %d is one of another run", in.Run)
	case p.Known < 0 || p.Known > len(q.findings):
		return fmt.Errorf("a violation of run %d is explained by finding %d of %d", in.Run, p.Known, len(q.findings))
	}
	return p.Shown.Check()
}

// reduce removes from an experiment the faults and the settings that are known to cause its violation, finding by finding, as
// long as the violation remains. In the end either no finding explains it, or it needs those of one.
// Where the run without them fails, the finding may as well be the cause.
func (q *question) reduce(p pending, buffer *history.History, failed func(error)) pending {
	for {
		known := q.findings.Explain(p.Shown)
		if known == 0 {
			return p
		}
		f := &q.findings[known-1]
		less := p.Candidate.Less(f.Causes()...)
		var t trial
		if len(f.Causes()) > 0 {
			var err error
			if t, _, err = try(q.space, less, buffer); err != nil && !errors.Is(err, scenarios.ErrTooLong) {
				failed(err)
			}
		}
		shown := t.Shown(p.Kind, t.Settings)
		if !slices.Contains(t.Kinds, p.Kind) || shown.Beyond && !p.Beyond || shown.Despite && !p.Beyond && !p.Despite {
			p.Known = known
			return p
		}
		p.Candidate, p.Shown = less, shown
	}
}

var reduceJobs = kindOf("reduce", func(_ context.Context, q *question, buffer *history.History, p pending, failed func(error)) (pending, error) {
	if p.Known != 0 {
		return p, nil
	}
	return q.reduce(p, buffer, failed), nil
}, func(q *question, in pending, out *pending) error {
	if out.Kind != in.Kind {
		return fmt.Errorf("a violation %s of run %d became %q", in.Kind, in.Run, out.Kind)
	}
	return out.check(q, in.numbered)
})

// shrunk is a finding with its scenario as a file, which a finding leaves out on its way.
type shrunk struct {
	Finding  search.Finding
	Name     string
	Scenario string
}

// whole is the finding with its scenario.
func (s *shrunk) whole() (search.Finding, error) {
	all, err := scenarios.Parse(s.Name, []byte(s.Scenario))
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d scenarios", len(all))
	}
	if err != nil {
		return s.Finding, fmt.Errorf("a finding: %w", err)
	}
	f := s.Finding
	f.Scenario = all[0]
	return f, nil
}

var shrinkJobs = kindOf("shrink", func(ctx context.Context, q *question, _ *history.History, p pending, failed func(error)) (shrunk, error) {
	v := search.Violation{Foreign: q.space.Foreign, Scenario: p.Scenario(q.space), Seed: p.Seed, Kind: p.Kind, Beyond: p.Beyond, Despite: p.Despite,
		Unrefined: !isRefined(p.Seed), Base: q.space.DrawnAround(), Failed: failed}
	f, done, err := shrink.Finding(ctx, v, q.shrinkRuns)
	if err != nil || !done {
		return shrunk{}, err
	}
	f.Run = p.Run
	file, err := f.Scenario.Encode()
	return shrunk{f, f.Scenario.Name, string(file)}, err
}, checkShrunk)

func checkShrunk(_ *question, in pending, out *shrunk) error {
	f, err := out.whole()
	switch {
	case err != nil:
		return err
	case f.Kind != in.Kind || f.Run != in.Run || f.Seed != in.Seed || f.Times != 1:
		return fmt.Errorf("the violation %s of run %d became a finding of another: %q of run %d", in.Kind, in.Run, f.Kind, f.Run)
	case f.File != "":
		return fmt.Errorf("a finding has the file %q already", f.File)
	case !slices.Equal(f.Families, search.Families(f.Scenario)):
		return fmt.Errorf("the families of a finding are %q, and its scenario has others", f.Families)
	}
	return f.Check()
}
