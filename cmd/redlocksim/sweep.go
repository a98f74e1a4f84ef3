package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/exitcode"
	"redlocksim/reports/heatmap"
	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// sweepHelp has a place for the presets and one for the schedules.
var sweepHelp = `Chart where a lock is safe: at every point of a grid of settings, run the worst
schedules that the budget of assumptions allows and, with --random, random
experiments within it; find the frontier between what breaks and what holds, and
compare it with the formula of the literature.

Presets, the classic pairs, with messages that take no time, in which the
formulas are exact:
%s
An axis is any key of a settings file by its path, with values or exact ranges
from:to:step. --axis replaces the preset's axis of the same path or adds one;
the last axis is the one of the frontier, unless --along names another.
  --axis lock.ttl=1s,2s,5s
  --axis budget.clock-rate=0%%:10%%:0.5%% --axis lock.drift.factor=0%%:20%%:1%%
  --axis nodes.persistence=none,always --axis 'network.latency=1ms,{min: 1ms, max: 9ms}'
The adversary spends the budget: budget.clock-rate is how wrong clocks are,
budget.clock-step how far they jump, budget.restart-delay when nodes come back,
budget.memory-loss how many lose their memory, budget.pause for how long a client
is paused. What a client does about that is lock.guard-time: for how long before
the end of its lease it stops sending effects. Two keys are there only here:
nodes.count, and adversary.pause, a pause other than that of the budget.

Settings that name several resources are attacked on the first of them and, if the
protocol can lock several as one, on all of them as one lock, of which the second
client wants the last; random experiments lock any of them. A point is safe where
all of that holds. As each resource is a lock of its own with the same settings,
the others are as safe as the first.

Faults are placed by events of the run, and every schedule says what it must have
come to. Where it did not, the point is not tested: it is not called safe, and
the reason is given. Formulas are exact where messages take no time. Where they
take some the lock may hold a little longer than the formula says: such a row is
"stricter", and says how much the time of messages explains; what nothing explains
contradicts the formula, as does a lock that breaks where the formula says it holds.

Schedules; without a preset all but timeout:
%s
A file is a sweep file: title, preset, settings, schedules, axes, frontier (a
path), bisect (true or false), random, seed. --scenario sweeps a scenario's own
timeline instead, of which any key can be an axis, too:
timeline[2].fault.kill.restart-after.

--frontier bisects between the ends of the last axis, to the millisecond, the
part in a million, the node. It takes the lock to be monotone along it.

The chart says which steps of the algorithm, faults, moments and rules of the
checker the runs reached, all points together, and which never were. A feature
that the settings of some point turn on and that no run used is a warning; with
--strict it makes the sweep not tested.

An interrupt ends the sweep; what is done so far is printed, and says so.

` + keepsFiles + `

` + exitcode.Help(exitcode.Specifics{exitOK: "the chart is complete, or was interrupted, and no formula is contradicted",
	exitSafety:    "a formula is contradicted: it, or the search, is wrong",
	exitNotTested: "at some points, or with --strict a feature that the settings turn on"})

