package systematic

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"redlocksim/checker"
	"redlocksim/internal/jobs"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/sim/history"
)

// Options say how far to go. The zero value places single faults, all of them, and keeps nothing.
type Options struct {
	// Depth is 2 to place pairs of faults, too; otherwise only single ones are placed.
	Depth int
	// Beyond counts violations that faults beyond the budget excuse as findings, too. NewBase says whether such faults are
	// placed.
	Beyond bool
	// Runs bounds how many placements are run, single ones and pairs together; 0 is no limit.
	Runs int
	// Jobs is the number of parallel runs; 0 is one per core. It does not change what is found.
	Jobs int
	// Dir is the directory for findings; if empty, nothing is written.
	Dir string
	// Rules say which existing files may be replaced.
	Rules outfile.Rules
	// Progress, if not nil, is called now and then with the current part.
	Progress func(*Part)

	runsToShrink int // for tests; 0 is shrinkRuns
}

// trial is what one placement showed.
type trial struct {
	search.Trial
	// different says that it made a difference to a client or the resource.
	different bool
	// missed and notInjected say why a fault was not injected.
	missed, notInjected bool
	// failed is why the run shows nothing; nil if it was made.
	failed *search.Failure
}

// explorer is an exploration under way.
type explorer struct {
	base    *Base
	options Options
	summary Summary
	classes []*class
}

// class is the violations of one kind by the same families of faults, the first of them by the placements with these numbers.
type class struct {
	search.Shown
	placed []uint64
	times  int
}

// Explore places the faults and shrinks what it finds, until it is done or the context ends. The error is that of runs that
// failed, which end nothing, or one of package outfile if a file cannot or must not be written; the summary then covers what
// was done until then. With
// an error of search.NewDir nothing was run, and there is no summary.
func Explore(ctx context.Context, b *Base, o Options) (*Summary, error) {
	x := &explorer{base: b, options: o}
	if o.Dir != "" {
		unlock, err := search.NewDir(o.Dir, o.Rules)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	x.summary = Summary{Moments: len(b.moments), Faults: len(b.faults), Base: b.kinds, Tally: b.tally.Clone()}
	n := uint64(len(b.moments)) * uint64(len(b.faults))
	left := ^uint64(0)
	if o.Runs > 0 {
		left = uint64(o.Runs)
	}
	if err := x.cover(ctx, &x.summary.Singles, n, left, func(k uint64) []uint64 { return []uint64{k} }); err != nil {
		return &x.summary, err
	}
	if o.Depth >= 2 && n > 1 {
		err := x.cover(ctx, &x.summary.Pairs, n*(n-1)/2, left-x.summary.Singles.Covered, func(k uint64) []uint64 { return pair(k, n) })
		if err != nil {
			return &x.summary, err
		}
	}
	if err := x.settle(ctx); err != nil {
		return &x.summary, err
	}
	return &x.summary, x.summary.Failures.Err(o.Dir, "")
}

const perBatch = 2000

// cover runs the placements of one depth: all, or as many as are left, spread evenly.
func (x *explorer) cover(ctx context.Context, p *Part, of, left uint64, numbers func(uint64) []uint64) error {
	p.Of, p.Stride = of, 1
	if of > left {
		p.Stride = stride(of)
	}
	for goal := min(of, left); p.Covered < goal && ctx.Err() == nil; {
		batch := make([][]uint64, min(goal-p.Covered, perBatch))
		for i := range batch {
			hi, lo := bits.Mul64(p.Covered+uint64(i), p.Stride)
			batch[i] = numbers(bits.Rem64(hi, lo, of))
		}
		trials, err := x.run(ctx, batch)
		if err != nil {
			return err
		}
		for i := range trials {
			if err := x.add(p, &trials[i], batch[i]); err != nil {
				return err
			}
		}
		if x.options.Progress != nil {
			x.options.Progress(p)
		}
	}
	return nil
}

// run makes the runs of a batch in parallel, and returns those that were done before the context ended: the first ones.
func (x *explorer) run(ctx context.Context, batch [][]uint64) ([]trial, error) {
	results, err := jobs.Set[history.History, trial]{N: len(batch), Workers: x.options.Jobs,
		Do: func(_ context.Context, buffer *history.History, i int) (t trial, _ error) {
			err := search.Safely(func() (err error) {
				t, err = x.try(batch[i], buffer)
				return err
			})
			if err != nil {
				f := search.NewFailure(x.base.place(batch[i]), x.base.seed, 0, err)
				t.failed = &f
			}
			return t, nil
		},
		Name: func(i int) string { return fmt.Sprint("placement ", batch[i]) },
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	var trials []trial
	for _, r := range results {
		if r.Done {
			trials = append(trials, r.Value)
		}
	}
	return trials, nil
}

// try runs a placement. The history is recorded in the buffer.
func (x *explorer) try(numbers []uint64, buffer *history.History) (trial, error) {
	s := x.base.place(numbers)
	found, r, err := search.Try(s, scenarios.Options{Seed: x.base.seed}, buffer)
	if err != nil {
		return trial{}, err
	}
	t := trial{Trial: found, different: fingerprint(r.History) != x.base.fingerprint}
	for _, i := range r.Left {
		if i < len(x.base.scenario.Timeline) {
			continue
		}
		if slices.Contains(r.NotInjected, scenarios.NeverCame(&s.Timeline[i])) {
			t.missed = true
		} else {
			t.notInjected = true
		}
	}
	isOfBase := func(k checker.Kind) bool { return slices.Contains(x.base.kinds, k) }
	t.Kinds, t.Excused = slices.DeleteFunc(t.Kinds, isOfBase), slices.DeleteFunc(t.Excused, isOfBase)
	return t, nil
}

// add counts a placement.
func (x *explorer) add(p *Part, t *trial, numbers []uint64) error {
	p.Covered++
	if t.failed != nil {
		p.NotTested.Failed++
		return x.summary.Failures.Note(*t.failed, x.options.Dir, x.options.Rules)
	}
	x.summary.Tally.Add(t.Reached, t.Run)
	if t.different {
		p.Different++
		if len(numbers) == 1 { // it is that fault which makes the difference
			x.summary.Reached.AddEffect(x.base.faults[numbers[0]%uint64(len(x.base.faults))].Kind)
		}
	}
	switch {
	case t.missed:
		p.NotTested.Missed++
	case t.notInjected:
		p.NotTested.NotInjected++
	case t.NotTested:
		p.NotTested.Idle++
	}
	switch {
	case len(t.Kinds) == 0:
		return nil
	case t.Within():
		p.Violations++
	default:
		p.Beyond++
	}
	for _, kind := range t.Kinds {
		shown := t.Shown(kind, nil)
		i := slices.IndexFunc(x.classes, func(c *class) bool { return c.Alike(&shown) })
		if i < 0 {
			i = len(x.classes)
			x.classes = append(x.classes, &class{Shown: shown, placed: numbers})
		}
		x.classes[i].times++
	}
	return nil
}
