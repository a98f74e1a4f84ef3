package power

import (
	"context"
	"encoding/json"
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

// reached is what each column executes without a bug. Runs are functions of their seeds: one that does not reach the statement
// with a bug is the same with it, so that nothing can notice it there.
type reached struct {
	Columns map[Column]blocks
	// Searched is what a search with each of the settings executes, by their names.
	Searched map[string]blocks
}

// blocks are those that were counted in each file.
type blocks map[string][]cover.ProfileBlock

// covered are the packages whose statements are counted. Without the command itself nothing is written at its end.
const covered = "./mutants/runner,./redlock/...,./internal/quorum,./internal/batch,./internal/redisnode,./scenarios/protocols"

// adapter is the file that has scripts run.
const adapter = "internal/redisnode/exchange.go"

// slower is how many times as long a search has that counts.
const slower = 2

// reach runs what is measured without a bug. It is an error if something is found. What was reached is kept in the directory
// for the build cache, if there is one.
func (o Options) reach(ctx context.Context) (*reached, error) {
	if o.Cache == "" {
		return o.reachAnew(ctx)
	}
	name := fmt.Sprintf("reached-%s-%s-%v", o.Target, o.Sources, o.Limit)
	for _, c := range o.Columns {
		name += "-" + string(c)
	}
	path := filepath.Join(o.Cache, name+".json")
	all := &reached{}
	data, err := os.ReadFile(path)
	if err == nil {
		return all, json.Unmarshal(data, all)
	}
	if all, err = o.reachAnew(ctx); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(all); err != nil {
		return nil, err
	}
	return all, os.WriteFile(path, data, 0o666)
}

func (o Options) reachAnew(ctx context.Context) (*reached, error) {
	dir, err := os.MkdirTemp("", "reach")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := build{root: o.Root, dir: dir, cache: o.Cache, tested: targets[o.Target].tested}
	if err := b.fill(ctx, o.columns()); err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "counting")
	if err := b.goCommand(ctx, "build", "-cover", "-coverpkg="+covered, "-o", binary, "./mutants/runner"); err != nil {
		return nil, err
	}
	all := &reached{map[Column]blocks{}, map[string]blocks{}}
	type part struct {
		name string
		process
		in func(blocks)
	}
	var parts []part
	for _, c := range o.columns() {
		in := func(is blocks) { all.Columns[c] = is }
		switch c {
		case Tests: // which statements tests reach is up to them
		case Live: // clients would be killed before they could write what they reach, and have the race detector instead
			if err := o.finds(ctx, &b); err != nil {
				return nil, err
			}
		case Search:
			for _, s := range targets[o.Target].settings() {
				parts = append(parts, part{s.Name, search(binary, slower*o.share(1), s), func(is blocks) { all.Searched[s.Name] = is }})
			}
		case Explore:
			parts = append(parts, part{string(c), search(binary, slower*o.Limit), in})
		default:
			parts = append(parts, part{string(c), runner(binary, c), in})
		}
	}
	counted, err := jobs.Set[struct{}, blocks]{
		N: len(parts), Workers: o.Jobs,
		Do: func(ctx context.Context, _ *struct{}, i int) (blocks, error) {
			return executed(ctx, &b, parts[i].process, fmt.Sprint(i))
		},
		Name: func(i int) string { return parts[i].name },
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	for i, p := range parts {
		if !counted[i].Done {
			return nil, context.Cause(ctx)
		}
		p.in(counted[i].Value)
	}
	return all, nil
}

// finds is the error that tier live finds something without a bug.
func (o Options) finds(ctx context.Context, b *build) error {
	binary, err := b.runner(ctx, Live)
	if err != nil {
		return err
	}
	end, err := runner(binary, Live).run(ctx)
	if err == nil && end.code != 0 {
		err = fmt.Errorf("power: %s finds something without a bug: %s%s", Live, end.stdout, end.stderr)
	}
	return err
}

// executed runs a process whose binary counts, and gives what was counted in each file. The name is for a directory.
func executed(ctx context.Context, b *build, p process, name string) (blocks, error) {
	counts := filepath.Join(b.dir, "counts-"+name)
	if err := os.Mkdir(counts, 0o777); err != nil {
		return nil, err
	}
	p.environment = append(p.environment, "GOCOVERDIR="+counts)
	end, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if end.code != 0 {
		return nil, fmt.Errorf("power: something is found without a bug: %s%s", end.stdout, end.stderr)
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
		return nil, fmt.Errorf("power: no statements were counted")
	}
	files := blocks{}
	for _, p := range profiles {
		files[p.FileName[strings.IndexByte(p.FileName, '/')+1:]] = p.Blocks
	}
	return files, nil
}

// by reports whether a column reaches the statement with a bug, as far as that is known: what is in no counted block counts as
// reached, and a script is if anything of the adapter's file that runs it is.
func (r *reached) by(c Column, m generate.Mutant) bool {
	of, counted := r.Columns[c]
	return !counted || of.have(m)
}

// settings are those of a target with which a search reaches the statement with a bug.
func (r *reached) settings(t generate.Target, m generate.Mutant) []mutants.Settings {
	return slices.DeleteFunc(targets[t].settings(), func(s mutants.Settings) bool { return !r.Searched[s.Name].have(m) })
}

func (of blocks) have(m generate.Mutant) bool {
	if filepath.Ext(m.Edit.File) == ".lua" {
		for _, b := range of[adapter] {
			if b.Count > 0 {
				return true
			}
		}
		return false
	}
	in := false
	for _, b := range of[m.Edit.File] {
		at := m.Statement
		if (b.StartLine < at.Line || b.StartLine == at.Line && b.StartCol <= at.Column) && (at.Line < b.EndLine || at.Line == b.EndLine && at.Column < b.EndCol) {
			if in = true; b.Count > 0 {
				return true
			}
		}
	}
	return !in
}