func newSweep() *cobra.Command {
	var settingsFile, scenarioName, only, along string
	var out chartFiles
	var axes, changes, schedules []string
	var bisect, strict, force bool
	var random, jobs int
	var seed uint64
	cmd := &cobra.Command{
		Use:   "sweep [PRESET|FILE]",
		Short: "Chart over ranges of settings where the lock is safe, and compare with the formulas",
		Long:  fmt.Sprintf(sweepHelp, presetList(), scheduleList()),
		Example: `  redlocksim sweep drift --frontier
  redlocksim sweep restart --axis nodes.persistence=none,always
  redlocksim sweep --axis budget.clock-rate=0%:2%:0.5% --axis lock.drift.factor=0%:5%:0.5%
  redlocksim sweep pause --set lock.protocol=redlock-plain --json pause.json
  redlocksim sweep --scenario 17-clock-jump --axis lock.ttl=5s:20s:1s --csv -`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			bad := func(err error) error { return &failure{exitUsage, err} }
			given := cmd.Flags().Changed
			base, err := sweepBase(settingsFile, scenarioName, only)
			if err != nil {
				return err
			}
			var spec sweep.Spec
			isFile := len(args) == 1 && (filepath.Ext(args[0]) == ".yaml" || filepath.Ext(args[0]) == ".yml")
			switch {
			case isFile && base != nil:
				return bad(errors.New("a sweep file has its settings in it: no --settings or --scenario"))
			case isFile:
				spec, err = sweep.Load(args[0])
			case scenarioName != "" && (len(args) == 1 || len(schedules) > 0):
				return bad(errors.New("--scenario has a timeline of its own: no preset and no --schedule"))
			case scenarioName != "":
				spec = sweep.Spec{Name: scenarioName, Base: *base, Schedules: []sweep.Schedule{sweep.Timeline()}}
			case len(args) == 1:
				spec, err = sweep.Preset(args[0], base)
			default:
				spec, err = sweep.Free(base)
			}
			if err != nil {
				return bad(err)
			}
			if len(schedules) > 0 {
				if spec.Schedules, err = sweep.FindSchedules(schedules...); err != nil {
					return bad(fmt.Errorf("--schedule: %w", err))
				}
			}
			for _, text := range changes {
				setting, err := sweep.ParseSetting(text)
				if err == nil {
					spec.Base, err = spec.Base.With(setting)
				}
				if err == nil {
					_, err = spec.Base.Settings()
				}
				if err != nil {
					return bad(fmt.Errorf("--set %s: %w", text, err))
				}
			}
			first := len(spec.Axes)
			for _, text := range axes {
				a, err := sweep.ParseAxis(text)
				if err != nil {
					return bad(fmt.Errorf("--axis %w", err))
				}
				if first == 0 {
					spec.Axes = append(spec.Axes, a)
				} else {
					spec.Vary(a)
				}
			}
			if along != "" {
				spec.Frontier = along
			}
			if given("frontier") {
				spec.Bisect = bisect
			}
			if given("random") {
				spec.Random = random
			}
			if given("seed") {
				spec.Seed = seed
			}
			spec.Jobs = jobs
			to := newSink(cmd, force, append(args, settingsFile, scenarioName)...)
			if err := to.check(out.targets()...); err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			chart, err := sweep.Run(ctx, spec)
			if errors.As(err, new(*sweep.SpecError)) {
				return bad(err)
			}
			if err != nil {
				return wrap(err)
			}
			if err := out.write(cmd, &to, chart); err != nil {
				return err
			}
			return chartVerdict(cmd, chart, strict)
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&axes, "axis", nil, "an axis, PATH=VALUE,… or PATH=FROM:TO:STEP; several times for several")
	flags.StringArrayVar(&changes, "set", nil, "a setting at all points, PATH=VALUE; several times for several")
	flags.StringVar(&settingsFile, "settings", "", "a settings file, or a scenario file of which only the settings count")
	flags.StringVar(&scenarioName, "scenario", "", "an embedded scenario or a scenario file, to sweep with its own timeline")
	flags.StringVar(&only, "case", "", "with --scenario: the case of this name")
	flags.StringSliceVar(&schedules, "schedule", nil, "only these schedules")
	flags.BoolVar(&bisect, "frontier", false, "look for the frontier alone, by bisection")
	flags.StringVar(&along, "along", "", "the path of the frontier's axis; the last one unless given")
	flags.IntVar(&random, "random", 0, "how many random experiments to run at each point")
	flags.Uint64Var(&seed, "seed", 0, "the seed of the random experiments")
	flags.IntVar(&jobs, "jobs", 0, "how many points to run at a time; one a core unless given. It changes no result")
	addStrict(flags, &strict)
	addForce(flags, &force)
	out.flags(flags)
	return cmd
}

