package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/rounded"
	"redlocksim/internal/shell"
	"redlocksim/live"
	"redlocksim/locks"
	"redlocksim/reports"
	"redlocksim/reports/locktable"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/programs/process"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
)

// lockTable is the locks command: what it is asked for, and what came out.
type lockTable struct {
	dir, filter    string
	only, tiers    []string
	json, markdown string
	noCache, force bool
	atOnce         int

	to       sink
	table    locktable.Table
	failures search.Failures
	writing  sync.Mutex // of cells and failures
}

func newLocks() *cobra.Command {
	t := &lockTable{}
	cmd := &cobra.Command{
		Use:   "locks",
		Short: "Put the locks people use to the test, and write the table of locks",
		Long: `Build the lock programs in the directory locks, run every scenario that applies
on each of them, and write the table: how each lock did in each scenario, beside
a sound Redlock under the same faults. Run it in the project's directory; it
needs the Go toolchain and the modules of the locks.

Locks in Go run in the simulator, and on tier live if --tier names it. Locks in
other languages, and on etcd, ZooKeeper and PostgreSQL, run on tier live only,
which needs their servers and languages. If one of these is missing, the command
says so, and the table has no runs of that lock.

A case in which a lock did worse is reported unless its lock.yaml has a known
cause. So is, without --filter, each known cause that explained nothing.

--markdown is the page docs/locks.md. --at-once runs several locks at a time on
tier live, as they mostly wait; all of them take an hour and more there.

A run that panics or does not repeat itself has failed; the others go on.

The exit code does not tell how the locks did: see suite --lock for that.

` + exitcode.Help(exitcode.Specifics{exitNotTested: "a lock could not be built or started here"}),
		Example: `  redlocksim locks
  redlocksim locks --only redsync,redislock --filter clock --markdown -
  redlocksim locks --tier program,live --only rueidislock --json cells.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return t.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringVar(&t.dir, "dir", "locks", "the directory of the locks")
	flags.StringSliceVar(&t.only, "only", nil, "only these locks, by the names of their directories")
	flags.StringVar(&t.filter, "filter", "", "only scenarios whose name matches this regular expression")
	flags.StringSliceVar(&t.tiers, "tier", nil, "run every lock on these tiers, if it can: program, live (default program, and live for locks that run only there)")
	flags.StringVar(&t.json, "json", "", "write the cells as JSON to this file (- for stdout)")
	flags.StringVar(&t.markdown, "markdown", filepath.Join("docs", "locks.md"), "write the table as Markdown to this file (- for standard output; empty for none)")
	flags.BoolVar(&t.noCache, "no-cache", false, "compile lock programs anew, and cache nothing")
	flags.IntVar(&t.atOnce, "at-once", 1, "how many locks to run at a time on tier live")
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
	if err := t.to.check(file("--json", t.json), file("--markdown", t.markdown)); err != nil {
		return err
	}
	built, err := os.MkdirTemp("", "redlocksim-locks-")
	if err != nil {
		return cannotWrite("", err)
	}
	defer os.RemoveAll(built)
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	t.table = locktable.Table{Scenarios: len(found), Repeat: "redlocksim locks"}
	if t.tiers != nil {
		t.table.Repeat += " --tier " + strings.Join(t.tiers, ",")
	}
	if t.only != nil {
		t.table.Repeat += " --only " + shell.Quote(strings.Join(t.only, ","))
	}
	if t.filter != "" {
		t.table.Repeat += " --filter " + shell.Quote(t.filter)
	}
	if err := t.runAll(ctx, cmd, all, built, found); err != nil {
		return err
	}
	t.reportCauses(cmd.ErrOrStderr())
	return t.write()
}

// reportCauses says where a cause is missing, and which of the known ones explain nothing.
func (t *lockTable) reportCauses(w io.Writer) {
	for _, u := range t.table.Unexplained() {
		fmt.Fprintf(w, "redlocksim: no cause is known: %s\n", u)
	}
	for _, u := range t.table.Unused {
		fmt.Fprintf(w, "redlocksim: a known cause explains nothing: %s\n", u)
	}
}

// tiersOf are the tiers on which a lock is to run.
func (t *lockTable) tiersOf(l *locks.Lock) []scenarios.Tier {
	if t.tiers == nil {
		return l.Tiers()[:1]
	}
	return slices.DeleteFunc(l.Tiers(), func(on scenarios.Tier) bool { return !slices.Contains(t.tiers, string(on)) })
}

// columns are those of a lock, and which of its known causes explained something.
type columns struct {
	*lockTable
	cmd       *cobra.Command
	lock      *locks.Lock
	program   string // where it is built, without an extension
	found     []*scenarios.Scenario
	all       []locktable.Lock
	explained map[*locks.Known]bool
}

// runAll runs the scenarios on the locks: in the simulator one lock after the other, since each takes all processors, and then
// on tier live.
func (t *lockTable) runAll(ctx context.Context, cmd *cobra.Command, all []locks.Lock, built string, found []*scenarios.Scenario) error {
	made := make([]*columns, len(all))
	for i := range all {
		l := &all[i]
		made[i] = &columns{lockTable: t, cmd: cmd, lock: l, program: filepath.Join(built, l.Name), found: found, explained: map[*locks.Known]bool{}}
		if err := made[i].on(ctx, scenarios.Program); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.atOnce)
	for _, x := range made {
		group.Go(func() error { return x.on(ctx, scenarios.Live) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, x := range made {
		t.table.Locks = append(t.table.Locks, x.all...)
		t.table.Unused = append(t.table.Unused, x.unused()...)
	}
	return nil
}

// on runs the scenarios on a tier, if the lock is to run there.
func (x *columns) on(ctx context.Context, tier scenarios.Tier) error {
	if !slices.Contains(x.tiersOf(x.lock), tier) || x.isNotBuilt() {
		return nil
	}
	run := x.inSimulator
	if tier == scenarios.Live {
		run = x.onLive
	}
	err := run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return interrupted()
	case errors.Is(err, locks.ErrNotBuilt):
		x.notBuilt(tier, err)
		return nil
	}
	return err
}

// isNotBuilt says that the lock cannot be put to the test here.
func (x *columns) isNotBuilt() bool {
	return slices.ContainsFunc(x.all, func(l locktable.Lock) bool { return l.NotBuilt != "" })
}

// unused are the known causes that explain nothing, if all scenarios were run.
func (x *columns) unused() (all []locktable.Unused) {
	if x.filter != "" || x.isNotBuilt() {
		return nil
	}
	for _, k := range x.lock.Unused(x.tiersOf(x.lock), x.explained) {
		all = append(all, locktable.Unused{Lock: x.lock.Name, Cases: k.Cases, Grade: k.Grade, Cause: k.Cause})
	}
	return all
}

// chosen are the locks that are asked for.
func (t *lockTable) chosen() ([]locks.Lock, error) {
	for _, tier := range t.tiers {
		if tier != string(scenarios.Program) && tier != string(scenarios.Live) {
			return nil, &failure{exitUsage, fmt.Errorf("--tier: %q is none of program and live", tier)}
		}
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
		return len(t.only) > 0 && !slices.Contains(t.only, l.Name) || len(t.tiersOf(&l)) == 0
	}), nil
}

// inSimulator runs the scenarios on a lock in the simulator, with each of its settings.
func (c *columns) inSimulator(ctx context.Context) error {
	file := c.program + ".wasm"
	if err := c.lock.Compile(ctx, file); err != nil {
		return err
	}
	for _, s := range c.lock.Settings {
		p, err := programs.Load(file, strings.Fields(s.Args), cacheDir(c.noCache))
		if err != nil {
			return &failure{exitUsage, fmt.Errorf("%s: %w", c.lock.Name, err)}
		}
		x := c.column(scenarios.Program, s, &p.About, []string{c.lock.Name + ".wasm"})
		x.foreign = p.Foreign()
		err = x.simulate(ctx)
		_ = p.Close() // it frees memory
		if err != nil {
			return wrap(err)
		}
		x.done()
	}
	return nil
}

// simulate makes the runs in the simulator.
func (x *column) simulate(ctx context.Context) error {
	fit := x.fit()
	bar := newTicker(x.cmd.ErrOrStderr(), len(fit))
	results, err := verdict.Suite(ctx, fit, []scenarios.Tier{scenarios.Program}, nil, scenarios.Options{Foreign: x.foreign},
		func(int, time.Duration) { bar.tick() })
	bar.done()
	if err != nil {
		return err
	}
	for _, r := range results {
		if err := x.note(r); err != nil {
			return err
		}
	}
	return nil
}

// onLive runs the scenarios on a lock on tier live, with each of its settings.
func (c *columns) onLive(ctx context.Context) error {
	command, err := c.lock.Native(ctx, c.program)
	if err != nil {
		return err
	}
	shown := shownFrom(command, c.program, ".")
	for _, s := range c.lock.Settings {
		started := append(slices.Clone(command), strings.Fields(s.Args)...)
		about, err := process.Ask(ctx, started)
		if err != nil {
			return fmt.Errorf("%s %w: %w", c.lock.Dir, locks.ErrNotBuilt, err)
		}
		x := c.column(scenarios.Live, s, about, shown)
		fit := x.fit()
		tick, done := c.ticker(len(fit))
		err = runLive(ctx, c.cmd, fit, &lockFlags{command: x.Command, words: started, about: about}, func(r *verdict.Result, _ *lockFlags) error {
			tick()
			return x.note(r)
		}, func(s *scenarios.Scenario, why error) error {
			tick()
			x.leaveOut(s, why)
			return nil
		})
		done()
		if errors.Is(err, live.ErrNoServer) {
			return fmt.Errorf("%s %w: %w", c.lock.Dir, locks.ErrNotBuilt, err)
		}
		if err != nil {
			return err
		}
		x.done()
	}
	return nil
}

// ticker shows how far the runs are, unless others would write over it.
func (c *columns) ticker(total int) (tick, done func()) {
	if c.atOnce > 1 {
		return func() {}, func() {}
	}
	bar := newTicker(c.cmd.ErrOrStderr(), total)
	return bar.tick, bar.done
}

// column is a lock with some settings on a tier.
type column struct {
	*columns
	locktable.Lock
	about   *programs.About
	foreign *scenarios.Foreign // nil on tier live
	began   time.Time
}

func (c *columns) column(tier scenarios.Tier, s locks.Setting, about *programs.About, command []string) *column {
	x := &column{columns: c, about: about, began: time.Now(), Lock: locktable.Lock{Name: c.lock.Name, Settings: s.Title, Tier: tier, Version: about.Version,
		Source: c.lock.Source, Licence: c.lock.Licence, About: c.lock.About, Adapter: c.lock.Adapter}}
	x.Command = strings.TrimSpace(strings.Join(command, " ") + " " + s.Args)
	return x
}

// notBuilt notes that the lock cannot be put to the test here.
func (c *columns) notBuilt(tier scenarios.Tier, err error) {
	fmt.Fprintf(c.cmd.ErrOrStderr(), "redlocksim: %v\n", err)
	x := c.column(tier, c.lock.Settings[0], &programs.About{}, nil)
	x.NotBuilt = err.Error()
	c.all = append(c.all, x.Lock)
}

// fit are the scenarios that apply.
func (x *column) fit() (fit []*scenarios.Scenario) {
	for _, s := range x.found {
		if err := x.about.Unfit(s); err != nil {
			x.leaveOut(s, err)
		} else {
			fit = append(fit, s)
		}
	}
	return fit
}

// add puts a cell where it belongs.
func (x *column) add(s *scenarios.Scenario, c locktable.Cell) {
	c.Lock, c.Version, c.Settings, c.Case, c.Tier = x.Name, x.Version, x.Settings, s.Name, x.Tier
	x.Cells = append(x.Cells, c)
}

// leaveOut notes why a scenario was not run.
func (x *column) leaveOut(s *scenarios.Scenario, why error) {
	x.add(s, locktable.Cell{Verdict: "not run", Grade: []verdict.Grade{verdict.NotApplicable}, Why: []locktable.Why{{Cause: why.Error()}}})
}

// note notes what the table says of a run on any tier. One of which nothing can be told has failed.
func (x *column) note(r *verdict.Result) error {
	var c locktable.Cell
	var failed *search.Failure
	tell := func() error { c, failed = x.tell(r); return nil }
	if err := search.Safely(tell); err != nil {
		r = verdict.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed, Foreign: x.foreign}, err)
		c, failed = x.tell(r)
	}
	x.writing.Lock()
	defer x.writing.Unlock()
	noVerdict := []locktable.Why{{Cause: strings.Join(r.NotTested, "; ")}}
	if r.Lost() {
		noVerdict[0].Cause = r.Problems[0].Text
	}
	if c.Why = x.why(r.Scenario.Name, c.Grade, noVerdict); failed != nil {
		c.Why = noVerdict
		if err := x.failures.Note(*failed, "", x.to.Rules); err != nil {
			return err
		}
	}
	x.add(r.Scenario, c)
	return nil
}

// tell is what the table says of a run, without its place and the causes of its grades, and the run's failure; nil if there is
// none.
func (x *column) tell(r *verdict.Result) (locktable.Cell, *search.Failure) {
	c := locktable.Cell{Verdict: rounded.Text(r.Verdict()), Says: r.Says(), Word: r.Worst(), Grade: r.Grades()}
	c.Repeat = strings.Replace(repeatCommand(r.Scenario.Name, false, r), " --tier live", "", 1) + " --lock " + shell.Quote(x.Command)
	if r.Tier != scenarios.Live { // where each run is another
		c.HistoryHash = r.HistoryHash
	}
	if r.Err == nil {
		return c, nil
	}
	f := search.NewFailure(nil, r.Seed, 0, r.Err)
	f.Command, c.Grade = c.Repeat, []verdict.Grade{}
	return c, &f
}

// why is what is known of the grades of a case; noVerdict of one that does not apply, or whose program failed.
func (x *column) why(name string, grades []verdict.Grade, noVerdict []locktable.Why) (all []locktable.Why) {
	all = []locktable.Why{}
	for _, g := range grades {
		switch g {
		case verdict.AsSound:
		case verdict.NotApplicable, verdict.Failed:
			all = append(all, noVerdict...)
		default:
			why := locktable.Why{Cause: locktable.NoCause}
			if k := x.lock.Why(x.Tier, x.Settings, name, g); k != nil {
				x.explained[k] = true
				why = locktable.Why{Cause: k.Cause, See: k.See, Documented: k.Documented}
			}
			all = append(all, why)
		}
	}
	return all
}

// done adds the column to the table, and says how the lock did.
func (x *column) done() {
	slices.SortStableFunc(x.Cells, func(a, b locktable.Cell) int { return strings.Compare(a.Case, b.Case) })
	x.all = append(x.all, x.Lock)
	var ran []reports.Case
	for i := range x.Cells {
		if c := &x.Cells[i]; c.Repeat != "" {
			ran = append(ran, reports.Case{Grades: c.Grade, Word: string(c.Word), Class: c.Verdict})
		}
	}
	fmt.Fprintf(x.cmd.ErrOrStderr(), "%s %s, %s, on tier %s: %s, %v\n", x.Name, x.Version, x.Settings, x.Tier, reports.Totals(ran), time.Since(x.began).Round(100*time.Millisecond))
}

// write writes the table, files first.
func (t *lockTable) write() error {
	if t.json != "" {
		if err := writeJSON(&t.to, locktable.NewDocument(&t.table), t.json); err != nil {
			return err
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
	code := exitOK
	for i := range t.table.Locks {
		l := &t.table.Locks[i]
		if l.NotBuilt != "" {
			code = exitcode.Worst(code, exitNotTested)
		}
		if slices.ContainsFunc(l.Cells, func(c locktable.Cell) bool { return slices.Contains(c.Grade, verdict.Failed) }) {
			code = exitcode.Worst(code, exitUsage)
		}
	}
	return endingAfter(code, t.failures.Err("", ""))
}
