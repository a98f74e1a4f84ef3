package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

var exploreHelp = `Search for a schedule of faults that breaks the lock, by random experiments.
Lock settings and budget come from a scenario or a settings file, and the worst
schedules that this budget allows are run first. Without a file, each run draws
its own settings (--lock: those of the library). Faults stay within the budget.

Each finding is shrunk and saved in --dir as a scenario file and a page with its
timeline. Other machines can make the runs with redlocksim work.

--orders explores all orders of messages instead, and --lock searches somebody's
lock. docs/searching.md says what each search does, and how it checks itself.

` + exploreExitHelp

// exploreFlags are the flags of explore: o is for random searches, orders for the other.
type exploreFlags struct {
	o                     random.Options
	orders                ordersOptions
	beyond, strict, force bool
	only, jsonPath        string
	clients               int
	duration              time.Duration
	lock                  lockFlags
	workers               workersFlag
	files                 fileReports[*reports.Job]
}

func newExplore() *cobra.Command {
	e := &exploreFlags{files: fileReportsOf(ciReports)}
	cmd := &cobra.Command{
		Use:               "explore [NAME|FILE]",
		Short:             "Search for a schedule of faults that breaks the lock",
		Long:              exploreHelp,
		ValidArgsFunction: completeNames,
		Example: `  redlocksim explore --seeds 100000
  redlocksim explore my-settings.yaml --for 10m --dir results
  redlocksim explore my-settings.yaml --orders --limit 15000
  redlocksim explore my-settings.yaml --lock redsync.wasm --seeds 500
  redlocksim explore --seeds 5000000 --workers redis://jobs.example.com`,
		Args: cobra.MaximumNArgs(1),
		RunE: e.run,
	}
	f := cmd.Flags()
	f.StringVar(&e.only, "case", "", "take lock, budget or run of this case")
	f.IntVar(&e.o.Runs, "seeds", 0, "number of random experiments (default 10000, of --lock 1000)")
	f.DurationVar(&e.o.For, "for", 0, "how long to search, before what is found is shrunk")
	f.BoolVar(&e.beyond, "beyond", false, "also draw faults that exceed the budget")
	f.StringVar(&e.o.Dir, "dir", "redlocksim-explore", "directory for findings and state, to whose default --beyond adds -beyond")
	f.BoolVar(&e.o.Resume, "resume", false, "continue the search in the directory, or start it")
	f.Uint64Var(&e.o.Seed, "seed", 0, "seed of the whole search")
	f.IntVar(&e.o.Jobs, "jobs", 0, "number of parallel runs (default one per core)")
	f.IntVar(&e.o.Generation, "generation", random.DefaultGeneration, "check itself, shrink and save after this many")
	f.IntVar(&e.clients, "clients", 3, "maximum number of clients, at least 2")
	f.DurationVar(&e.duration, "duration", 30*time.Second, "length of a run in virtual time")
	f.StringVar(&e.jsonPath, "json", "", "write JSON"+toFile)
	e.lock.addFlags(f, false)
	e.workers.add(f)
	addStrict(f, &e.strict)
	addForce(f, &e.force)
	e.files.addFlags(f)
	f.BoolVar(&e.orders.on, "orders", false, "explore all orders of messages in small worlds")
	f.IntVar(&e.orders.late, "late", 1, "how often messages may be late with --orders; -1 for no limit")
	f.IntVar(&e.orders.runs, "limit", 15_000, "maximum number of runs of each world with --orders; 0 for no limit")
	return cmd
}

func (e *exploreFlags) run(cmd *cobra.Command, args []string) error {
	if err := e.orders.checkFlags(cmd); err != nil {
		return err
	}
	if !cmd.Flags().Changed("dir") && e.beyond {
		e.o.Dir += "-beyond" // one search after the other does not meet it
	}
	to, dir := newSink(cmd, e.force, args...), e.o.Dir
	if e.orders.on {
		dir = "" // it keeps nothing
	}
	if err := to.check(append([]target{file("--json", e.jsonPath), {"--dir", dir, search.Writes}}, e.files.targets()...)...); err != nil {
		return err
	}
	if e.lock.isGiven() && e.orders.on {
		return &failure{exitUsage, errors.New("--lock is for random searches: leave --orders out")}
	}
	if err := e.workers.check(e.o.Jobs); err != nil {
		return err
	}
	base, err := e.base(args)
	if err != nil {
		return err
	}
	if e.orders.on {
		e.orders.jobs, e.orders.json, e.orders.strict = e.o.Jobs, e.jsonPath, e.strict
		return runOrders(cmd, &to, base, e.orders)
	}
	space := experiment.NewSpace(base)
	space.Swarm, space.WorstFirst = len(args) == 0, true
	if e.lock.isGiven() {
		if err := e.lock.loadWasm(cmd); err != nil {
			return err
		}
		defer e.lock.close()
		space.Swarm, space.Own, space.Foreign = false, true, e.lock.foreign()
		if !cmd.Flags().Changed("generation") {
			e.o.Generation = random.ForeignGeneration
		}
	}
	return e.random(cmd, &to, space)
}

// base is the settings that a search starts from.
func (e *exploreFlags) base(args []string) (*scenarios.Scenario, error) {
	switch {
	case len(args) == 0 && e.only != "":
		return nil, &failure{exitUsage, errors.New("--case needs a scenario with cases")}
	case len(args) == 0:
		return experiment.DefaultBase(), nil
	}
	if _, err := os.Stat(args[0]); err == nil && e.only == "" {
		base, err := scenarios.LoadSettings(args[0])
		if err != nil {
			return nil, &failure{exitUsage, err}
		}
		return base, nil
	}
	s, _, err := findOne(args[0], e.only)
	if err != nil {
		return nil, err
	}
	return s.Settings(), nil
}

