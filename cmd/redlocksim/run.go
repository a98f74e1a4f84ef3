package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/kernel"
)

var runHelp = `Run one scenario, embedded or from a file, and tell what happened: a numbered
story, the verdict, the intervals in which two clients held the lock at once,
and the command that repeats the run. Each run is done twice, and both must come
out the same. A name without a case stands for all cases of the scenario.

--tier live runs it once, on redis-server processes behind fault proxies, five
times as fast. For scenarios about a lock service or a database, in the
project's directory, it builds a lock program and starts etcd or PostgreSQL.
Live runs are not deterministic: --seed and --trace have no effect, and expected
durations are not checked.

--why says why each rule of the checker holds or not, and what would have
prevented the violation: every other value of every setting is tried, and pairs
of them if no single one helps. A remedy must work on five seeds, and on tier
wire. --write saves the scenario with one of them.

--lock runs somebody's lock in the place of the library (docs/lock-programs.md).
It is as expected if it shows no violation that a sound Redlock does not show
under the same faults.

--html and --svg draw the run. "-" is standard output; the report then goes to
standard error.

` + exitcode.HelpOnAll()

// runFlags are the flags of run.
type runFlags struct {
	tier, only         string
	lock               lockFlags
	files              outputs
	seed               uint64
	trace, full, force bool
	why                whyFlags
}

func newRun() *cobra.Command {
	r := &runFlags{files: outputs{fileReports: fileReportsOf(runReports)}}
	cmd := &cobra.Command{
		Use:               "run NAME|FILE",
		Short:             "Run one scenario and tell what happened",
		Long:              runHelp,
		ValidArgsFunction: completeNames,
		Example: `  redlocksim run 17-clock-jump
  redlocksim run my-settings.yaml
  redlocksim run 17-clock-jump --lock my-lock.wasm
  redlocksim run 32-pause-before-write --html pause.html --svg pause.svg
  redlocksim run 24-restart-at-once/one-of-three --seed 7 --why
  redlocksim run ours.yaml --write ours-mended.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: r.run,
	}
	cmd.Flags().StringVar(&r.tier, "tier", "", "model (Redis semantics in Go), wire (go-redis and miniredis) or live (redis-server processes) (default model)")
	r.files.addFlags(cmd.Flags())
	r.lock.addFlags(cmd.Flags(), true)
	cmd.Flags().StringVar(&r.only, "case", "", "run only this case")
	cmd.Flags().Uint64Var(&r.seed, "seed", 0, "random seed (default 0, or the seed that the file was recorded with)")
	cmd.Flags().BoolVar(&r.trace, "trace", false, "print every simulator step first")
	addForce(cmd.Flags(), &r.force)
	r.why.add(cmd.Flags())
	cmd.Flags().BoolVar(&r.full, "full", false, "print the whole story, however long")
	return cmd
}

func (r *runFlags) run(cmd *cobra.Command, args []string) error {
	on, err := tiers(r.tier, scenarios.Model)
	if err != nil {
		return err
	}
	found, isFile, err := findCases(args[0], r.only)
	if err != nil {
		return err
	}
	r.files.sink = newSink(cmd, r.force, args...)
	if err := r.files.check(args[0], found); err != nil {
		return err
	}
	if r.lock.isGiven() {
		if on, err = r.lock.tier(cmd, r.tier); err != nil {
			return err
		}
		defer r.lock.close()
		for _, s := range found {
			if err := r.lock.about.Unfit(s); err != nil {
				return &failure{exitNotTested, err}
			}
		}
	}
	r.why.asked = r.why.asked || cmd.Flags().Changed("write")
	if err := r.why.check(on[0]); err != nil {
		return err
	}
	if on[0] == scenarios.Live {
		return r.onLive(cmd, found, args[0], isFile)
	}
	out := r.files.report(cmd)
	var results []*verdict.Result
	for i, s := range found {
		if i > 0 {
			fmt.Fprintln(out)
		}
		if r.lock.isGiven() {
			fmt.Fprintf(out, "%s\n\n", r.lock.heading())
		}
		result, err := r.simulate(cmd, s, on[0])
		if err != nil {
			return err
		}
		results = append(results, result)
		if err := r.tell(cmd, result, args[0], isFile); err != nil {
			return err
		}
	}
	return ending(verdictCode(results...))
}

// onLive is the run command on tier live.
func (r *runFlags) onLive(cmd *cobra.Command, found []*scenarios.Scenario, arg string, isFile bool) error {
	var results []*verdict.Result
	err := runLive(cmd.Context(), cmd, found, &r.lock, func(result *verdict.Result, ran *lockFlags) error {
		if result.Err != nil {
			return wrap(result.Err)
		}
		if len(results) > 0 {
			fmt.Fprintln(r.files.report(cmd))
		}
		if ran.isGiven() {
			fmt.Fprintf(r.files.report(cmd), "%s\n\n", ran.heading())
		}
		results = append(results, result)
		return r.tell(cmd, result, arg, isFile)
	}, func(_ *scenarios.Scenario, why error) error {
		return &failure{exitUsage, why}
	})
	if err != nil {
		return err
	}
	return ending(verdictCode(results...))
}

// tell writes what there is to say about a run, and draws it where that is asked for.
func (r *runFlags) tell(cmd *cobra.Command, result *verdict.Result, arg string, isFile bool) error {
	out := r.files.report(cmd)
	repeat := r.lock.repeat(repeatCommand(arg, isFile, result))
	if err := reports.Run(fitted(out), result, repeat, r.full); err != nil {
		return wrap(err)
	}
	x, err := r.why.explain(cmd, result)
	if err != nil {
		return err
	}
	if x != nil {
		fmt.Fprintln(out)
		if err := reports.Why(fitted(out), x, repeat, lookOf(out)); err != nil {
			return wrap(err)
		}
	}
	return r.files.write(&judged{Result: result, repeat: repeat, why: x, variant: r.why.variant})
}

// askedSeed is what --seed says; nil if it was not given.
func askedSeed(cmd *cobra.Command, seed *uint64) *uint64 {
	if !cmd.Flags().Changed("seed") {
		return nil
	}
	return seed
}

// simulate runs a scenario twice, and prints the steps of the simulator if they are asked for.
func (r *runFlags) simulate(cmd *cobra.Command, s *scenarios.Scenario, on scenarios.Tier) (*verdict.Result, error) {
	o := scenarios.Options{Tier: on, Seed: s.Seed(askedSeed(cmd, &r.seed)), Foreign: r.lock.foreign()}
	out := r.files.report(cmd)
	if r.trace {
		o.Trace = func(t kernel.TraceStep) { fmt.Fprintln(out, t) }
	}
	result, err := verdict.Verify(s, o)
	if err != nil {
		return nil, wrap(err)
	}
	if r.trace {
		fmt.Fprintln(out)
	}
	return result, nil
}
