package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/systematic"
)

// systematicOptions are the flags of the two systematic searches.
type systematicOptions struct {
	seed   uint64
	beyond bool   // beyond the budget, too
	runs   int    // the limit on placements, or on the runs of each small world; 0: none
	late   int    // how often time may go on while messages are under way; negative: without a limit
	jobs   int    // 0: one a core
	dir    string // for findings; empty: they are not kept
	json   string // the file for the JSON form; "-" is standard output, empty none
	strict bool   // a feature that is on and was not used makes the search not tested
}

// runSystematic places every fault at every step of the base's run, and prints what came of it.
func runSystematic(cmd *cobra.Command, to *sink, base *scenarios.Scenario, o systematicOptions) error {
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	start := time.Now()
	b, err := systematic.NewBase(base, o.seed, o.beyond)
	if err != nil {
		return wrap(err)
	}
	so := systematic.Options{Beyond: o.beyond, Runs: o.runs, Jobs: o.jobs, Dir: o.dir, Rules: to.Rules}
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
	if werr := reports.Placements(out, s, o.dir, o.seed); werr != nil && err == nil {
		err = wrap(werr)
	}
	if err == nil {
		err = jerr
	}
	speed(cmd.ErrOrStderr(), int(s.Placements.Covered), "placements", time.Since(start))
	if ctx.Err() != nil {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: stopped early")
	}
	return placementsVerdict(cmd, s, base.Expect.Findings, o.strict, err)
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

// placementsVerdict is how the command ends. What the base shows by itself counts, too, but for what it is expected to.
func placementsVerdict(cmd *cobra.Command, s *systematic.Summary, expected scenarios.Findings, strict bool, err error) error {
	if err != nil {
		return searchError(err)
	}
	code := warnOfUnused(cmd, &s.Tally, strict)
	found, own := slices.Clone(s.Findings), scenarios.Findings(nil)
	for _, k := range s.Base {
		if !slices.Contains(expected, k) {
			found, own = append(found, search.Finding{Kind: k}), append(own, k)
		}
	}
	if own != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "redlocksim: with nothing placed the run already shows what it is not expected to: %s; it was searched for other kinds only\n", own.Says())
	}
	if len(found) > 0 || s.Unshrunk > 0 {
		code = exitcode.Worst(code, findingsCode(found, s.Unshrunk))
	}
	if s.Placements.Covered > 0 && s.Placements.Tested() == 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return ending(code)
}

// speed says how fast it went. It is no part of the report, which is the same every time.
func speed(w io.Writer, runs int, what string, took time.Duration) {
	fmt.Fprintf(w, "redlocksim: %d %s in %v, %.0f a second\n", runs, what, took.Round(time.Millisecond), float64(runs)/took.Seconds())
}
