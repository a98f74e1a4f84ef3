package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/shell"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
)

// suite is the suite command: what it is asked for, and what came out.
type suite struct {
	tier, filter, shard string
	lock                lockFlags
	seed                uint64
	asked               *uint64 // the same; nil if no seed was given
	quiet, verbose      bool
	strict, force       bool
	isWhole             bool // the catalogue and nothing else
	json, html          string
	baseline            string
	files               fileReports[*reports.Job]
	before              *reports.Document   // of the baseline; nil if there is none
	compared            *reports.Comparison // with it

	chosen  []chosen
	broken  []chosen // files that cannot be run
	results []*verdict.Result
	cases   []reports.Case
	reached reach.Tally
	unrun   int // the last so many of them were not run because of an interrupt
}

// chosen is a scenario of the suite, with what the user named it by.
type chosen struct {
	*scenarios.Scenario
	arg    string
	isFile bool
	err    error // why a file cannot be run; nil if it can
}

func newSuite() *cobra.Command {
	s := &suite{files: fileReportsOf(ciReports)}
	cmd := &cobra.Command{
		Use:   "suite [NAME|FILE…]",
		Short: "Run all scenarios and check their verdicts",
		Long: `Run scenarios on tiers model and wire, and check each verdict against the one
that the scenario expects. Without arguments all embedded scenarios run. The two
tiers must record the same history, byte for byte. A run that panics or does not
repeat itself has failed; the others go on.

--junit and --markdown write the results for Jenkins, GitLab and the summary
page of a GitHub job, with the story of each unexpected verdict (docs/ci.md).
--shard i/n runs every nth scenario, so that n jobs run all of them. One output
may be "-", standard output; the table is then not printed.

On tier live an interrupt ends the suite and reports the scenarios that ran.

` + exitcode.HelpOnAll(),
		ValidArgsFunction: completeNames,
		Example: `  redlocksim suite
  redlocksim suite --tier model --filter restart
  redlocksim suite our-scenarios/*.yaml --junit results.xml
  redlocksim suite --shard 2/8 --markdown "$GITHUB_STEP_SUMMARY"
  redlocksim suite --filter restart --html pages
  redlocksim suite --json -`,
		RunE: func(cmd *cobra.Command, args []string) error { return s.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&s.tier, "tier", "", "run only this tier: model, wire or live (default model and wire)")
	flags.StringVar(&s.filter, "filter", "", "run only scenarios whose name matches this regular expression")
	flags.StringVar(&s.shard, "shard", "", "run only this part of the scenarios, as in 2/8")
	flags.Uint64Var(&s.seed, "seed", 0, "random seed (default 0, or the seed that a file was recorded with)")
	flags.BoolVarP(&s.quiet, "quiet", "q", false, "print only unexpected verdicts and the totals")
	flags.BoolVarP(&s.verbose, "verbose", "v", false, "print every run, what the runs reached, and the story of each unexpected verdict")
	flags.StringVar(&s.json, "json", "", "write the results as JSON to this file (- for stdout)")
	flags.StringVar(&s.html, "html", "", "write a page with the timeline of each case to this directory, and an index")
	s.lock.addFlags(flags, true)
	flags.StringVar(&s.baseline, "baseline", "", "with --lock: count only what is worse than in this file, written by --json")
	addStrict(flags, &s.strict)
	addForce(flags, &s.force)
	s.files.addFlags(flags)
	cmd.MarkFlagsMutuallyExclusive("quiet", "verbose")
	return cmd
}

func (s *suite) run(cmd *cobra.Command, args []string) error {
	on, err := tiers(s.tier, scenarios.Tiers()...)
	if err != nil {
		return err
	}
	if s.lock.isGiven() {
		if on, err = s.lock.tier(cmd, s.tier); err != nil {
			return err
		}
		defer s.lock.close()
	}
	s.isWhole = len(args) == 0 && s.filter == "" && s.shard == "" && !s.lock.isGiven()
	if err := s.choose(args); err != nil {
		return err
	}
	s.asked = askedSeed(cmd, &s.seed)
	if err := s.readBaseline(on[0]); err != nil {
		return err
	}
	if s.lock.isGiven() {
		s.leaveOutUnfit(on[0])
	}
	to := newSink(cmd, s.force, args...)
	if err := to.check(append([]target{file("--json", s.json), {"--html", s.html, s.pages(on)}}, s.files.targets()...)...); err != nil {
		return err
	}
	start := time.Now()
	if on[0] == scenarios.Live {
		err = suiteOnLive(cmd, s)
	} else {
		err = s.simulate(cmd, on)
	}
	interrupted := errors.Is(err, errInterrupted)
	if err != nil && !interrupted {
		return err
	}
	s.compare(args)
	s.addBroken(on[0])
	if err := s.report(cmd, &to, time.Since(start)); err != nil {
		return err
	}
	if s.html != "" {
		if err := s.drawSuite(cmd, &to); err != nil {
			return err
		}
	}
	code := s.code(cmd)
	switch {
	case interrupted && code == exitOK:
		return err
	case interrupted:
		return &failure{code, errInterrupted}
	case code != exitOK:
		return &failure{code: code}
	}
	return nil
}

// code is the exit code for what came out.
func (s *suite) code(cmd *cobra.Command) exitcode.Code {
	code := exitOK
	for _, r := range s.results {
		code = exitcode.Worst(code, failedCode(r.Err))
	}
	switch {
	case len(s.broken) > 0:
		return exitcode.Worst(code, exitUsage)
	case s.compared != nil:
		return exitcode.Worst(code, comparedCode(s.compared))
	case s.lock.isGiven():
		return exitcode.Worst(code, gradesCode(s.results))
	}
	return exitcode.Worst(code, verdictCode(s.results...), warnOfUnused(cmd, &s.reached, s.strict))
}

// gradesCode is the exit code for runs of somebody's lock. One that does not apply says nothing, unless none does.
func gradesCode(results []*verdict.Result) exitcode.Code {
	code, applied := exitOK, false
	for _, r := range results {
		for _, g := range r.Grades() {
			applied = applied || g != verdict.NotApplicable
			code = exitcode.Worst(code, gradeCode(g))
		}
	}
	if !applied {
		return exitNotTested
	}
	return code
}

// leaveOutUnfit leaves out what says nothing about the lock.
func (s *suite) leaveOutUnfit(on scenarios.Tier) {
	s.chosen = slices.DeleteFunc(s.chosen, func(one chosen) bool {
		err := s.lock.about.Unfit(one.Scenario)
		if err != nil {
			s.cases = append(s.cases, reports.Case{Name: one.Name, Title: one.Title, Tier: string(on), Skipped: err.Error()})
		}
		return err != nil
	})
}

// choose finds what is to be run.
func (s *suite) choose(args []string) error {
	re, err := namePattern(s.filter)
	if err != nil {
		return err
	}
	part, of, err := parseShard(s.shard)
	if err != nil {
		return err
	}
	var all []chosen
	if len(args) == 0 {
		for _, one := range scenarios.Catalogue() {
			all = append(all, chosen{Scenario: one})
		}
	}
	for _, arg := range args {
		found, isFile, err := find(arg)
		switch {
		case err != nil && isFile && len(args) > 1: // the others are run
			all = append(all, chosen{&scenarios.Scenario{Name: arg}, arg, true, err})
		case err != nil:
			return err
		}
		for _, one := range found {
			all = append(all, chosen{one, arg, isFile, nil})
		}
	}
	matching := 0
	for _, one := range all {
		if !re.MatchString(one.Name) {
			continue
		}
		switch {
		case matching%of != part:
		case one.err != nil:
			s.broken = append(s.broken, one)
		default:
			s.chosen = append(s.chosen, one)
		}
		matching++
	}
	if matching == 0 {
		return noMatch(s.filter)
	}
	return nil
}

// scenarios are those chosen, without what they were named by.
func (s *suite) scenarios() []*scenarios.Scenario {
	all := make([]*scenarios.Scenario, len(s.chosen))
	for i, one := range s.chosen {
		all[i] = one.Scenario
	}
	return all
}

// simulate runs the scenarios on tiers of the simulator.
func (s *suite) simulate(cmd *cobra.Command, on []scenarios.Tier) error {
	took := make([]time.Duration, len(s.chosen)*len(on))
	bar := newTicker(cmd.ErrOrStderr(), len(took))
	results, err := verdict.Suite(cmd.Context(), s.scenarios(), on, s.asked, scenarios.Options{Foreign: s.lock.foreign()}, func(i int, t time.Duration) {
		took[i] = t
		bar.tick()
	})
	bar.done()
	if err != nil {
		return wrap(err)
	}
	for i, r := range results {
		s.add(&s.chosen[i/len(on)], r, took[i])
	}
	for i, r := range results {
		if err := s.effects(r); err != nil {
			s.add(&s.chosen[i/len(on)], verdict.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed}, err), 0)
		}
	}
	return nil
}

