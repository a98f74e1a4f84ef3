package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/jobs"
	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

// measurement is what is to be measured, and how.
type measurement struct {
	// root is the module's root.
	root   string
	target target
	// sources stands for the sources; see [sources].
	sources string
	// results are what is known. Bugs that were measured with other sources are measured anew if all is set.
	results records
	all     bool
	// jobs is how many bugs are measured at once.
	jobs int
}

// run forgets results of bugs that there are no more, and measures the bugs, less what is known. done is told of each result,
// by one goroutine at a time; its error ends the measurement. When ctx ends, what is done is done, and there is no error.
func (m *measurement) run(ctx context.Context, done func(record) error) error {
	bugs, err := m.bugs(ctx)
	if err != nil {
		return err
	}
	m.results.Bugs = those(m.results.Bugs, func(r record) bool {
		return slices.ContainsFunc(bugs, func(bug generate.Mutant) bool { return bug.Name == r.Name })
	})
	sources := ""
	if m.all {
		sources = m.sources
	}
	var todo []generate.Mutant
	for _, bug := range bugs {
		if !m.results.has(bug.Mutant, sources) {
			todo = append(todo, bug)
		}
	}
	if len(todo) > 0 {
		err = m.nothingWithoutBugs(ctx)
	}
	if err == nil {
		_, err = jobs.Set[struct{}, record]{
			N: len(todo), Workers: m.jobs,
			Do: func(ctx context.Context, _ *struct{}, i int) (record, error) {
				r, err := m.one(ctx, todo[i])
				if err != nil {
					err = fmt.Errorf("%s: %w", todo[i].Name, err)
				}
				return r, err
			},
			Done: func(_ int, r record, _ time.Duration) error { return done(r) },
			Name: func(i int) string { return todo[i].Name },
		}.Run(ctx)
	}
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// bugs are those of the target: planted, or drawn.
func (m *measurement) bugs(ctx context.Context) (all []generate.Mutant, err error) {
	if m.target.page == "" {
		for _, one := range mutants.All() {
			all = append(all, generate.Mutant{Mutant: one})
		}
		return all, nil
	}
	set, err := generate.Load(m.root, m.target.directories)
	if err != nil {
		return nil, err
	}
	return set.Sample(ctx, m.results.Seed, m.results.Sample)
}

// one measures one bug.
func (m *measurement) one(ctx context.Context, bug generate.Mutant) (record, error) {
	r := record{Name: bug.Name, Mutant: bug.Fingerprint(), Class: bug.Class, Line: bug.Line, Sources: m.sources, Columns: map[string]outcome{}}
	trials := plantedTrials(bug.Mutant)
	if m.target.page != "" {
		r.Edit, trials = &bug.Edits[0], m.target.trials(m.results.limit())
	}
	b, remove, err := newBuild(m.root, bug.Mutant)
	if err != nil {
		return r, err
	}
	defer remove()
	for _, t := range trials {
		if t.column == columnLive && r.caught(ours...) {
			continue
		}
		own := slices.IndexFunc(t.tests, func(test mutants.Test) bool { return test.Package == path.Dir(bug.File()) })
		if own > 0 { // they are quickest to notice it
			t.tests = slices.Concat(t.tests[own:own+1], t.tests[:own], t.tests[own+1:])
		}
		if r.Columns[t.column], err = b.try(ctx, t); err != nil {
			return r, err
		}
	}
	return r, nil
}

// nothingWithoutBugs is an error if one of a target's columns finds something without a bug. Planted bugs have no columns.
func (m *measurement) nothingWithoutBugs(ctx context.Context) error {
	if m.target.page == "" {
		return nil
	}
	b, remove, err := newBuild(m.root, mutants.Mutant{})
	if err != nil {
		return err
	}
	defer remove()
	for _, t := range m.target.trials(m.results.limit()) {
		if out, err := b.try(ctx, t); err != nil || out.How != "" {
			return cmp.Or(err, fmt.Errorf("%s: something is found without a bug: %s, %s", t.column, out.How, out.By))
		}
	}
	return nil
}

// sources is the commit that the sources are of, and that they differ from it if they do.
func sources(ctx context.Context, root string) (string, error) {
	git := exec.CommandContext(ctx, "git", "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty")
	git.Dir = root
	commit, err := git.Output()
	if err != nil {
		return "", fmt.Errorf("the commit of the sources: %w", err)
	}
	return strings.TrimSpace(string(commit)), nil
}
