// Package systematic injects every fault of the vocabulary at every step of a run. It finds what takes one fault more, at a
// moment at which something happens anyway, and which a random search may miss. Start at [Explore].
package systematic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"redlocksim/checker"
	"redlocksim/internal/jobs"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/shrink"
	"redlocksim/sim/history"
)

// Options say how far to go. The zero value makes all placements, and keeps nothing.
type Options struct {
	// Beyond counts violations that faults beyond the budget excuse as findings, too. NewBase says whether such faults are
	// placed.
	Beyond bool
	// Runs bounds how many placements are run, spread evenly; 0 is no limit.
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
	// notInjected says that the fault had nothing to take effect on.
	notInjected bool
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

// class is the violations of one kind by the same families of faults, the first of them by the placement with this number.
type class struct {
	search.Shown
	placed uint64
	times  int
}

// Explore places the faults and shrinks what it finds, until it is done or the context ends. The error is that of runs that
// failed, which end nothing, or one of package outfile if a file cannot or must not be written; the summary then covers what
// was done until then. With
// an error of search.NewDir nothing was run, and there is no summary.
func Explore(ctx context.Context, b *Base, o Options) (*Summary, error) {
	e := &explorer{base: b, options: o}
	if o.Dir != "" {
		unlock, err := search.NewDir(o.Dir, o.Rules)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	e.summary = Summary{Moments: len(b.moments), Faults: len(b.faults), Base: b.kinds, Tally: b.tally.Clone()}
	if err := e.cover(ctx); err != nil {
		return &e.summary, err
	}
	if err := e.settle(ctx); err != nil {
		return &e.summary, err
	}
	return &e.summary, e.summary.Failures.Err(o.Dir, "")
}

const perBatch = 2000

// cover runs the placements: all, or as many as are allowed, spread evenly.
func (e *explorer) cover(ctx context.Context) error {
	p := &e.summary.Placements
	p.Of, p.Stride = uint64(len(e.base.moments))*uint64(len(e.base.faults)), 1
	goal := p.Of
	if allowed := uint64(e.options.Runs); allowed > 0 && allowed < p.Of {
		goal, p.Stride = allowed, stride(p.Of)
	}
	for p.Covered < goal && ctx.Err() == nil {
		batch := make([]uint64, min(goal-p.Covered, perBatch))
		for i := range batch {
			hi, lo := bits.Mul64(p.Covered+uint64(i), p.Stride)
			batch[i] = bits.Rem64(hi, lo, p.Of)
		}
		trials, err := e.run(ctx, batch)
		if err != nil {
			return err
		}
		for i := range trials {
			if err := e.add(&trials[i], batch[i]); err != nil {
				return err
			}
		}
		if e.options.Progress != nil {
			e.options.Progress(p)
		}
	}
	return nil
}

// stride is a step that spreads any number of placements evenly over all n: close to the golden ratio, and coprime to n so that
// every placement comes up once.
func stride(n uint64) uint64 {
	gcd := func(a, b uint64) uint64 {
		for b != 0 {
			a, b = b, a%b
		}
		return a
	}
	hi, lo := bits.Mul64(n, 618_034)
	s, _ := bits.Div64(hi, lo, 1_000_000)
	for s = max(s, 1); gcd(s, n) != 1; s++ {
	}
	return s
}

// run makes the runs of a batch in parallel, and returns those that were done before the context ended: the first ones.
func (e *explorer) run(ctx context.Context, batch []uint64) ([]trial, error) {
	results, err := jobs.Set[history.History, trial]{N: len(batch), Workers: e.options.Jobs,
		Do: func(_ context.Context, buffer *history.History, i int) (t trial, _ error) {
			err := search.Safely(func() (err error) {
				t, err = e.try(batch[i], buffer)
				return err
			})
			if err != nil {
				f := search.NewFailure(e.base.place(batch[i]), e.base.seed, 0, err)
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
func (e *explorer) try(number uint64, buffer *history.History) (trial, error) {
	s := e.base.place(number)
	found, r, err := search.Try(s, scenarios.Options{Seed: e.base.seed}, buffer)
	if err != nil {
		return trial{}, err
	}
	t := trial{Trial: found, different: fingerprint(r.History) != e.base.fingerprint, notInjected: slices.Contains(r.Left, len(s.Timeline)-1)}
	isOfBase := func(k checker.Kind) bool { return slices.Contains(e.base.kinds, k) }
	t.Kinds, t.Excused = slices.DeleteFunc(t.Kinds, isOfBase), slices.DeleteFunc(t.Excused, isOfBase)
	return t, nil
}

// add counts a placement.
func (e *explorer) add(t *trial, number uint64) error {
	p := &e.summary.Placements
	p.Covered++
	if t.failed != nil {
		p.NotTested.Failed++
		return e.summary.Failures.Note(*t.failed, e.options.Dir, e.options.Rules)
	}
	e.summary.Tally.Add(t.Reached, t.Run)
	if t.different {
		p.Different++
		e.summary.Reached.AddEffect(e.base.fault(number).Kind)
	}
	switch {
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
		i := slices.IndexFunc(e.classes, func(c *class) bool { return c.Alike(&shown) })
		if i < 0 {
			i = len(e.classes)
			e.classes = append(e.classes, &class{Shown: shown, placed: number})
		}
		e.classes[i].times++
	}
	return nil
}

const (
	// maxFindings bounds how many classes of violations are shrunk, and shrinkRuns the runs that each takes.
	maxFindings = 40
	shrinkRuns  = 2000
)

// settle makes findings of the violations that count, those within the budget first. After an error the rest is unshrunk.
func (e *explorer) settle(ctx context.Context) error {
	counting := slices.DeleteFunc(e.classes, func(c *class) bool { return c.Beyond && !e.options.Beyond })
	search.WithinFirst(counting, func(c *class) bool { return c.Beyond })
	known := &e.summary.Findings
	for i, c := range counting {
		if n := known.Explain(c.Shown); n != 0 {
			(*known)[n-1].Times += c.times
			continue
		}
		if len(*known) == maxFindings || ctx.Err() != nil {
			e.summary.Unshrunk++
			continue
		}
		var failed []error
		v := search.Violation{Scenario: e.base.place(c.placed), Seed: e.base.seed, Kind: c.Kind, Beyond: c.Beyond, Despite: c.Despite,
			Failed: func(err error) { failed = append(failed, err) }}
		var f search.Finding
		done := false
		err := search.Safely(func() (err error) {
			f, done, err = shrink.Finding(ctx, v, cmp.Or(e.options.runsToShrink, shrinkRuns))
			return err
		})
		if err != nil {
			failed = append(failed, err)
		}
		err = nil
		for _, one := range failed {
			err = errors.Join(err, e.summary.Failures.Note(search.NewFailure(v.Scenario, v.Seed, 0, one), e.options.Dir, e.options.Rules))
		}
		if err == nil && done {
			f.Times = c.times
			err = known.Add(f, e.options.Dir, e.options.Rules)
		} else {
			e.summary.Unshrunk++
		}
		if err != nil {
			e.summary.Unshrunk += len(counting) - i - 1
			return err
		}
	}
	return nil
}
