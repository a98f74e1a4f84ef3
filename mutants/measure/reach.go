package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"redlocksim/internal/jobs"
	"redlocksim/mutants"
	"redlocksim/mutants/generate"
)

// reached is what each column executes without a bug, and a search with each of the settings, by their names. Runs are
// functions of their seeds: one that does not reach the statement with a bug is the same with it, so that nothing can notice it
// there.
type reached map[string]blocks

// blocks are those that were counted in each file.
type blocks map[string][]cover.ProfileBlock

// adapter is the file that has scripts run.
const adapter = "internal/redisnode/exchange.go"

// slower is how many times as long a search has that counts.
const slower = 2

// reach runs the trials with runners that count. It is an error if one finds something: there is no bug. Which statements tests
// reach is up to them, and on tier live clients would be killed before they could write what they reach.
func (m *measurement) reach(ctx context.Context) (reached, error) {
	b, remove, err := newBuild(m.root, m.cache, mutants.Mutant{})
	if err != nil {
		return nil, err
	}
	defer remove()
	var parts []trial
	for _, t := range m.target.trials(slower * m.results.limit()) {
		switch {
		case t.column == columnSearch:
			for _, s := range t.settings {
				one := t
				one.column, one.settings = s.Name, []mutants.Settings{s}
				parts = append(parts, one)
			}
		case t.column != columnTests:
			parts = append(parts, t)
		}
		for _, p := range t.tests { // so that the cache has all that bugs do not change
			if err := b.goCommand(ctx, "test", "-c", "-o", filepath.Join(b.dir, "tests"), "./"+p.Package); err != nil {
				return nil, err
			}
		}
	}
	for i := range parts {
		if _, err := b.runner(ctx, parts[i].kind); err != nil {
			return nil, err
		}
		if parts[i].column != columnLive {
			parts[i].kind = counting
		}
	}
	if _, err := b.runner(ctx, counting); err != nil {
		return nil, err
	}
	counted, err := jobs.Set[struct{}, blocks]{
		N: len(parts), Workers: m.jobs,
		Do: func(ctx context.Context, _ *struct{}, i int) (blocks, error) {
			return b.executed(ctx, parts[i], fmt.Sprint(i))
		},
		Name: func(i int) string { return parts[i].column },
	}.Run(ctx)
	if err := cmp.Or(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	all := reached{}
	for i, p := range parts {
		if p.kind == counting {
			all[p.column] = counted[i].Value
		}
	}
	return all, nil
}

// executed runs a trial, and gives what was counted in each file. The name is for a directory.
func (b *build) executed(ctx context.Context, t trial, name string) (blocks, error) {
	counts := filepath.Join(b.dir, "counts-"+name)
	if err := os.Mkdir(counts, 0o777); err != nil {
		return nil, err
	}
	p, err := b.process(ctx, t)
	if err != nil {
		return nil, err
	}
	p.environment = append(p.environment, "GOCOVERDIR="+counts)
	e, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if e.code != 0 {
		return nil, fmt.Errorf("%s: something is found without a bug: %s%s", t.column, e.stdout, e.stderr)
	}
	if t.kind != counting {
		return nil, nil
	}
	path := counts + ".txt"
	if err := b.goCommand(ctx, "tool", "covdata", "textfmt", "-i="+counts, "-o="+path); err != nil {
		return nil, err
	}
	profiles, err := cover.ParseProfiles(path)
	if err != nil {
		return nil, err
	}
	if len(profiles) == 0 {
		return nil, fmt.Errorf("%s: no statements were counted", t.column)
	}
	files := blocks{}
	for _, p := range profiles {
		files[p.FileName[strings.IndexByte(p.FileName, '/')+1:]] = p.Blocks
	}
	return files, nil
}

// narrowed is a trial with what of it reaches the statement with a bug, and whether anything does, as far as that is known:
// what is in no counted block counts as reached.
func (r reached) narrowed(t trial, m generate.Mutant) (trial, bool) {
	if t.column == columnSearch {
		t.settings = slices.DeleteFunc(slices.Clone(t.settings), func(s mutants.Settings) bool { return !r[s.Name].have(m) })
		return t, len(t.settings) > 0
	}
	of, counted := r[t.column]
	return t, !counted || of.have(m)
}

// have reports whether the statement with a bug was executed. A script is if anything of the adapter's file that runs it is.
func (of blocks) have(m generate.Mutant) bool {
	if filepath.Ext(m.File()) == ".lua" {
		return slices.ContainsFunc(of[adapter], func(b cover.ProfileBlock) bool { return b.Count > 0 })
	}
	in := slices.DeleteFunc(slices.Clone(of[m.File()]), func(b cover.ProfileBlock) bool {
		at := m.Statement
		return at.Compare(generate.Position{Line: b.StartLine, Column: b.StartCol}) < 0 || at.Compare(generate.Position{Line: b.EndLine, Column: b.EndCol}) >= 0
	})
	return len(in) == 0 || slices.ContainsFunc(in, func(b cover.ProfileBlock) bool { return b.Count > 0 })
}