// effects looks whether kinds of faults made a difference to a run that did to none before.
func (s *suite) effects(r *verdict.Result) error {
	if r.Lost() || r.Tier != scenarios.Model {
		return nil
	}
	for _, kind := range r.Reached().Injected {
		if s.reached.Reached.Reached(reach.Effect, kind) > 0 {
			continue
		}
		is, err := verdict.IsEffective(r.Scenario, r.Seed, kind)
		if err != nil {
			return fmt.Errorf("without %s: %w", kind, err)
		}
		if is {
			s.reached.Reached.AddEffect(kind)
		}
	}
	return nil
}

// suiteOnLive runs the scenarios of a suite on tier live.
func suiteOnLive(cmd *cobra.Command, s *suite) error {
	all := s.scenarios()
	next, start := 0, time.Now()
	bar := newTicker(cmd.ErrOrStderr(), len(all))
	defer bar.done()
	// finish is the scenario that has just been run or skipped, and how long that took.
	finish := func() (*chosen, time.Duration) {
		one, took := &s.chosen[next], time.Since(start)
		next, start = next+1, time.Now()
		bar.tick()
		return one, took
	}
	skip := func(one *chosen, why string) {
		s.cases = append(s.cases, reports.Case{Name: one.Name, Title: one.Title, Tier: string(scenarios.Live), Skipped: why})
	}
	err := runLive(cmd.Context(), cmd, all, &s.lock, func(r *verdict.Result, _ *lockFlags) error {
		one, took := finish()
		s.add(one, r, took)
		return nil
	}, func(_ *scenarios.Scenario, why error) error {
		one, _ := finish()
		skip(one, why.Error())
		return nil
	})
	if errors.Is(err, errInterrupted) {
		for ; next < len(s.chosen); next++ {
			skip(&s.chosen[next], s.chosen[next].Name+": interrupted")
			s.unrun++
		}
	}
	return err
}

