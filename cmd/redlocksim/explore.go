package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

var exploreHelp = `Search for a schedule of faults that breaks the lock. The search runs random
experiments and concentrates on near misses, in which the lock only just held.
Lock settings and budget come from a scenario or from a settings file, which is
a scenario file with only lock, nodes, network, storage and budget. Without one
the search tests the library's defaults. It draws the workload, the number of
clients and faults within the budget; --beyond also draws faults that exceed it.

Each finding is shrunk and saved in --dir as a scenario file for redlocksim run,
a Go test, and a page with its timeline. --resume continues an interrupted
search, which then finds what it would have found anyway. --shard i/n does one
part of the runs; redlocksim merge combines the parts.

The search checks itself: every thousandth run is repeated and must come out the
same, every 25th is made on tier wire too and must come out the same there, and
every thousand runs it must catch a known-broken lock. If one of these fails,
the search ends with an error.

--systematic draws nothing. It runs the scenario as it is, then injects every
kind of fault at every step of it, or with --depth 2 every two of them. --orders
explores all orders of messages and timers in small worlds of three nodes and
two clients, and reports what it covered. If the settings name several
resources, clients lock any of them, and several as one lock where the protocol
can; faults are injected around the grants of each.

Every search reports which steps of the algorithm, faults, moments and rules of
the checker its runs reached, and which they never reached. A feature that the
settings turn on but no run used is a warning; --strict makes the search count
as not tested.

` + keepsFiles + `

` + exploreExitHelp

// exploreFlags are the flags of explore: o is for random searches, so for the others.
type exploreFlags struct {
	o                     random.Options
	so                    systematicOptions
	beyond, strict, force bool
	shard, jsonPath       string
	clients               int
	duration              time.Duration
	files                 fileReports[ciResults]
}

func newExplore() *cobra.Command {
	e := &exploreFlags{files: fileReportsOf(ciReports)}
	cmd := &cobra.Command{
		Use:   "explore [NAME|FILE]",
		Short: "Search for a schedule of faults that breaks the lock",
		Long:  exploreHelp,
		Example: `  redlocksim explore --seeds 100000
  redlocksim explore my-settings.yaml --for 10m --dir results
  redlocksim explore my-settings.yaml --beyond --seeds 10000
  redlocksim explore --seeds 1000000 --shard 2/8 --dir shard-2
  redlocksim explore 09-contention --systematic --limit 20000
  redlocksim explore my-settings.yaml --orders --limit 15000`,
		Args: cobra.MaximumNArgs(1),
		RunE: e.run,
	}
	f := cmd.Flags()
	f.IntVar(&e.o.Runs, "seeds", 0, "number of experiments (default 10000, or no limit with --for)")
	f.DurationVar(&e.o.For, "for", 0, "how long to search; pending findings are shrunk after that")
	f.BoolVar(&e.beyond, "beyond", false, "also draw faults that exceed the budget")
	f.StringVar(&e.o.Dir, "dir", "", "directory for findings and for the state of the search (default "+searchDir+", followed by -systematic and -beyond if these flags are given)")
	f.BoolVar(&e.o.Resume, "resume", false, "continue the search in the directory, or start it if there is none")
	f.StringVar(&e.shard, "shard", "", "do only this part of the runs, as in 2/8")
	f.Uint64Var(&e.o.Seed, "seed", 0, "seed of the whole search")
	f.IntVar(&e.o.Jobs, "jobs", 0, "number of parallel runs (default one per core); does not change the findings")
	f.IntVar(&e.o.Generation, "generation", random.DefaultGeneration, "choose new near misses to start from after this many runs")
	f.BoolVar(&e.o.Blind, "blind", false, "draw every experiment afresh, ignoring near misses")
	f.IntVar(&e.clients, "clients", 3, "maximum number of clients, at least 2")
	f.DurationVar(&e.duration, "duration", 30*time.Second, "length of a run in virtual time")
	f.StringVar(&e.jsonPath, "json", "", "write the summary as JSON to this file (- for standard output, and nothing else)")
	addStrict(f, &e.strict)
	addForce(f, &e.force)
	e.files.addFlags(f)
	f.Bool(bySystem, false, "inject every fault at every step of the scenario")
	f.IntVar(&e.so.depth, "depth", 1, "how many faults to inject at a time with --systematic, 1 or 2")
	f.Bool(allOrders, false, "explore all orders of messages and timers in small worlds")
	f.IntVar(&e.so.late, "late", 1, "how often messages may be late with --orders; -1 for no limit")
	f.IntVar(&e.so.runs, "limit", 15_000, "maximum number of placements, or of runs of each small world; 0 for no limit")
	return cmd
}

