package power

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/cover"

	"redlocksim/internal/jobs"
	"redlocksim/mutants/generate"
)

// reached is what each column executes without a bug. Runs are functions of their seeds: one that does not reach the statement
// with a bug is the same with it, so that nothing can notice it there.
type reached map[Column]map[string][]cover.ProfileBlock

// covered are the packages whose statements are counted. Without the command itself nothing is written at its end.
const covered = "./mutants/runner,./redlock/...,./internal/quorum,./internal/batch,./scenarios/protocols"

// adapter is the file that runs the adapter's scripts.
const adapter = "redlock/goredis/node.go"

// slower is how many times as long a search has that counts.
const slower = 2

// reach runs what is measured without a bug. It is an error if something is found. What was reached is kept in the directory
// for the build cache, if there is one.
func (o Options) reach(ctx context.Context) (reached, error) {
	if o.Cache == "" {
		return o.reachAnew(ctx)
	}
	name := fmt.Sprintf("reached-%s-%s-%v", o.Target, o.Sources, o.Limit)
	for _, c := range o.Columns {
		name += "-" + string(c)
	}
	path := filepath.Join(o.Cache, name+".json")
	var all reached
	data, err := os.ReadFile(path)
	if err == nil {
		return all, json.Unmarshal(data, &all)
	}
	if all, err = o.reachAnew(ctx); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(all); err != nil {
		return nil, err
	}
	return all, os.WriteFile(path, data, 0o666)
}

func (o Options) reachAnew(ctx context.Context) (reached, error) {
	dir, err := os.MkdirTemp("", "reach")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b := build{root: o.Root, dir: dir, cache: o.Cache}
	if err := b.fill(ctx); err != nil {
		return nil, err
	}
	binary := filepath.Join(dir, "counting")
	if err := b.goCommand(ctx, "build", "-cover", "-coverpkg="+covered, "-o", binary, "./mutants/runner"); err != nil {
		return nil, err
	}
	var columns []Column
	for _, c := range o.columns() {
		if c != Tests { // which statements tests reach is up to them
			columns = append(columns, c)
		}
	}
	counted, err := jobs.Set[struct{}, map[string][]cover.ProfileBlock]{
		N: len(columns), Workers: o.Jobs,
		Do: func(ctx context.Context, _ *struct{}, i int) (map[string][]cover.ProfileBlock, error) {
			return o.count(ctx, &b, binary, columns[i])
		},
		Name: func(i int) string { return string(columns[i]) },
	}.Run(ctx)
	if err != nil {
		return nil, err
	}
	all := reached{}
	for i, c := range columns {
		if !counted[i].Done {
			return nil, context.Cause(ctx)
		}
		all[c] = counted[i].Value
	}
	return all, nil
}

// count runs a column with a binary that counts, and gives what was counted in each file. Clients of tier live would be killed
// before they could write that, and have the race detector instead: all counts as reached there.
func (o Options) count(ctx context.Context, b *build, binary string, c Column) (map[string][]cover.ProfileBlock, error) {
	counts := filepath.Join(b.dir, string(c))
	if err := os.Mkdir(counts, 0o777); err != nil {
		return nil, err
	}
	if c == Live {
		var err error
		if binary, err = b.runner(ctx, c); err != nil {
			return nil, err
		}
	}
	p := o.runner(binary, c, slower*o.Limit)
	p.environment = append(p.environment, "GOCOVERDIR="+counts)
	end, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	if end.code != 0 {
		return nil, fmt.Errorf("power: %s finds something without a bug: %s%s", c, end.stdout, end.stderr)
	}
	if c == Live {
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
		return nil, fmt.Errorf("power: %s: no statements were counted", c)
	}
	files := map[string][]cover.ProfileBlock{}
	for _, p := range profiles {
		files[p.FileName[strings.IndexByte(p.FileName, '/')+1:]] = p.Blocks
	}
	return files, nil
}

// by reports whether a column reaches the statement with a bug, as far as that is known: what is in no counted block counts as
// reached, and a script is if anything of the adapter's file that runs it is.
func (r reached) by(c Column, m generate.Mutant) bool {
	if r[c] == nil {
		return true
	}
	if filepath.Ext(m.Edit.File) == ".lua" {
		for _, b := range r[c][adapter] {
			if b.Count > 0 {
				return true
			}
		}
		return false
	}
	in := false
	for _, b := range r[c][m.Edit.File] {
		at := m.Statement
		if (b.StartLine < at.Line || b.StartLine == at.Line && b.StartCol <= at.Column) && (at.Line < b.EndLine || at.Line == b.EndLine && at.Column < b.EndCol) {
			if in = true; b.Count > 0 {
				return true
			}
		}
	}
	return !in
}