// chartVerdict is how the command ends.
func chartVerdict(cmd *cobra.Command, c *sweep.Chart, strict bool) error {
	code := warnOfUnused(cmd, &c.Tally, strict)
	if c.Contradicted() > 0 {
		code = exitcode.Worst(code, exitSafety)
	}
	if untested, _ := c.Untested(); untested > 0 {
		code = exitcode.Worst(code, exitNotTested)
	}
	return ending(code)
}

func presetList() string {
	var b strings.Builder
	names, texts := sweep.Presets()
	for i, name := range names {
		fmt.Fprintf(&b, "  %-12s %s\n", name, texts[i])
	}
	return b.String()
}

func scheduleList() string {
	var b strings.Builder
	for _, s := range sweep.Schedules() {
		fmt.Fprintf(&b, "  %s: %s\n", s.Name, s.Text)
		for _, k := range s.Knobs {
			fmt.Fprintf(&b, "      %s  %s\n", k.Path, k.Text)
		}
	}
	return b.String()
}

// sweepBase is the settings or the scenario that flags name; nil if they name none.
func sweepBase(settingsFile, scenarioName, only string) (*sweep.Base, error) {
	switch {
	case settingsFile != "" && scenarioName != "":
		return nil, &failure{exitUsage, errors.New("--settings and --scenario exclude each other")}
	case settingsFile != "":
		s, err := scenarios.LoadSettings(settingsFile)
		if err != nil {
			return nil, &failure{exitUsage, err}
		}
		return pointsOf(sweep.SettingsOf(s))
	case scenarioName != "":
		found, _, err := find(scenarioName)
		if err == nil && only != "" {
			found, err = pick(found, only)
		}
		if err != nil {
			return nil, err
		}
		if len(found) > 1 {
			return nil, &failure{exitUsage, fmt.Errorf("--scenario: %s has %d cases, choose one with --case", scenarioName, len(found))}
		}
		return pointsOf(sweep.Whole(found[0]))
	}
	return nil, nil
}

func pointsOf(b sweep.Base, err error) (*sweep.Base, error) {
	if err != nil {
		return nil, wrap(err)
	}
	return &b, nil
}

// chartFiles are where a chart is written, by path; "-" is standard output.
type chartFiles struct{ csv, json, svg, html string }

func (f *chartFiles) flags(flags *pflag.FlagSet) {
	const to = " to this file; - writes it to standard output, and nothing else"
	flags.StringVar(&f.csv, "csv", "", "write CSV"+to)
	flags.StringVar(&f.json, "json", "", "write JSON"+to)
	flags.StringVar(&f.svg, "svg", "", "draw a map"+to)
	flags.StringVar(&f.html, "html", "", "write a page with the map and its numbers"+to)
}

// targets are the files that were asked for.
func (f *chartFiles) targets() []target {
	return []target{file("--csv", f.csv), file("--json", f.json), file("--svg", f.svg), file("--html", f.html)}
}

// write writes to the files, and as text to standard output unless one of them is that.
func (f *chartFiles) write(cmd *cobra.Command, to *sink, chart *sweep.Chart) error {
	if chart.Partial {
		fmt.Fprintln(cmd.ErrOrStderr(), "redlocksim: interrupted: the chart is partial")
	}
	toStdout := false
	for i, write := range []func(io.Writer) error{
		chart.WriteCSV,
		chart.WriteJSON,
		func(w io.Writer) error { return heatmap.WriteSVG(w, chart) },
		func(w io.Writer) error { return heatmap.WriteHTML(w, chart) },
	} {
		t := f.targets()[i]
		if t.path == "" {
			continue
		}
		toStdout = toStdout || t.path == "-"
		var b bytes.Buffer
		if err := write(&b); errors.Is(err, heatmap.ErrEmpty) {
			return &failure{exitUsage, fmt.Errorf("%s: %w", t.flag, err)}
		} else if err != nil {
			return &failure{exitInternal, err}
		}
		if err := to.put(t, b.Bytes()); err != nil {
			return err
		}
	}
	if toStdout {
		return nil
	}
	if err := chart.WriteText(cmd.OutOrStdout()); err != nil {
		return &failure{exitInternal, err}
	}
	return nil
}