func (e *exploreFlags) run(cmd *cobra.Command, args []string) error {
	asked, err := searchOf(cmd)
	if err != nil {
		return err
	}
	if !cmd.Flags().Changed("dir") {
		e.o.Dir = defaultDir(asked, e.beyond)
	}
	to, dir := newSink(cmd, e.force, args...), e.o.Dir
	if asked == allOrders {
		dir = "" // it keeps nothing
	}
	if err := to.check(append([]target{file("--json", e.jsonPath), {"--dir", dir, search.Writes}}, e.files.targets()...)...); err != nil {
		return err
	}
	e.so.seed, e.so.beyond, e.so.jobs, e.so.dir = e.o.Seed, e.beyond, e.o.Jobs, e.o.Dir
	e.so.json, e.so.strict = e.jsonPath, e.strict
	if asked == bySystem {
		base, err := oneScenario(args)
		if err != nil {
			return err
		}
		return runSystematic(cmd, &to, base, e.so)
	}
	base, err := baseOf(args)
	switch {
	case err != nil:
		return err
	case asked == allOrders:
		return runOrders(cmd, &to, base, e.so)
	}
	return e.random(cmd, &to, base)
}

// random makes a random search, and tells what it found.
func (e *exploreFlags) random(cmd *cobra.Command, to *sink, base *scenarios.Scenario) error {
	space := experiment.NewSpace(base)
	space.Beyond, space.Clients, space.Duration = e.beyond, e.clients, e.duration
	if err := checkSpace(&e.o, e.shard); err != nil {
		return err
	}
	e.o.Rules = to.Rules
	ctx, stop := untilInterrupted(cmd)
	defer stop()
	if e.o.Resume {
		// A search that was killed early has left nothing, and is resumed like any other.
		if _, err := os.Stat(filepath.Join(e.o.Dir, search.CheckpointFile)); errors.Is(err, fs.ErrNotExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: %s holds no search to resume: this one starts from the beginning\n", e.o.Dir)
		}
	}
	start := time.Now()
	summary, err := e.search(ctx, cmd.ErrOrStderr(), space)
	if summary == nil {
		return searchError(err)
	}
	if werr := writeSearch(cmd, to, summary, e.o, time.Since(start), e.jsonPath, &e.files); werr != nil && err == nil {
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
	bar := progress(w, e.o.Runs/max(e.o.Shards, 1))
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
		speed(w, after-before, "runs", time.Since(start))
	}
	return summary, err
}

// atRandom, bySystem and allOrders are the searches that explore makes, by the flag that asks for each.
const (
	atRandom  = ""
	bySystem  = "systematic"
	allOrders = "orders"
)

// searchFlags are the flags that not all searches look at, and those that do.
var searchFlags = []struct {
	name string
	with []string
}{
	{"seeds", []string{atRandom}},
	{"for", []string{atRandom}},
	{"resume", []string{atRandom}},
	{"shard", []string{atRandom}},
	{"generation", []string{atRandom}},
	{"blind", []string{atRandom}},
	{"clients", []string{atRandom}},
	{"duration", []string{atRandom}},
	{"json", []string{atRandom, bySystem, allOrders}},
	{"strict", []string{atRandom, bySystem, allOrders}},
	{"junit", []string{atRandom}},
	{"markdown", []string{atRandom}},
	{"beyond", []string{atRandom, bySystem}},
	{"dir", []string{atRandom, bySystem}},
	{"seed", []string{atRandom, bySystem}},
	{"depth", []string{bySystem}},
	{"limit", []string{bySystem, allOrders}},
	{"late", []string{allOrders}},
}

// searchOf is the search that flags ask for. It is an error if one is given that this search would not look at.
func searchOf(cmd *cobra.Command) (string, error) {
	asked := atRandom
	for _, name := range []string{bySystem, allOrders} {
		if on, _ := cmd.Flags().GetBool(name); on { // there is such a flag
			if asked != atRandom {
				return "", &failure{exitUsage, fmt.Errorf("--%s and --%s: only one of them can be given", asked, name)}
			}
			asked = name
		}
	}
	for _, f := range searchFlags {
		switch {
		case !cmd.Flags().Changed(f.name) || slices.Contains(f.with, asked):
		case asked == atRandom:
			return "", &failure{exitUsage, fmt.Errorf("--%s: only with --%s", f.name, strings.Join(f.with, " or --"))}
		default:
			return "", &failure{exitUsage, fmt.Errorf("--%s and --%s: only one of them can be given", f.name, asked)}
		}
	}
	return asked, nil
}

// searchDir is the directory of a search that names none.
const searchDir = "redlocksim-explore"

// defaultDir is a directory of its own for each kind of search, so that one after the other do not meet.
func defaultDir(asked string, beyond bool) string {
	dir := searchDir
	if asked == bySystem {
		dir += "-systematic"
	}
	if beyond {
		dir += "-beyond"
	}
	return dir
}

