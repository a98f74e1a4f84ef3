// Package random searches for a schedule of faults that breaks a lock by drawing experiments, each from the seed of the search
// and its number. It checks itself on the way: some runs are repeated, some are made on tier wire, and a known-broken lock must
// be caught. What it finds is shrunk, and is the same wherever and by how many workers the runs are made. Start at [Explore].
package random

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/internal/mark"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/shrink"
	"redlocksim/sim/history"
)

// Explore searches until all runs are made or ctx ends, which is no error. It fails if the search itself does: no run of a
// generation can be made, the known-broken lock is not caught, or the directory cannot be written. The summary covers all whole
// generations, and Unfinished the last one. It is nil only if the search did not start. Runs that fail do not end the search,
// but its error is that of search.Failures then: a run that panics, one that does not repeat (verdict.ErrNotRepeated), or one
// that is not the same on tier wire (verdict.ErrTiersDiffer).
func Explore(ctx context.Context, space experiment.Space, o Options) (*Summary, error) {
	if err := space.Check(); err != nil {
		return nil, err
	}
	e := &explorer{space: space, worst: len(space.Worst()), options: o.whole(space.Foreign != nil)}
	if o.Dir != "" {
		unlock, err := search.OpenDir(o.Dir, o.Rules)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	var err error
	if e.checkpoint, err = open(space, e.options); err != nil {
		return nil, err
	}
	if err := e.search(ctx); err != nil {
		return &e.Summary, err
	}
	return &e.Summary, e.Summary.Failures.Err(o.Dir, o.With)
}

// explorer is a search under way.
type explorer struct {
	space   experiment.Space
	options Options
	*checkpoint
	worst int // how many worst schedules come before the runs that are drawn
	raw   int // files with violations that are not shrunk yet
}

func (e *explorer) search(ctx context.Context) error {
	o := &e.options
	for start := time.Now(); ctx.Err() == nil; {
		n := o.Generation
		if o.Runs > 0 {
			n = min(n, e.worst+o.Runs-e.Summary.Runs)
		}
		if left := e.worst - e.Summary.Runs; left > 0 {
			n = left
		}
		if n <= 0 || o.For > 0 && time.Since(start) >= o.For {
			return e.finish(ctx)
		}
		if done, err := e.generation(ctx, n); err != nil || !done {
			return err
		}
		if o.Progress != nil {
			o.Progress(&e.Summary)
		}
	}
	return nil
}

// errAllFail: nothing can be run, so that an empty result would mean nothing.
var errAllFail = errors.New("every run of a generation failed")

// generation makes n runs and adds up what they show. It is not done if ctx ended first.
func (e *explorer) generation(ctx context.Context, n int) (done bool, err error) {
	before, trials := e.Summary.clone(), make([]trial, n)
	defer func() {
		if done {
			return
		}
		e.Summary = before
		for i := range trials {
			if len(counting(e.space, &trials[i])) > 0 {
				e.Summary.Unfinished++
			}
		}
	}()
	if err := e.canary(ctx); err != nil || ctx.Err() != nil {
		return false, err
	}
	runs := make([]numbered, n)
	for i := range runs {
		runs[i] = numbered{e.Summary.Runs + i, candidate(e.options.Seed, e.worst, e.Summary.Runs+i)}
	}
	made, err := each(ctx, e, trialJobs, runs, func(i int, m made[tried]) error {
		trials[i], trials[i].failed = m.Output.Trial, m.Failed
		return e.keepRaw(m.Output.Pending)
	})
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	if !slices.ContainsFunc(trials, func(t trial) bool { return !t.failed }) {
		return false, fmt.Errorf("%w: all %d", errAllFail, n)
	}
	for i := range trials {
		e.add(&trials[i])
		e.Pending = append(e.Pending, made[i].Output.Pending...)
	}
	if e.space.Foreign == nil {
		if err := e.effects(ctx, runs, trials); err != nil {
			return false, err
		}
	}
	if err := e.settle(ctx, shrinksPerGeneration); err != nil || ctx.Err() != nil {
		return false, err
	}
	return true, e.save()
}

// each does the jobs of a step and notes which runs failed. It stops when ctx ends, or at an error that is not that of a run.
func each[I about, O any](ctx context.Context, e *explorer, k jobs.Kind[*question, history.History, I, made[O]], inputs []I,
	done func(int, made[O]) error) ([]made[O], error) {
	shared := &question{space: e.space, findings: e.Summary.Findings, shrinkRuns: e.options.shrinkRuns, onWire: e.options.onWire}
	results, err := k.Run(ctx, jobs.Place{Workers: e.options.Jobs, Elsewhere: e.options.Elsewhere}, shared, inputs, done)
	if err != nil || ctx.Err() != nil {
		return nil, err
	}
	all := make([]made[O], len(results))
	for i := range results {
		all[i] = results[i].Value
		if err := e.note(ctx, all[i].Failures...); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// wireRuns bounds the runs on both tiers for shrinking one that is not the same on both.
const wireRuns = 400

// note takes in runs that failed. The first that is not the same on tier wire is shrunk.
func (e *explorer) note(ctx context.Context, failures ...search.Failure) error {
	for _, f := range failures {
		isFirst := !slices.ContainsFunc(e.Summary.Failures.Failures, search.Failure.IsDifference)
		if f.IsDifference() && isFirst && e.options.Dir != "" {
			if err := e.shrinkDifference(ctx, &f); err != nil {
				f.Text += "\nit could not be made smaller: " + err.Error()
			}
		}
		if err := e.Summary.Failures.Note(f, e.options.Dir, e.options.Rules); err != nil {
			return err
		}
	}
	return nil
}

// shrinkDifference has a failure be that of a smaller run.
func (e *explorer) shrinkDifference(ctx context.Context, f *search.Failure) error {
	all, err := scenarios.Parse(f.File, f.Scenario)
	if err != nil {
		return err
	}
	s, err := shrink.Difference(ctx, all[0], f.Seed, e.options.onWire, wireRuns)
	if err != nil {
		return err
	}
	f.Scenario, err = s.Encode()
	return err
}

// maxRaw bounds how many violations are written down unshrunk in a generation.
const maxRaw = 20

// keepRaw writes the violation of a run that no finding explains down unshrunk as soon as it is found, in case the search is
// killed.
func (e *explorer) keepRaw(all []pending) error {
	i := slices.IndexFunc(all, func(p pending) bool { return p.Known == 0 })
	if i < 0 || e.options.Dir == "" || e.raw == maxRaw {
		return nil
	}
	e.raw++
	p := &all[i]
	s := p.Candidate.Scenario(e.space)
	s.Title, s.Source = fmt.Sprintf("%s, not shrunk yet", p.Kind), "a random search"
	s.Explanation = fmt.Sprintf("Run %d.", p.Run)
	s.Recorded = &scenarios.Recorded{Seed: p.Seed, History: p.History}
	data, err := s.Encode()
	if err != nil {
		return err
	}
	return e.options.Rules.Write(filepath.Join(e.options.Dir, search.RawFile(p.Run)), append([]byte(mark.YAML+"\n"), data...))
}

const (
	// shrinksPerGeneration bounds how many violations are shrunk in a generation, and shrinksAtATime how many before pending
	// ones are compared with the new findings.
	shrinksPerGeneration = 8
	shrinksAtATime       = 4
	// maxPending bounds how many are pending.
	maxPending = 200
)

// settle shrinks at most limit pending violations, and counts those that a finding explains. If ctx ends first, its result must
// be discarded.
func (e *explorer) settle(ctx context.Context, limit int) error {
	e.raw = 0
	for {
		if err := e.explain(ctx); err != nil || ctx.Err() != nil {
			return err
		}
		batch := e.batch(min(limit, shrinksAtATime))
		if len(batch) == 0 {
			break
		}
		limit -= len(batch)
		found, err := each(ctx, e, shrinkJobs, batch, nil)
		if err != nil || ctx.Err() != nil {
			return err
		}
		for i := range found {
			if found[i].Failed {
				e.Summary.Unshrunk++
				continue
			}
			f, err := found[i].Output.whole()
			if err == nil {
				err = e.Summary.Findings.Add(f, e.options.Dir, e.options.Rules)
			}
			if err != nil {
				return err
			}
		}
		e.Pending = slices.DeleteFunc(e.Pending, func(p pending) bool {
			return slices.ContainsFunc(batch, func(b pending) bool { return b.Run == p.Run && b.Kind == p.Kind })
		})
	}
	if over := len(e.Pending) - maxPending; over > 0 {
		e.Summary.Unshrunk += over
		e.Pending = e.Pending[:maxPending]
	}
	return nil
}

// explain counts the pending violations that a finding explains, and removes them. Those within the budget come first, so that
// they are never crowded out.
func (e *explorer) explain(ctx context.Context) error {
	all, err := each(ctx, e, reduceJobs, e.Pending, nil)
	if err != nil || ctx.Err() != nil {
		return err
	}
	var open []pending
	for i, p := range e.Pending {
		if !all[i].Failed {
			p = all[i].Output
		}
		if p.Known != 0 {
			e.Summary.Findings[p.Known-1].Times++
		} else {
			open = append(open, p)
		}
	}
	search.WithinFirst(open, func(p pending) bool { return p.Beyond })
	e.Pending = open
	return nil
}

// batch is the first n pending violations that differ in more than their runs.
func (e *explorer) batch(n int) (batch []pending) {
	for _, p := range e.Pending {
		if len(batch) < n && !slices.ContainsFunc(batch, func(b pending) bool { return b.Alike(&p.Shown) }) {
			batch = append(batch, p)
		}
	}
	return batch
}

// finish shrinks all pending violations once all runs are made, and saves after every few.
func (e *explorer) finish(ctx context.Context) error {
	for len(e.Pending) > 0 {
		before := e.Summary.clone()
		if err := e.settle(ctx, shrinksAtATime); err != nil || ctx.Err() != nil {
			e.Summary = before
			return err
		}
		if err := e.save(); err != nil {
			return err
		}
	}
	return e.save() // also if there was nothing to do
}

// effects looks for kinds of faults that made a difference to one of the runs, if that is not known of them yet.
func (e *explorer) effects(ctx context.Context, runs []numbered, trials []trial) error {
	var injected []search.Injected
	for i := range trials {
		if t := &trials[i]; !t.failed {
			injected = append(injected, search.Injected{Kinds: t.Run.Injected, Scenario: func() *scenarios.Scenario { return runs[i].Scenario(e.space) }, Seed: runs[i].Seed})
		}
	}
	if err := search.Safely(func() error { return search.Effects(&e.Summary.Tally, injected) }); err != nil {
		return e.note(ctx, search.NewFailure(nil, 0, e.Summary.Runs, err))
	}
	return nil
}

// errBlind: the known-broken lock was not caught, so an empty result would mean nothing.
var errBlind = errors.New("the search is blind: a lock with a planted bug was not caught")

// canaryTries bounds how many experiments a generation runs on the broken lock.
const canaryTries = 50

// broken is a lock that deletes the key even if it was not granted, which is wrong without any fault.
func broken(base *scenarios.Scenario) *scenarios.Scenario {
	b := *base
	b.Lock = b.Lock.With("redlock-plain")
	protocols.Change(&b.Lock, func(own *protocols.RedlockPlainSettings) { own.Cleanup = protocols.CleanupDel })
	return &b
}

// canary runs experiments on the broken lock, judged like all others, until it is caught.
func (e *explorer) canary(ctx context.Context) error {
	space := e.space
	space.Foreign = nil // which would be run in the place of the broken one
	space.Base = broken(space.Base)
	if e.options.canary != nil {
		space.Base = e.options.canary
	}
	var buffer history.History
	for i := 0; i < canaryTries && ctx.Err() == nil; i++ {
		seed := experiment.Choices(e.options.Seed, "canary", e.Summary.Runs).For("try", i).Below(1 << 53)
		c := experiment.Candidate{Seed: uint64(seed)}
		var t trial
		err := search.Safely(func() (err error) {
			t, _, err = try(space, c, &buffer)
			return err
		})
		if err != nil {
			if err := e.note(ctx, failureOf(space, c, e.Summary.Runs, err)); err != nil {
				return err
			}
			continue
		}
		if len(counting(e.space, &t)) > 0 {
			e.Summary.Canaries++
			return nil
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("%w in %d runs", errBlind, canaryTries)
}
