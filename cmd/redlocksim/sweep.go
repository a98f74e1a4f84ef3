package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/internal/exitcode"
	"redlocksim/internal/shell"
	"redlocksim/reports/heatmap"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
	"redlocksim/search/sweep"
)

// sweepHelp has a place for the presets.
var sweepHelp = `Map where a lock is safe: at every point of a grid of settings, run the worst
schedules that the budget allows, find the frontier between what breaks and what
holds, and compare it with formulas. docs/searching.md has all that.

Presets vary a classic pair of settings, over those of --settings if given:
%s
An axis is the path of any key of a settings file or, with --scenario, of any
key of the scenario. --lock sweeps somebody's lock (docs/lock-programs.md).

` + exitcode.Help(exitcode.Specifics{exitOK: "no formula is contradicted",
	exitSafety:    "a formula is contradicted, or a lock is weaker than Redlock",
	exitNotTested: "some points"})

// sweepFlags are the flags of sweep.
type sweepFlags struct {
	settingsFile, scenarioName, only string
	axes, changes, schedules         []string
	bisect, strict, force            bool
	jobs                             int
	lock                             lockFlags
	workers                          workersFlag
	out                              fileReports[*sweep.Chart]
}

func newSweep() *cobra.Command {
	s := &sweepFlags{out: fileReportsOf(chartReports)}
	cmd := &cobra.Command{
		Use:   "sweep [PRESET]",
		Short: "Map where the lock is safe over ranges of settings",
		Long:  fmt.Sprintf(sweepHelp, presetList()),
		Example: `  redlocksim sweep drift --frontier
  redlocksim sweep --axis budget.clock-rate=0%:2%:0.5% --axis lock.drift.factor=0%:5%:0.5%
  redlocksim sweep restart --lock redsync.wasm --set lock.preset=redsync --frontier
  redlocksim sweep --scenario 17-clock-jump --axis lock.ttl=5s:20s:1s --json -`,
		Args: cobra.MaximumNArgs(1),
		RunE: s.run,
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&s.axes, "axis", nil, "PATH=VALUE,… or PATH=FROM:TO:STEP; may be repeated")
	flags.StringArrayVar(&s.changes, "set", nil, "a setting at all points, PATH=VALUE; may be repeated")
	flags.StringVar(&s.settingsFile, "settings", "", "a settings file, or a scenario file for its settings")
	flags.StringVar(&s.scenarioName, "scenario", "", "sweep this scenario or file, with its own timeline")
	flags.StringVar(&s.only, "case", "", "the case of --scenario to sweep")
	flags.StringSliceVar(&s.schedules, "schedule", nil, "run only these schedules")
	flags.BoolVar(&s.bisect, "frontier", false, "look only for the frontier, by bisection")
	flags.IntVar(&s.jobs, "jobs", 0, "points to run in parallel (default one per core)")
	s.workers.add(flags)
	s.lock.addFlags(flags, false)
	addStrict(flags, &s.strict)
	addForce(flags, &s.force)
	s.out.addFlags(flags)
	return cmd
}

func (s *sweepFlags) run(cmd *cobra.Command, args []string) error {
	base, err := sweepBase(s.settingsFile, s.scenarioName, s.only)
	if err != nil {
		return err
	}
	spec, err := s.start(base, args)
	if s.settingsFile != "" {
		spec.Yours = base
	}
	if err == nil && s.lock.isGiven() {
		if err := s.load(cmd, &spec); err != nil {
			return err
		}
		defer s.lock.close()
	}
	if err == nil {
		err = s.change(&spec)
	}
	if err == nil && s.lock.isGiven() {
		err = s.unread(&spec)
	}
	if err != nil {
		return &failure{exitUsage, err}
	}
	spec.Bisect = s.bisect
	if err := s.workers.check(s.jobs); err != nil {
		return err
	}
	spec.Jobs, spec.Repeat = s.jobs, s.repeat(args)
	to := newSink(cmd, s.force, append(args, s.settingsFile, s.scenarioName)...)
	if err := to.check(s.out.targets()...); err != nil {
		return err
	}
	chart, err := s.chart(cmd, spec)
	if err != nil {
		return err
	}
	if err := writeChart(cmd, &to, &s.out, chart); err != nil {
		return err
	}
	return chartVerdict(cmd, chart, s.strict)
}

// repeat is the command with what all points have in common.
func (s *sweepFlags) repeat(args []string) string {
	words := append([]string{"redlocksim", "sweep"}, args...)
	for _, of := range []struct{ flag, value string }{
		{"--settings", s.settingsFile}, {"--scenario", s.scenarioName}, {"--case", s.only},
	} {
		if of.value != "" {
			words = append(words, of.flag, of.value)
		}
	}
	for _, change := range s.changes {
		words = append(words, "--set", change)
	}
	for i := range words {
		words[i] = shell.Quote(words[i])
	}
	return s.lock.repeat(strings.Join(words, " "))
}

// chart makes the sweep, here or by workers.
func (s *sweepFlags) chart(cmd *cobra.Command, spec sweep.Spec) (*sweep.Chart, error) {
	pool, err := s.workers.open(cmd, spec.Foreign)
	if err != nil {
		return nil, err
	}
	if pool != nil {
		defer pool.Close()
		spec.Elsewhere = pool
	}
	ctx, stop := untilInterrupted(cmd.Context())
	defer stop()
	chart, err := sweep.Run(ctx, spec)
	if errors.As(err, new(*sweep.SpecError)) {
		return nil, &failure{exitUsage, err}
	}
	return chart, wrap(err)
}

