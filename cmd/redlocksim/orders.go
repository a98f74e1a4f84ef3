package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/plural"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/search/dpor"
)

// runOrders goes through all orders of messages and timers in small worlds of the base's lock, and prints what came of it.
func runOrders(cmd *cobra.Command, to *sink, base *scenarios.Scenario, o systematicOptions) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	start := time.Now()
	worlds := dpor.Worlds(base)
	if err := dpor.Search(ctx, worlds, o.late, o.runs, o.jobs); err != nil {
		return wrap(err)
	}
	form := reports.NewOrders(worlds, ctx.Err() != nil)
	out, err := o.report(to, form)
	if err != nil {
		return err
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
	speed(cmd.ErrOrStderr(), runs, "runs", time.Since(start))
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
