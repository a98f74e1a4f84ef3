package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/plural"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/search/dpor"
)

// ordersOptions are the flags of the search through all orders.
type ordersOptions struct {
	on     bool
	runs   int    // the limit on the runs of each small world; 0: none
	late   int    // how often time may go on while messages are under way; negative: without a limit
	jobs   int    // 0: one a core
	json   string // the file for the JSON form; "-" is standard output, empty none
	strict bool   // a feature that is on and was not used makes the search not tested
}

// checkFlags is the error of a flag that only the other search looks at.
func (o *ordersOptions) checkFlags(cmd *cobra.Command) error {
	others, wrong := []string{"limit", "late"}, "--%s: only with --orders"
	if o.on {
		others = []string{"seeds", "for", "resume", "generation", "clients", "duration", "workers", "junit", "markdown", "beyond", "dir", "seed"}
		wrong = "--%s and --orders: only one of them can be given"
	}
	for _, name := range others {
		if cmd.Flags().Changed(name) {
			return &failure{exitUsage, fmt.Errorf(wrong, name)}
		}
	}
	return nil
}

// runOrders goes through all orders of messages and timers in small worlds of the base's lock, and prints what came of it.
func runOrders(cmd *cobra.Command, to *sink, base *scenarios.Scenario, o ordersOptions) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	start := time.Now()
	worlds := dpor.Worlds(base)
	if err := dpor.Search(ctx, worlds, o.late, o.runs, o.jobs); err != nil {
		return wrap(err)
	}
	form := reports.NewOrders(worlds, ctx.Err() != nil)
	out := to.stdout
	if o.json != "" {
		if err := writeJSON(to, form, o.json); err != nil {
			return err
		}
		if o.json == "-" {
			out = io.Discard
		}
	}
	if err := reports.WriteOrders(out, worlds); err != nil {
		return wrap(err)
	}
	runs, safety, liveness, tested := 0, 0, 0, 0
	var failed []error
	for _, world := range worlds {
		if world.Failed != nil {
			failed = append(failed, fmt.Errorf("%s, %s: %w", world.Name, world.Fault, world.Failed))
		}
		tested += world.Tested()
		safety += world.Last().Violations - world.Last().Liveness
		liveness += world.Last().Liveness
		for _, level := range world.Levels {
			runs += level.Runs + level.Cut
		}
	}
	speed(cmd.ErrOrStderr(), runs, time.Since(start))
	if ctx.Err() != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: stopped early")
	}
	if failed != nil {
		return wrap(fmt.Errorf("%s failed, which the same command repeats; the first: %w", plural.Count(len(failed), "world"), failed[0]))
	}
	code := warnOfUnused(cmd, &form.Tally, o.strict)
	if liveness > 0 {
		code = exitcode.Worst(code, exitLiveness)
	}
	if safety > 0 {
		code = exitcode.Worst(code, exitSafety)
	}
	if runs > 0 && tested == 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return ending(code)
}