// add takes in what came of a run. One of which nothing can be told has failed.
func (s *suite) add(one *chosen, r *verdict.Result, took time.Duration) {
	repeat := s.lock.repeat(repeatCommand(one.arg, one.isFile, r))
	var c reports.Case
	err := search.Safely(func() (err error) {
		if c, err = reports.NewCase(r, repeat, took); err == nil && !r.Lost() {
			run := r.Reached()
			s.reached.TurnOn(r.Scenario.Features()...)
			s.reached.Add(reach.Of(run), run)
		}
		return err
	})
	if err != nil {
		r = verdict.FailedRun(r.Scenario, scenarios.Options{Tier: r.Tier, Seed: r.Seed, Foreign: s.lock.foreign()}, err)
		c, _ = reports.NewCase(r, repeat, took)
	}
	if one.isFile {
		c.File, c.Line = filepath.ToSlash(one.arg), lineOf(one.arg, one.Scenario)
	}
	s.results, s.cases = append(s.results, r), append(s.cases, c)
}

// addBroken reports the files that cannot be run, once, beside what came of the others.
func (s *suite) addBroken(on scenarios.Tier) {
	for _, one := range s.broken {
		s.cases = append(s.cases, reports.Case{Name: one.arg, Title: "a file that cannot be run", Tier: string(on), Verdict: reports.Failed,
			Class: reports.Failed, Problems: []string{one.err.Error()}, Repeat: "redlocksim lint " + shell.Quote(one.arg),
			File: filepath.ToSlash(one.arg), Line: 1})
	}
}

