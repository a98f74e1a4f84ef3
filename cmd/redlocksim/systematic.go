package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/reports/story"
	"redlocksim/scenarios"
	"redlocksim/search/dpor"
	"redlocksim/search/systematic"
)

// systematicOptions are the flags of the two systematic searches.
type systematicOptions struct {
	seed   uint64
	depth  int    // how many faults are placed
	beyond bool   // beyond the budget, too
	runs   int    // the limit on placements, or on the runs of each small world; 0: none
	late   int    // how often time may go on while messages are under way; negative: without a limit
	jobs   int    // 0: one a core
	dir    string // for findings; empty: they are not kept
	json   string // the file for the JSON form; "-" is standard output, empty none
	strict bool   // a feature that is on and was not used makes the search not tested
}

// untilInterrupted is a context that ends with the command's, or when the user wants it to.
func untilInterrupted(cmd *cobra.Command) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
}

// runSystematic places every fault at every step of the base's run, and prints what came of it.
func runSystematic(cmd *cobra.Command, to *sink, base *scenarios.Scenario, o systematicOptions) error {
	ctx, stop := untilInterrupted(cmd)
	defer stop()
	start := time.Now()
	b, err := systematic.NewBase(base, o.seed, o.beyond)
	if err != nil {
		return wrap(err)
	}
	so := systematic.Options{Depth: o.depth, Beyond: o.beyond, Runs: o.runs, Jobs: o.jobs, Dir: o.dir, Rules: to.Rules}
	if bar := progress(cmd.ErrOrStderr(), 0); bar != nil {
		defer func() { _ = bar.Clear() }() // it is only a picture
		so.Progress = func(p *systematic.Part) {
			bar.Describe(fmt.Sprintf("%d of %d placements", p.Covered, p.Of))
			_ = bar.Set64(int64(p.Covered))
		}
	}
	s, err := systematic.Explore(ctx, b, so)
	if s == nil {
		return searchError(err)
	}
	out, jerr := o.report(to, s)
	if werr := placements(out, s, o); werr != nil && err == nil {
		err = &failure{exitInternal, werr}
	}
	if err == nil {
		err = jerr
	}
	speed(cmd.ErrOrStderr(), int(s.Singles.Covered+s.Pairs.Covered), "placements", time.Since(start))
	if ctx.Err() != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: stopped early")
	}
	return placementsVerdict(cmd, s, o.strict, err)
}

// report writes the JSON form of a result, if it is asked for, and says where the text goes.
func (o systematicOptions) report(to *sink, form any) (io.Writer, error) {
	if o.json == "" {
		return to.stdout, nil
	}
	if o.json == "-" {
		return io.Discard, writeJSON(to, form, o.json)
	}
	return to.stdout, writeJSON(to, form, o.json)
}

// placementsVerdict is how the command ends.
func placementsVerdict(cmd *cobra.Command, s *systematic.Summary, strict bool, err error) error {
	if err != nil {
		return searchError(err)
	}
	code := warnOfUnused(cmd, &s.Tally, strict)
	if len(s.Findings) > 0 || s.Unshrunk > 0 {
		code = exitcode.Worst(code, exitSafety)
	}
	if s.Singles.Covered > 0 && s.Tested() == 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return ending(code)
}

// speed says how fast it went. It is no part of the report, which is the same every time.
func speed(w io.Writer, runs int, what string, took time.Duration) {
	fmt.Fprintf(w, "redlocksim: %d %s in %v, %.0f a second\n", runs, what, took.Round(time.Millisecond), float64(runs)/took.Seconds())
}