// oneScenario is the scenario that the arguments name.
func oneScenario(args []string) (*scenarios.Scenario, error) {
	if len(args) == 0 {
		return nil, &failure{exitUsage, errors.New("--systematic needs a scenario, to inject faults at its steps")}
	}
	found, _, err := find(args[0])
	if err != nil {
		return nil, err
	}
	if len(found) > 1 {
		return nil, &failure{exitUsage, fmt.Errorf("%s has %d cases, choose one, as in %s", args[0], len(found), found[0].Name)}
	}
	return found[0], nil
}

var exploreExitHelp = exitcode.Help(exitcode.Specifics{
	exitOK:        "no violation was found",
	exitSafety:    "a violation was found (with --beyond, also one beyond the budget)",
	exitRepeat:    "",
	exitNotTested: "with --systematic or --orders, no run tested anything; with --strict, the settings turn on a feature that no run used",
	exitInternal:  "also if the known-broken lock was not caught, or a run was not the same on tier wire",
})

// baseOf is the settings that a search starts from.
func baseOf(args []string) (*scenarios.Scenario, error) {
	if len(args) == 0 {
		return experiment.DefaultBase(), nil
	}
	if _, err := os.Stat(args[0]); err == nil {
		base, err := scenarios.LoadSettings(args[0])
		if err != nil {
			return nil, &failure{exitUsage, err}
		}
		return base, nil
	}
	s, err := oneScenario(args)
	if err != nil {
		return nil, err
	}
	return s.Settings(), nil
}

// maxSearchClients bounds the clients of an experiment.
const maxSearchClients = 20

func checkSpace(o *random.Options, shard string) error {
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
	}
	if shard == "" {
		return nil
	}
	part, of, err := parseShard(shard)
	if err != nil {
		return err
	}
	if o.Runs == 0 {
		return usage("--shard needs --seeds: a search limited by --for has no fixed number of runs to divide")
	}
	o.Shard, o.Shards = part, of
	return nil
}

// writeSearch writes what a search found: pages beside the files of the findings, reports, and for people.
func writeSearch(cmd *cobra.Command, to *sink, s *random.Summary, o random.Options, took time.Duration, jsonPath string, files *fileReports[ciResults]) error {
	if err := drawFindings(to, s.Findings, o.Dir); err != nil {
		return err
	}
	if jsonPath != "" {
		if err := writeJSON(to, s, jsonPath); err != nil {
			return err
		}
	}
	cases, err := reports.SearchCases(s, o.Dir, o.Seed, took)
	if err != nil {
		return wrap(err)
	}
	if err := files.write(to, ciResults{"redlocksim explore", cases, took}); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if jsonPath == "-" || files.takeStdout() {
		out = cmd.ErrOrStderr()
	} else if err := reports.Search(out, s, o.Dir); err != nil {
		return &failure{exitInternal, err}
	}
	return annotate(out, cases)
}

// searchVerdict is how the command ends.
func searchVerdict(cmd *cobra.Command, s *random.Summary, strict bool, err error) error {
	if err != nil {
		return searchError(err)
	}
	code := warnOfUnused(cmd, &s.Tally, strict)
	if s.Violations > 0 || s.Unfinished > 0 {
		code = exitcode.Worst(code, exitSafety)
	}
	return ending(code)
}

func newMerge() *cobra.Command {
	var dir, jsonPath string
	files := fileReportsOf(ciReports)
	var strict, force bool
	cmd := &cobra.Command{
		Use:   "merge DIR…",
		Short: "Merge the shards of a search",
		Long: `Merge the results of all shards of one search. Each DIR is the directory of a
shard that has finished its runs. The findings are copied to a new directory.

` + keepsFiles + `

` + exploreExitHelp,
		Example: `  redlocksim merge shard-1 shard-2 shard-3 --dir results`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			to := newSink(cmd, force, args...)
			if err := to.check(append([]target{file("--json", jsonPath), {"--dir", dir, search.Writes}}, files.targets()...)...); err != nil {
				return err
			}
			start := time.Now()
			summary, err := random.Merge(dir, to.Rules, args...)
			if err != nil {
				return searchError(err)
			}
			o := random.Options{Dir: dir}
			return searchVerdict(cmd, summary, strict, writeSearch(cmd, &to, summary, o, time.Since(start), jsonPath, &files))
		},
	}
	cmd.Flags().StringVar(&dir, "dir", searchDir, "new directory for the findings of all shards")
	cmd.Flags().StringVar(&jsonPath, "json", "", "write the summary as JSON to this file (- for standard output, and nothing else)")
	addStrict(cmd.Flags(), &strict)
	addForce(cmd.Flags(), &force)
	files.addFlags(cmd.Flags())
	return cmd
}
