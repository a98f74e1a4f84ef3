package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/rounded"
	"redlocksim/internal/shell"
	"redlocksim/locks"
	"redlocksim/reports"
	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

// lockTable is the locks command: what it is asked for, and what came out.
type lockTable struct {
	dir, filter          string
	only                 []string
	json, markdown, html string
	noCache, force       bool

	to    sink
	table locktable.Table
	pages map[string][]byte // by the names of the files
}

func newLocks() *cobra.Command {
	t := &lockTable{pages: map[string][]byte{}}
	cmd := &cobra.Command{
		Use:   "locks",
		Short: "Put the locks people use to the test, and write the table of locks",
		Long: `Build the lock programs in the directory locks, run every scenario that applies
on each of them, and write the table: how each lock did in each scenario, beside
a sound Redlock under the same faults. It is run in the project's directory and
takes the Go toolchain, and the modules of the locks.

--markdown is the page docs/locks.md. --html is a directory, for a page with the
whole table and one with the timeline of each run in which a lock did worse.

The exit code does not tell how the locks did: see suite --lock for that.

` + keepsFiles + `

` + exitcode.Help(exitcode.Specifics{exitNotTested: "a lock could not be built here"}),
		Example: `  redlocksim locks
  redlocksim locks --only redsync,redislock --filter clock --markdown - --html ''
  redlocksim locks --json cells.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&t.dir, "dir", "locks", "the directory of the locks")
	flags.StringSliceVar(&t.only, "only", nil, "only these locks, by the names of their directories")
	flags.StringVar(&t.filter, "filter", "", "only scenarios whose name matches this regular expression")
	flags.StringVar(&t.json, "json", "", "write the cells as JSON to this file (- for standard output, and nothing else)")
	flags.StringVar(&t.markdown, "markdown", filepath.Join("docs", "locks.md"), "write the table as Markdown to this file (- for standard output; empty for none)")
	flags.StringVar(&t.html, "html", "redlocksim-locks", "write the table and timelines as pages to this directory (empty for none)")
	flags.BoolVar(&t.noCache, "no-cache", false, "compile the lock programs anew, and keep nothing of them in the user's cache directory")
	addForce(flags, &t.force)
	return cmd
}

func (t *lockTable) run(cmd *cobra.Command) error {
	found, err := filter(t.filter)
	if err != nil {
		return err
	}
	all, err := t.chosen()
	if err != nil {
		return err
	}
	t.to = newSink(cmd, t.force)
	pages := target{"--html", t.html, func(name string) bool { return strings.HasSuffix(name, ".html") }}
	if err := t.to.check(file("--json", t.json), file("--markdown", t.markdown), pages); err != nil {
		return err
	}
	built, err := os.MkdirTemp("", "redlocksim-locks-")
	if err != nil {
		return cannotWrite("", err)
	}
	defer os.RemoveAll(built)
	ctx, stop := untilInterrupted(cmd)
	defer stop()
	t.table = locktable.Table{Scenarios: len(found), Repeat: "redlocksim locks"}
	if t.filter != "" {
		t.table.Repeat += " --filter " + shell.Quote(t.filter)
	}
	for i := range all {
		if err := t.lock(ctx, cmd, &all[i], built, found); err != nil {
			return err
		}
	}
	return t.write()
}

// chosen are the locks that are asked for.
func (t *lockTable) chosen() ([]locks.Lock, error) {
	all, err := locks.Load(t.dir)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--dir: %w", err)}
	}
	for _, name := range t.only {
		if !slices.ContainsFunc(all, func(l locks.Lock) bool { return l.Name == name }) {
			return nil, &failure{exitUsage, fmt.Errorf("--only: there is no lock %s in %s", name, t.dir)}
		}
	}
	return slices.DeleteFunc(all, func(l locks.Lock) bool { return len(t.only) > 0 && !slices.Contains(t.only, l.Name) }), nil
}

// lock runs the scenarios on a lock, with each of its settings.
func (t *lockTable) lock(ctx context.Context, cmd *cobra.Command, l *locks.Lock, built string, found []*scenarios.Scenario) error {
	wasm := filepath.Join(built, l.Name+".wasm")
	err := l.Build(ctx, wasm)
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case errors.Is(err, locks.ErrNotBuilt):
		fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %v\n", err)
		t.table.Locks = append(t.table.Locks, locktable.Lock{Name: l.Name, Settings: l.Settings[0].Title, Source: l.Source, Licence: l.Licence, About: l.About, NotBuilt: err.Error()})
		return nil
	case err != nil:
		return wrap(err)
	}
	for _, s := range l.Settings {
		p, err := programs.Load(wasm, strings.Fields(s.Args), cacheDir(t.noCache))
		if err != nil {
			return &failure{exitUsage, fmt.Errorf("%s: %w", l.Name, err)}
		}
		column, err := t.column(ctx, cmd, l, s, p, found)
		_ = p.Close() // it frees memory
		if err != nil {
			return err
		}
		t.table.Locks = append(t.table.Locks, *column)
	}
	return nil
}

// column runs the scenarios on a program.
func (t *lockTable) column(ctx context.Context, cmd *cobra.Command, l *locks.Lock, s locks.Setting, p *programs.Program, found []*scenarios.Scenario) (*locktable.Lock, error) {
	x := &locktable.Lock{Name: l.Name, Settings: s.Title, Version: p.Version, Source: l.Source, Licence: l.Licence, About: l.About,
		Command: strings.TrimSpace(l.Name + ".wasm " + s.Args)}
	var fit []*scenarios.Scenario
	for _, one := range found {
		if err := p.Unfit(one); err != nil {
			x.Cells = append(x.Cells, locktable.Cell{Lock: l.Name, Version: p.Version, Settings: s.Title, Case: one.Name, Title: one.Title,
				Tier: string(scenarios.Program), Verdict: "not run", Grade: []scenarios.Grade{scenarios.NotApplicable}, Why: []locktable.Why{{Cause: err.Error()}}})
			continue
		}
		fit = append(fit, one)
	}
	bar, start := newTicker(cmd.ErrOrStderr(), len(fit)), time.Now()
	results, err := scenarios.Suite(ctx, fit, []scenarios.Tier{scenarios.Program}, scenarios.Options{Foreign: p.Foreign()}, func(int, time.Duration) { bar.tick() })
	bar.done()
	switch {
	case ctx.Err() != nil:
		return nil, interrupted()
	case err != nil:
		return nil, wrap(err)
	}
	var cases []reports.Case
	for _, r := range results {
		cell, err := t.cell(l, s, p, x.Command, r)
		if err != nil {
			return nil, err
		}
		x.Cells = append(x.Cells, *cell)
		cases = append(cases, reports.Case{Grades: cell.Grade})
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s %s, %s: %s, %v\n", l.Name, p.Version, s.Title, reports.Totals(cases), time.Since(start).Round(100*time.Millisecond))
	return x, nil
}

// cell is what came out of a run.
func (t *lockTable) cell(l *locks.Lock, s locks.Setting, p *programs.Program, command string, r *scenarios.Result) (*locktable.Cell, error) {
	repeat := repeatCommand(r.Scenario.Name, false, r) + " --lock " + shell.Quote(command)
	c := &locktable.Cell{Lock: l.Name, Version: p.Version, Settings: s.Title, Case: r.Scenario.Name, Title: r.Scenario.Title, Tier: string(r.Tier),
		Verdict: rounded.Text(r.Verdict()), Grade: r.Grades(), HistoryHash: r.HistoryHash, Repeat: repeat, Why: []locktable.Why{}}
	worse := false
	for _, g := range c.Grade {
		switch g {
		case scenarios.AsSound:
		case scenarios.NotApplicable:
			c.Why = append(c.Why, locktable.Why{Cause: strings.Join(r.NotTested, "; ")})
		default:
			worse = true
			why := locktable.Why{Cause: "Nobody has said yet what causes it."}
			if k := l.Why(s.Title, r.Scenario.Name, g); k != nil {
				why = locktable.Why{Cause: k.Cause, See: k.See, Documented: k.Documented}
			}
			c.Why = append(c.Why, why)
		}
	}
	if t.html == "" || !worse {
		return c, nil
	}
	c.Page = strings.ReplaceAll(l.Name+"-"+s.Title+"-"+r.Scenario.Name, "/", "-") + ".html"
	c.Page = strings.ReplaceAll(c.Page, " ", "-")
	page, err := pageOf(r, repeat)
	t.pages[c.Page] = page
	return c, err
}

// write writes the table, files first.
func (t *lockTable) write() error {
	if t.json != "" {
		if err := writeJSON(&t.to, locktable.NewDocument(&t.table), t.json); err != nil {
			return err
		}
	}
	if t.html != "" {
		var b bytes.Buffer
		if err := locktable.WriteHTML(&b, &t.table); err != nil {
			return wrap(err)
		}
		t.pages[indexPage] = b.Bytes()
		if err := os.MkdirAll(t.html, 0o777); err != nil {
			return cannotWrite("--html", err)
		}
		for name, page := range t.pages {
			if err := t.to.put(file("--html", filepath.Join(t.html, name)), page); err != nil {
				return err
			}
		}
	}
	if t.markdown != "" {
		var b bytes.Buffer
		if err := locktable.Markdown(&b, &t.table); err != nil {
			return wrap(err)
		}
		if err := t.to.put(file("--markdown", t.markdown), b.Bytes()); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(t.table.Locks, func(l locktable.Lock) bool { return l.NotBuilt != "" }) {
		return ending(exitNotTested)
	}
	return nil
}