func placements(w io.Writer, s *systematic.Summary, o systematicOptions) error {
	fmt.Fprintf(w, "moments    %d\nfaults     %d\n", s.Moments, s.Faults)
	fmt.Fprintf(w, "base       %v\n", s.Base)
	part := func(name string, p *systematic.Part) {
		fmt.Fprintf(w, "%-10s %v; %d made a difference\n", name, p, p.Different)
		if n := p.NotTested; n.Sum() > 0 {
			fmt.Fprintf(w, "           %d not tested: %d whose event never came, %d with nothing to hit, %d in which too little happened\n", n.Sum(), n.Missed, n.NotInjected, n.Idle)
		}
		fmt.Fprintf(w, "           %d violate within the budget, %d beyond it\n", p.Violations, p.Beyond)
	}
	part("singles", &s.Singles)
	if o.depth >= 2 {
		part("pairs", &s.Pairs)
	}
	if err := s.Tally.Write(w); err != nil {
		return err
	}
	if len(s.Findings)+s.Unshrunk == 0 {
		fmt.Fprintln(w, "findings   none")
	}
	for i, f := range s.Findings {
		with := strings.Join(f.Families, ", ")
		if with == "" {
			with = "no fault"
		}
		where := "within the budget"
		if f.Beyond {
			where = "beyond the budget"
		}
		fmt.Fprintf(w, "finding %-2d %s, with %s, %s, %d times\n", i+1, f.Kind, with, where, f.Times)
		if f.File != "" {
			fmt.Fprintf(w, "           redlocksim run %s --seed %d\n", filepath.Join(o.dir, f.File), o.seed)
		}
	}
	if s.Unshrunk > 0 {
		fmt.Fprintf(w, "unshrunk   %d more kinds of violations\n", s.Unshrunk)
	}
	return nil
}

// runOrders goes through all orders of messages and timers in small worlds of the base's lock, and prints what came of it.
func runOrders(cmd *cobra.Command, to *sink, base *scenarios.Scenario, o systematicOptions) error {
	ctx, stop := untilInterrupted(cmd)
	defer stop()
	start := time.Now()
	worlds := dpor.Worlds(base)
	if err := dpor.Search(ctx, worlds, o.late, o.runs, o.jobs); err != nil {
		return wrap(err)
	}
	runs, violations, tested := 0, 0, 0
	form := reports.NewOrders(worlds, ctx.Err() != nil)
	out, err := o.report(to, form)
	if err != nil {
		return err
	}
	for _, world := range worlds {
		describe(out, world)
		tested += world.Tested()
		for _, level := range world.Levels {
			runs += level.Runs + level.Cut
		}
	}
	for _, world := range worlds {
		if n := world.Last().Violations; n > 0 {
			if violations == 0 {
				tell(out, world)
			}
			violations += n
		}
	}
	fmt.Fprintln(out)
	if err := form.Write(out); err != nil {
		return &failure{exitInternal, err}
	}
	speed(cmd.ErrOrStderr(), runs, "runs", time.Since(start))
	if ctx.Err() != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: stopped early")
	}
	code := warnOfUnused(cmd, &form.Tally, o.strict)
	if violations > 0 {
		code = exitcode.Worst(code, exitSafety)
	}
	if runs > 0 && tested == 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return ending(code)
}

// describe says what of a small world was gone through.
func describe(w io.Writer, world *dpor.World) {
	fmt.Fprintf(w, "%s, %s\n", world.Name, world.Fault)
	for late, r := range world.Levels {
		what := "no message is late"
		if late > 0 {
			what = fmt.Sprintf("messages are late at most %s", times(late))
		}
		covered := "all orders in which " + what
		switch {
		case !r.Complete:
			covered = "not all orders in which " + what
		case r.Withheld == 0:
			covered = "all orders"
		}
		fmt.Fprintf(w, "  %s: %d runs (%d more cut short), %d different outcomes, up to %d steps; %d violate within the budget, %d beyond it\n",
			covered, r.Runs, r.Cut, r.Distinct, r.Longest, r.Violations, r.BeyondViolations)
		if r.NotTested > 0 {
			fmt.Fprintf(w, "    %d not tested: nobody was granted the lock\n", r.NotTested)
		}
		if world.Fault != dpor.NoFault && r.Runs > 0 && r.Injected == 0 {
			fmt.Fprintln(w, "    not tested with the fault: it was never injected")
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// tell tells the first order that violates something.
func tell(w io.Writer, world *dpor.World) {
	fmt.Fprintf(w, "\n%s, %s: %v\n\n", world.Name, world.Fault, scenarios.Findings(world.Last().First.Kinds))
	for _, line := range story.Of(world.Last().First.History) {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w, "\nin this order:")
	for i, step := range reports.OrderSteps(world.Last().First.Steps) {
		fmt.Fprintf(w, "%4d  %s\n", i+1, step)
	}
}