// report writes what came out: files first, then for people.
func (s *suite) report(cmd *cobra.Command, to *sink, took time.Duration) error {
	if s.json != "" {
		d := reports.NewDocument(s.cases, &s.reached)
		if s.lock.isGiven() {
			d.Lock = &reports.Lock{Library: s.lock.about.Library, Version: s.lock.about.Version}
		}
		if err := writeJSON(to, d, s.json); err != nil {
			return err
		}
	}
	counting := s.cases
	if s.compared != nil {
		counting = s.compared.Known(s.cases)
	}
	if err := s.files.write(to, &reports.Job{Name: "redlocksim suite", Cases: counting, Took: took}); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if s.json == "-" || s.files.takeStdout() {
		out = cmd.ErrOrStderr()
		s.tellRefused(out)
	} else {
		if s.lock.isGiven() {
			fmt.Fprintf(out, "%s\n\n", s.lock.heading())
		}
		s.tellRefused(out)
		write := func() error { return reports.Suite(out, s.cases, took, s.quiet, lookOf(out)) }
		if s.isWhole && !s.quiet && !s.verbose {
			write = func() error { return reports.Themes(out, s.cases, took, lookOf(out)) }
		}
		if err := write(); err != nil {
			return wrap(err)
		}
	}
	if s.verbose {
		for _, c := range s.cases {
			if c.Story != "" {
				fmt.Fprintf(out, "\n%s", c.Story)
			}
		}
		fmt.Fprintln(out)
		if err := s.reached.Write(out); err != nil {
			return wrap(err)
		}
		if err := reports.Rules(out, reports.RulesOf(s.cases)); err != nil {
			return wrap(err)
		}
	}
	if s.unrun > 0 {
		fmt.Fprintf(out, "\nThe suite was interrupted with %d to go.\n", s.unrun)
	}
	if s.compared != nil {
		before := fmt.Sprintf("%s (%s %s)", s.baseline, s.before.Lock.Library, s.before.Lock.Version)
		if err := s.compared.Write(out, before, lookOf(out)); err != nil {
			return wrap(err)
		}
	}
	return annotate(out, counting)
}

// tellRefused lists the scenarios that were not run, if there are any. They come before the results: for a lock program there
// are hundreds, and the end of the output is to be its verdict.
func (s *suite) tellRefused(out io.Writer) {
	refused := s.refused()
	if len(refused) == 0 {
		return
	}
	number := "1 scenario was"
	if len(refused) > 1 {
		number = fmt.Sprintf("%d scenarios were", len(refused))
	}
	if s.quiet {
		fmt.Fprintf(out, "%s not run; without --quiet it says why\n\n", number)
		return
	}
	fmt.Fprintf(out, "%s not run:\n", number)
	for _, why := range refused {
		fmt.Fprintf(out, "  %s\n", why)
	}
	fmt.Fprintln(out)
}

// refused is why scenarios were not run, without those that an interrupt left over.
func (s *suite) refused() (why []string) {
	for i := range s.cases[:len(s.cases)-s.unrun] {
		if c := &s.cases[i]; c.Skipped != "" {
			why = append(why, c.Skipped)
		}
	}
	return why
}
