package random

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/search"
	"redlocksim/search/experiment"
)

// Explore searches until all runs are made or ctx ends, which is no error. It fails if the search itself does: no run of a
// generation can be made, the known-broken lock is not caught, or the directory cannot be written. The summary covers all whole
// generations, and Unfinished the last one. It is nil only if the search did not start. Runs that fail do not end the search,
// but its error is that of search.Failures then: a run that panics, one that does not repeat (scenarios.ErrNotRepeated), or one
// that is not the same on tier wire (scenarios.ErrTiersDiffer).
func Explore(ctx context.Context, space experiment.Space, o Options) (*Summary, error) {
	if err := space.Check(); err != nil {
		return nil, err
	}
	o = o.whole(space.Foreign != nil)
	x := &explorer{space: space, options: o}
	if o.Dir != "" {
		unlock, err := search.OpenDir(o.Dir, o.Rules)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	var err error
	if x.checkpoint, err = open(space, o); err != nil {
		return nil, err
	}
	if err := x.search(ctx); err != nil {
		return &x.Summary, err
	}
	return &x.Summary, x.Summary.Failures.Err(o.Dir, o.With)
}

func (x *explorer) search(ctx context.Context) error {
	o := &x.options
	for start := time.Now(); ctx.Err() == nil; {
		n := o.Generation
		if o.Runs > 0 {
			n = min(n, o.Runs-x.Summary.Runs)
		}
		if n <= 0 || o.For > 0 && time.Since(start) >= o.For {
			return x.finish(ctx)
		}
		if done, err := x.generation(ctx, n); err != nil || !done {
			return err
		}
		if o.Progress != nil {
			o.Progress(&x.Summary)
		}
	}
	return nil
}

// errAllFail: nothing can be run, so that an empty result would mean nothing.
var errAllFail = errors.New("every run of a generation failed")

// generation makes n runs and adds up what they show. It is not done if ctx ended first.
func (x *explorer) generation(ctx context.Context, n int) (done bool, err error) {
	before, trials := x.Summary.clone(), make([]trial, n)
	defer func() {
		if done {
			return
		}
		x.Summary = before
		for i := range trials {
			if len(counting(x.space, &trials[i])) > 0 {
				x.Summary.Unfinished++
			}
		}
	}()
	if err := x.canary(ctx); err != nil || ctx.Err() != nil {
		return false, err
	}
	first := x.Summary.Runs
	all := x.candidates(first, n)
	made, err := each(ctx, x, trialJobs, all, func(i int, m made[tried]) error {
		trials[i], trials[i].failed = m.Output.Trial, m.Failed
		return x.keepRaw(&m.Output, first+i)
	})
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	if !slices.ContainsFunc(trials, func(t trial) bool { return !t.failed }) {
		return false, fmt.Errorf("%w: all %d", errAllFail, n)
	}
	if err := x.selfCheck(ctx, first, trials); err != nil || ctx.Err() != nil {
		return false, err
	}
	x.Summary.NewIn = n
	for i := range trials {
		x.add(&trials[i])
		x.Pending = append(x.Pending, made[i].Output.Pending...)
	}
	x.Summary.Orders, x.Summary.States = x.orders.Estimate(), x.Visits.seen()
	x.Summary.NewStates = x.Summary.States - before.States
	if x.space.Foreign == nil {
		if err := x.effects(ctx, trials); err != nil {
			return false, err
		}
	}
	x.Pool, x.Rare = x.narrowest(trials), x.rare(trials)
	if err := x.settle(ctx, shrinksPerGeneration); err != nil || ctx.Err() != nil {
		return false, err
	}
	return true, x.save()
}