// random makes a random search, and tells what it found.
func (e *exploreFlags) random(cmd *cobra.Command, to *sink, space experiment.Space) error {
	space.Beyond, space.Clients, space.Duration = e.beyond, e.clients, e.duration
	if err := checkSpace(&e.o, space.Foreign != nil); err != nil {
		return err
	}
	e.o.Rules = to.Rules
	pool, err := e.workers.open(cmd, space.Foreign)
	if err != nil {
		return err
	}
	if pool != nil {
		defer pool.Close()
		e.o.Elsewhere = pool
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	if e.o.Resume {
		// A search that was killed early has left nothing, and is resumed like any other.
		if _, err := os.Stat(filepath.Join(e.o.Dir, search.CheckpointFile)); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s holds no search to resume: this one starts from the beginning\n", e.o.Dir)
		}
	}
	start := time.Now()
	e.o.With = e.lock.repeat("")
	summary, err := e.search(ctx, cmd.ErrOrStderr(), space)
	if summary == nil {
		return searchError(err)
	}
	searched := &reports.Searched{Summary: summary, Dir: e.o.Dir, Seed: e.o.Seed, Took: time.Since(start), Foreign: e.lock.foreign(), With: e.o.With}
	if werr := writeSearch(cmd, to, searched, e.jsonPath, &e.files); werr != nil && err == nil {
		err = werr
	}
	if n := summary.Unfinished; n > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %d more runs broke the lock in the unfinished last generation, which is not counted; those that no finding explains are in %s, not shrunk\n",
			n, filepath.Join(e.o.Dir, search.RawPattern))
	}
	if ctx.Err() != nil && err == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: stopped early; run the same command with --resume to continue\n")
	}
	return searchVerdict(cmd, summary, e.strict, err)
}

// search makes the runs, shows on a terminal how far it is, and says how fast it went.
func (e *exploreFlags) search(ctx context.Context, w io.Writer, space experiment.Space) (*random.Summary, error) {
	start, before, after := time.Now(), -1, 0
	bar := progress(w, e.o.Runs)
	e.o.Progress = func(s *random.Summary) {
		if before < 0 {
			before = max(0, s.Runs-e.o.Generation)
		}
		after = s.Runs
		if bar != nil {
			bar.Describe(reports.SearchProgress(s, before, time.Since(start)))
			_ = bar.Set(s.Runs) // it is only a picture
		}
	}
	summary, err := random.Explore(ctx, space, e.o)
	if bar != nil {
		_ = bar.Clear()
	}
	if after > 0 {
		speed(w, after-before, time.Since(start))
	}
	return summary, err
}

var exploreExitHelp = exitcode.Help(exitcode.Specifics{
	exitOK:        "no violation was found",
	exitSafety:    "a violation was found: within the budget, one that no fault excuses, or with --beyond any",
	exitLiveness:  "nothing but findings of liveness",
	exitRepeat:    "",
	exitNotTested: "nothing was run; with --orders, no run tested anything; with --strict, the settings turn on a feature that no run used",
	exitInternal:  "also if the known-broken lock was not caught, or a run was not the same on tier wire",
})

func checkSpace(o *random.Options, foreign bool) error {
	usage := func(format string, args ...any) error {
		return &failure{exitUsage, fmt.Errorf(format, args...)}
	}
	switch {
	case o.Runs > 0 && o.For > 0:
		return usage("--seeds and --for: only one of them can be given")
	case o.Dir == "":
		return usage("--dir: must not be empty")
	}
	if o.Runs == 0 && o.For == 0 {
		o.Runs = 10_000
		if foreign {
			o.Runs = 1000
		}
	}
	return nil
}

// writeSearch writes what a search found: pages beside the files of the findings, reports, and for people.
func writeSearch(cmd *cobra.Command, to *sink, s *reports.Searched, jsonPath string, files *fileReports[*reports.Job]) error {
	if err := drawFindings(to, s); err != nil {
		return err
	}
	if jsonPath != "" {
		if err := writeJSON(to, s.Summary, jsonPath); err != nil {
			return err
		}
	}
	cases, err := reports.SearchCases(s)
	if err != nil {
		return wrap(err)
	}
	var text bytes.Buffer
	if err := reports.Search(&text, s); err != nil {
		return wrap(err)
	}
	if err := files.write(to, &reports.Job{Name: "redlocksim explore", Cases: cases, Took: s.Took, Search: text.String()}); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if jsonPath == "-" || files.takeStdout() {
		out = cmd.ErrOrStderr()
	} else if _, err := text.WriteTo(out); err != nil {
		return wrap(err)
	}
	return annotate(out, cases)
}

// searchVerdict is how the command ends.
func searchVerdict(cmd *cobra.Command, s *random.Summary, strict bool, err error) error {
	if err != nil {
		return searchError(err)
	}
	code := warnOfUnused(cmd, &s.Tally, strict)
	if s.Runs == 0 { // it was interrupted before
		code = exitcode.Worst(code, exitNotTested)
	}
	if s.Violations > 0 || s.Unfinished > 0 {
		code = exitcode.Worst(code, findingsCode(s.Findings, s.Unshrunk+s.Unfinished))
	}
	return ending(code)
}