// start is the sweep that the arguments name: a scenario, a preset or none.
func (s *sweepFlags) start(base *variant.File, args []string) (sweep.Spec, error) {
	switch {
	case s.scenarioName != "" && (len(args) == 1 || len(s.schedules) > 0):
		return sweep.Spec{}, errors.New("--scenario has a timeline of its own: a preset or --schedule cannot be given with it")
	case s.scenarioName != "":
		return sweep.Spec{Name: s.scenarioName, Base: *base}, nil
	case len(args) == 1:
		return sweep.Preset(args[0], base)
	}
	return sweep.Free(base)
}

// load has a lock program take the place of the protocol. Of one on a single Redis, the nodes are that one unless something
// else is said.
func (s *sweepFlags) load(cmd *cobra.Command, spec *sweep.Spec) error {
	if err := s.lock.loadWasm(cmd); err != nil {
		return err
	}
	spec.Foreign = s.lock.foreign()
	if !s.lock.about.IsOneNode() {
		return nil
	}
	var err error
	spec.Base, err = spec.Base.With(variant.Setting{Path: "nodes.count", Word: "1"})
	return wrap(err)
}

// unread looks for axes that change nothing, since the lock program does not read them.
func (s *sweepFlags) unread(spec *sweep.Spec) error {
	for _, a := range spec.Axes {
		rest, isLock := strings.CutPrefix(a.Path, "lock.")
		key, _, _ := strings.Cut(rest, ".")
		if isLock && !s.lock.about.Reads(key) && key != "guard-time" && key != "renewals" {
			return fmt.Errorf("axis %s: the lock program does not read it", a.Path)
		}
	}
	return nil
}

// change has the schedules, settings and axes of flags take the place of those of a sweep.
func (s *sweepFlags) change(spec *sweep.Spec) (err error) {
	if len(s.schedules) > 0 {
		if _, err := attacks.Find(s.schedules...); err != nil {
			return fmt.Errorf("--schedule: %w", err)
		}
		spec.Schedules = s.schedules
	}
	for _, text := range s.changes {
		setting, err := variant.ParseSetting(text)
		if err == nil {
			spec.Base, err = spec.Base.With(setting)
		}
		if err == nil {
			_, err = attacks.Read(spec.Base)
		}
		if err != nil {
			return fmt.Errorf("--set %s: %w", text, err)
		}
	}
	first := len(spec.Axes)
	for _, text := range s.axes {
		a, err := sweep.ParseAxis(text)
		if err != nil {
			return fmt.Errorf("--axis %w", err)
		}
		if first == 0 {
			spec.Axes = append(spec.Axes, a)
		} else {
			spec.Vary(a)
		}
	}
	return nil
}

// chartVerdict is how the command ends.
func chartVerdict(cmd *cobra.Command, c *sweep.Chart, strict bool) error {
	code := warnOfUnused(cmd, &c.Tally, strict)
	if c.Count(sweep.Disagrees)+c.Count(sweep.Weaker) > 0 {
		code = exitcode.Worst(code, exitSafety)
	}
	if untested, _ := c.Untested(); untested > 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return endingAfter(code, c.Err("", ""))
}

func presetList() string {
	var b strings.Builder
	names, texts := sweep.Presets()
	for i, name := range names {
		fmt.Fprintf(&b, "  %-12s %s\n", name, texts[i])
	}
	return b.String()
}

// sweepBase is the settings or the scenario that flags name; nil if they name none.
func sweepBase(settingsFile, scenarioName, only string) (*variant.File, error) {
	switch {
	case only != "" && scenarioName == "":
		return nil, &failure{exitUsage, errors.New("--case needs --scenario")}
	case settingsFile != "" && scenarioName != "":
		return nil, &failure{exitUsage, errors.New("--settings and --scenario exclude each other")}
	case settingsFile != "":
		s, err := scenarios.LoadSettings(settingsFile)
		if err != nil {
			return nil, &failure{exitUsage, err}
		}
		return pointsOf(variant.SettingsOf(s))
	case scenarioName != "":
		s, _, err := findOne(scenarioName, only)
		if err != nil {
			return nil, err
		}
		return pointsOf(variant.Of(s))
	}
	return nil, nil
}

func pointsOf(b variant.File, err error) (*variant.File, error) {
	if err != nil {
		return nil, wrap(err)
	}
	return &b, nil
}

// chartReports are the files that sweep writes.
var chartReports = []fileReport[*sweep.Chart]{
	{"json", "write JSON" + toFile, func(w io.Writer, c *sweep.Chart) error { return c.WriteJSON(w) }},
	{"html", "draw a page with a map" + toFile, heatmap.WriteHTML},
}

const toFile = " to this file (- for stdout)"

// writeChart writes a chart to the files, and as text to standard output unless one of them is that.
func writeChart(cmd *cobra.Command, to *sink, out *fileReports[*sweep.Chart], chart *sweep.Chart) error {
	if chart.Partial {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: interrupted: the chart is partial")
	}
	if err := out.write(to, chart); err != nil || out.takeStdout() {
		return err
	}
	return wrap(chart.WriteText(cmd.OutOrStdout()))
}
