// Package power measures how many bugs that nobody chose are noticed: a sample of package generate's, each built in an overlay
// and run against the unit tests, the scenario suite, and two random searches. [Measure] runs them, [Results] is what is kept,
// and [Results.Page] is mutants/POWER.md. go run ./mutants/measure does it all.
package power

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

// Options say what to measure, and how.
type Options struct {
	// Root is the module's root.
	Root string
	// Target is where the bugs are, and Sample how many a seed draws.
	Target generate.Target
	Sample int
	Seed   string
	// In, if not nil, is what the names of the files match that bugs are planted into.
	In *regexp.Regexp
	// Shard is which of the Shards parts of the sample is measured, from 0; Shards 0 is all of it.
	Shard, Shards int
	// Sources stands for the sources; see [mutants.Sources].
	Sources string
	// Columns are measured, in this order, until one notices the bug; nil is all, each of them for every bug.
	Columns []Column
	// Limit is how much processor time a search may take.
	Limit time.Duration
	// Jobs is how many bugs are measured at once.
	Jobs int
	// Cache, if not empty, is a directory for a build cache that does not grow with every bug.
	Cache string
	// Done, if not nil, is told of each result when it is there, by one goroutine at a time. Its error ends the measurement.
	Done func(Result) error
}

// Known gives results that need not be measured again.
type Known func(generate.Mutant) (Result, bool)

// Measure measures the sample, less what is known. When ctx ends, what is done is done, and there is no error.
func Measure(ctx context.Context, o Options, known Known) error {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return err
	}
	o.Root = root
	for _, c := range o.Columns {
		if all := targets[o.Target].columns; !slices.Contains(all, c) {
			return fmt.Errorf("power: no column %q, want some of %v", c, all)
		}
	}
	set, err := generate.Load(root, o.Target)
	if err != nil {
		return err
	}
	if o.In != nil {
		set.Mutants = slices.DeleteFunc(set.Mutants, func(m generate.Mutant) bool { return !o.In.MatchString(m.Edit.File) })
	}
	sample, err := set.Sample(ctx, o.Seed, o.Sample)
	if err != nil {
		return err
	}
	var mine []generate.Mutant
	for i, m := range sample {
		if o.Shards == 0 || i%o.Shards == o.Shard {
			mine = append(mine, m)
		}
	}
	return o.measure(ctx, mine, known)
}

// measure measures some bugs, each of them after what the tests and searches reach without one is known.
func (o Options) measure(ctx context.Context, sample []generate.Mutant, known Known) error {
	var todo []generate.Mutant
	for _, m := range sample {
		if _, isKnown := known(m); !isKnown {
			todo = append(todo, m)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	reached, err := o.reach(ctx)
	if err != nil {
		return err
	}
	_, err = jobs.Set[struct{}, Result]{
		N: len(todo), Workers: o.Jobs,
		Do:   func(ctx context.Context, _ *struct{}, i int) (Result, error) { return o.one(ctx, todo[i], reached) },
		Done: func(_ int, r Result, _ time.Duration) error { return o.Done(r) },
		Name: func(i int) string { return todo[i].Name },
	}.Run(ctx)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// one measures one bug.
func (o Options) one(ctx context.Context, m generate.Mutant, reached *reached) (Result, error) {
	r := Result{Name: m.Name, Class: m.Class, Line: m.Line, Edit: m.Edit, Sources: o.Sources, Limit: int(o.Limit / time.Second), Columns: map[Column]Outcome{}}
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	b := build{root: o.Root, dir: dir, tested: targets[o.Target].tested}
	if b.overlay, err = m.Mutant().Overlay(o.Root, dir); err != nil {
		return r, err
	}
	if b.cache, err = clone(o.Cache, dir); err != nil {
		return r, err
	}
	for _, c := range o.columns() {
		if o.Columns != nil && r.caught(o.Columns...) {
			break
		}
		if c == Live && r.caught(ours...) {
			continue
		}
		with := reached.settings(o.Target, m)
		if c == Search && len(with) == 0 || c != Search && !reached.by(c, m) {
			r.Columns[c] = Outcome{NotReached: true}
			continue
		}
		out, err := o.column(ctx, c, &b, with, filepath.ToSlash(filepath.Dir(m.Edit.File)))
		if err != nil {
			return r, fmt.Errorf("power: %s: %w", m.Name, err)
		}
		r.Columns[c] = out
	}
	return r, nil
}

// column runs one column with a bug in the package of a directory, a search with the settings that reach it.
func (o Options) column(ctx context.Context, c Column, b *build, with []mutants.Settings, directory string) (Outcome, error) {
	if c == Tests {
		return b.tests(ctx, directory)
	}
	binary, err := b.runner(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	p := runner(binary, c)
	switch c {
	case Search:
		p = search(binary, o.share(len(with)), with...)
	case Explore:
		p = search(binary, o.Limit)
	}
	end, err := p.run(ctx)
	if err != nil {
		return Outcome{}, err
	}
	return end.outcome()
}
