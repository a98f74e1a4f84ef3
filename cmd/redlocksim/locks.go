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
	"redlocksim/scenarios/programs/process"
)

// lockTable is the locks command: what it is asked for, and what came out.
type lockTable struct {
	dir, filter, tier    string
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
takes the Go toolchain and the modules of the locks; for the locks in other
languages, which run on tier live, redis-server and what they are written in.

--markdown is the page docs/locks.md. --html is a directory, for a page with the
whole table and one with the timeline of each run in which a lock did worse.

The exit code does not tell how the locks did: see suite --lock for that.

` + keepsFiles + `

` + exitcode.Help(exitcode.Specifics{exitNotTested: "a lock could not be built or started here"}),
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
	flags.StringVar(&t.tier, "tier", "", "only locks that run on this tier: program or live (default both)")
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
	if t.tier != "" {
		t.table.Repeat += " --tier " + t.tier
	}
	if t.only != nil {
		t.table.Repeat += " --only " + shell.Quote(strings.Join(t.only, ","))
	}
	if t.filter != "" {
		t.table.Repeat += " --filter " + shell.Quote(t.filter)
	}
	for i := range all {
		do := t.lock
		if all[i].Tier() == scenarios.Live {
			do = t.onLive
		}
		if err := do(ctx, cmd, &all[i], built, found); err != nil {
			return err
		}
	}
	return t.write()
}

// chosen are the locks that are asked for.
func (t *lockTable) chosen() ([]locks.Lock, error) {
	on := []scenarios.Tier{scenarios.Program, scenarios.Live}
	if t.tier != "" {
		if !slices.Contains(on, scenarios.Tier(t.tier)) {
			return nil, &failure{exitUsage, fmt.Errorf("--tier: %q is none of program and live", t.tier)}
		}
		on = []scenarios.Tier{scenarios.Tier(t.tier)}
	}
	all, err := locks.Load(t.dir)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--dir: %w", err)}
	}
	for _, name := range t.only {
		if !slices.ContainsFunc(all, func(l locks.Lock) bool { return l.Name == name }) {
			return nil, &failure{exitUsage, fmt.Errorf("--only: there is no lock %s in %s", name, t.dir)}
		}
	}
	return slices.DeleteFunc(all, func(l locks.Lock) bool {
		return len(t.only) > 0 && !slices.Contains(t.only, l.Name) || !slices.Contains(on, l.Tier())
	}), nil
}

// lock runs the scenarios on a lock in the simulator, with each of its settings.
func (t *lockTable) lock(ctx context.Context, cmd *cobra.Command, l *locks.Lock, built string, found []*scenarios.Scenario) error {
	wasm := filepath.Join(built, l.Name+".wasm")
	err := l.Compile(ctx, wasm)
	switch {
	case ctx.Err() != nil:
		return interrupted()
	case errors.Is(err, locks.ErrNotBuilt):
		t.notBuilt(cmd, l, err)
		return nil
	case err != nil:
		return wrap(err)
	}
	for _, s := range l.Settings {
		p, err := programs.Load(wasm, strings.Fields(s.Args), cacheDir(t.noCache))
		if err != nil {
			return &failure{exitUsage, fmt.Errorf("%s: %w", l.Name, err)}
		}
		x := &column{lockTable: t, lock: l, settings: s.Title, about: &p.About, command: strings.TrimSpace(l.Name + ".wasm " + s.Args), began: time.Now()}
		fit := x.fit(found)
		bar := newTicker(cmd.ErrOrStderr(), len(fit))
		results, err := scenarios.Suite(ctx, fit, []scenarios.Tier{scenarios.Program}, scenarios.Options{Foreign: p.Foreign()}, func(int, time.Duration) { bar.tick() })
		bar.done()
		for _, r := range results {
			err = errors.Join(err, x.add(r))
		}
		_ = p.Close() // it frees memory
		switch {
		case ctx.Err() != nil:
			return interrupted()
		case err != nil:
			return wrap(err)
		}
		x.done(cmd)
	}
	return nil
}

// onLive runs the scenarios on a lock on tier live, with each of its settings.
func (t *lockTable) onLive(ctx context.Context, cmd *cobra.Command, l *locks.Lock, built string, found []*scenarios.Scenario) error {
	if err := l.Prepare(ctx, built); err != nil && ctx.Err() == nil {
		t.notBuilt(cmd, l, err)
		return nil
	}
	for _, s := range l.Settings {
		lock := &lockFlags{command: l.Start(s, built)}
		about, err := process.Ask(ctx, strings.Fields(lock.command))
		switch {
		case ctx.Err() != nil:
			return interrupted()
		case err != nil:
			t.notBuilt(cmd, l, fmt.Errorf("%s cannot be started: %w", l.Dir, err))
			return nil
		}
		lock.about = about
		x := &column{lockTable: t, lock: l, settings: s.Title, about: about, command: l.Start(s, "."), began: time.Now()}
		fit := x.fit(found)
		bar := newTicker(cmd.ErrOrStderr(), len(fit))
		err = runLive(cmd, fit, lock, func(r *scenarios.Result, _ *lockFlags) error {
			bar.tick()
			return x.add(r)
		}, func(s *scenarios.Scenario, why error) error {
			bar.tick()
			x.leaveOut(s, why)
			return nil
		})
		bar.done()
		if err != nil {
			return err
		}
		x.done(cmd)
	}
	return nil
}

// notBuilt notes that a lock cannot be put to the test here.
func (t *lockTable) notBuilt(cmd *cobra.Command, l *locks.Lock, err error) {
	fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %v\n", err)
	t.table.Locks = append(t.table.Locks, locktable.Lock{Name: l.Name, Settings: l.Settings[0].Title, Source: l.Source, Licence: l.Licence, About: l.About, NotBuilt: err.Error()})
}

// column is a lock with some settings.
type column struct {
	*lockTable
	lock     *locks.Lock
	settings string
	about    *programs.About
	command  string
	began    time.Time
	cells    []locktable.Cell
}

// fit are the scenarios that apply.
func (x *column) fit(found []*scenarios.Scenario) (fit []*scenarios.Scenario) {
	for _, s := range found {
		if err := x.about.Unfit(s); err != nil {
			x.leaveOut(s, err)
		} else {
			fit = append(fit, s)
		}
	}
	return fit
}

// cell is one of a scenario, empty.
func (x *column) cell(s *scenarios.Scenario) locktable.Cell {
	return locktable.Cell{Lock: x.lock.Name, Version: x.about.Version, Settings: x.settings, Case: s.Name, Title: s.Title, Tier: string(x.lock.Tier()), Why: []locktable.Why{}}
}

// leaveOut notes why a scenario was not run.
func (x *column) leaveOut(s *scenarios.Scenario, why error) {
	c := x.cell(s)
	c.Verdict, c.Grade, c.Why = "not run", []scenarios.Grade{scenarios.NotApplicable}, []locktable.Why{{Cause: why.Error()}}
	x.cells = append(x.cells, c)
}

// add notes what came out of a run.
func (x *column) add(r *scenarios.Result) error {
	c := x.cell(r.Scenario)
	c.Verdict, c.Grade = rounded.Text(r.Verdict()), r.Grades()
	c.Repeat = strings.Replace(repeatCommand(r.Scenario.Name, false, r), " --tier live", "", 1) + " --lock " + shell.Quote(x.command)
	if r.Tier != scenarios.Live { // where each run is another
		c.HistoryHash = r.HistoryHash
	}
	worse := false
	for _, g := range c.Grade {
		switch g {
		case scenarios.AsSound:
		case scenarios.NotApplicable:
			c.Why = append(c.Why, locktable.Why{Cause: strings.Join(r.NotTested, "; ")})
		default:
			worse = true
			why := locktable.Why{Cause: "Nobody has said yet what causes it."}
			if k := x.lock.Why(x.settings, r.Scenario.Name, g); k != nil {
				why = locktable.Why{Cause: k.Cause, See: k.See, Documented: k.Documented}
			}
			c.Why = append(c.Why, why)
		}
	}
	var err error
	if x.html != "" && worse {
		c.Page = strings.NewReplacer("/", "-", " ", "-").Replace(x.lock.Name+"-"+x.settings+"-"+r.Scenario.Name) + ".html"
		x.pages[c.Page], err = pageOf(r, c.Repeat)
	}
	x.cells = append(x.cells, c)
	return err
}

// done adds the column to the table, and says how the lock did.
func (x *column) done(cmd *cobra.Command) {
	l := x.lock
	x.table.Locks = append(x.table.Locks, locktable.Lock{Name: l.Name, Settings: x.settings, Version: x.about.Version, Source: l.Source, Licence: l.Licence,
		About: l.About, Command: x.command, Cells: x.cells})
	var ran []reports.Case
	for i := range x.cells {
		if x.cells[i].Repeat != "" {
			ran = append(ran, reports.Case{Grades: x.cells[i].Grade})
		}
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s %s, %s: %s, %v\n", l.Name, x.about.Version, x.settings, reports.Totals(ran), time.Since(x.began).Round(100*time.Millisecond))
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
