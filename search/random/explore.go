package random

import (
	"context"
	"sync/atomic"
	"time"

	"redlocksim/history"
	"redlocksim/internal/jobs"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
)

// Options say how to search. The zero value searches with seed 0 until its context ends, and writes nothing.
type Options struct {
	// Seed decides every choice.
	Seed uint64
	// Runs is how many experiments all shards run together; 0 is no limit.
	Runs int
	// For is the time after which no generation starts; 0 is no limit. Pending violations are still shrunk. What such a search
	// finds depends on the speed of the machine.
	For time.Duration
	// Jobs is the number of parallel runs; 0 is one per core. It does not change what is found.
	Jobs int
	// Shard is the number of this shard, from 0, of the Shards that share the Runs. Shards 0 is 1.
	Shard, Shards int
	// Generation is after how many experiments new near misses are chosen; 0 is DefaultGeneration.
	Generation int
	// Blind ignores near misses: every experiment is drawn afresh.
	Blind bool
	// Dir is the directory for findings and for the checkpoint; if empty, nothing is written.
	Dir string
	// Rules say which existing files may be replaced.
	Rules outfile.Rules
	// Resume continues the search in Dir.
	Resume bool
	// Progress, if not nil, is called after each generation.
	Progress func(*Summary)

	// For tests: canary replaces the known-broken lock, and shrinkRuns bounds the runs for shrinking a finding.
	canary     *scenarios.Scenario
	shrinkRuns int
}

const (
	// DefaultGeneration is the default size of a generation: some tenths of a second.
	DefaultGeneration = 1000
	// repeatEvery: every so many runs, one is repeated and compared.
	repeatEvery = 1000
)

// explorer is a search under way.
type explorer struct {
	space   experiment.Space
	options Options
	*checkpoint
	raw atomic.Int32 // files with findings that are not shrunk yet
}

// Explore searches until all runs are made or ctx ends, which is no error. It fails if the search itself does: a run does
// not repeat (scenarios.ErrNotRepeated), the known-broken lock is not caught, or the directory cannot be written. The
// summary covers all whole generations, and Unfinished the last one. It is nil only if the search did not start.
func Explore(ctx context.Context, space experiment.Space, o Options) (*Summary, error) {
	o = o.whole()
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
	for start := time.Now(); ; {
		n := o.Generation
		if o.Runs > 0 {
			n = min(n, x.Search.share(o.Shard)-x.Summary.Runs)
		}
		if n <= 0 || o.For > 0 && time.Since(start) >= o.For {
			return &x.Summary, x.finish(ctx)
		}
		if ctx.Err() != nil {
			return &x.Summary, nil
		}
		if done, err := x.generation(ctx, n); err != nil || !done {
			return &x.Summary, err
		}
		if o.Progress != nil {
			o.Progress(&x.Summary)
		}
	}
}

// whole is the options with the defaults in place of zeros.
func (o Options) whole() Options {
	o.Shards = max(o.Shards, 1)
	if o.Generation <= 0 {
		o.Generation = DefaultGeneration
	}
	if o.shrinkRuns <= 0 {
		o.shrinkRuns = shrinkRuns
	}
	return o
}

// generation makes n runs and adds up what they show. It is not done if ctx ended first.
func (x *explorer) generation(ctx context.Context, n int) (done bool, err error) {
	before, trials := x.Summary.clone(), make([]trial, n)
	defer func() {
		if done {
			return
		}
		x.Summary = before
		for i := range trials {
			if x.counts(&trials[i]) {
				x.Summary.Unfinished++
			}
		}
	}()
	if err := x.canary(ctx); err != nil || ctx.Err() != nil {
		return false, err
	}
	first := x.Summary.Runs
	all := x.candidates(first, n)
	found := make([][]pending, n)
	err = x.each(ctx, n, func(i int, buffer *history.History) (err error) {
		trials[i], found[i], err = x.run(first+i, all[i], buffer)
		return err
	})
	if err != nil || ctx.Err() != nil {
		return false, err
	}
	for i := range trials {
		x.add(&trials[i])
		x.Pending = append(x.Pending, found[i]...)
	}
	x.Summary.Orders = x.orders.Estimate()
	if err := x.effects(trials); err != nil {
		return false, err
	}
	x.Pool = x.narrowest(trials)
	if err := x.settle(ctx, shrinksPerGeneration); err != nil || ctx.Err() != nil {
		return false, err
	}
	return true, x.save()
}

// run makes run number, and writes it down if it has a violation that no finding explains.
func (x *explorer) run(number int, c experiment.Candidate, buffer *history.History) (t trial, found []pending, err error) {
	if t, err = try(x.space, c, buffer); err != nil {
		return t, nil, err
	}
	if number%repeatEvery == 0 {
		if err := again(x.space, c); err != nil {
			return t, nil, err
		}
	}
	if !x.counts(&t) {
		return t, nil, nil
	}
	isNew := false
	for _, kind := range t.Kinds {
		p, err := x.reduce(pending{Run: number, Candidate: c, Kind: kind, Families: t.Families, Beyond: t.Beyond}, buffer)
		if err != nil {
			return t, nil, err
		}
		found = append(found, p)
		isNew = isNew || p.Known == 0
	}
	if isNew {
		err = x.keepRaw(&t, number)
	}
	return t, found, err
}

// counts says whether the violations of a run count: those beyond the budget only if the search goes there.
func (x *explorer) counts(t *trial) bool {
	return len(t.Kinds) > 0 && (x.space.Beyond || !t.Beyond)
}

// each calls f for 0 to n−1 in parallel, each time with the buffer of the worker. It stops at an error or when ctx ends, and
// returns the error of the lowest number.
func (x *explorer) each(ctx context.Context, n int, f func(i int, buffer *history.History) error) error {
	_, err := jobs.Set[history.History, struct{}]{
		N: n, Workers: x.options.Jobs,
		Do: func(_ context.Context, buffer *history.History, i int) (struct{}, error) {
			return struct{}{}, f(i, buffer)
		},
	}.Run(ctx)
	return err
}
