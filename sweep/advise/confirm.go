package advise

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/adversary"
	"redlocksim/internal/quorum"
	"redlocksim/scenarios"
	"redlocksim/sim/redis"
	"redlocksim/sweep"
)

// ErrNotConfirmed: the simulator breaks the lock with settings that the formulas give. It is a defective formula, or a
// defective simulator.
var ErrNotConfirmed = errors.New("advise: the simulator does not confirm the formula")

// ErrNotTested: an attack did not take place, so that it confirms nothing.
var ErrNotTested = errors.New("advise: not tested")

// side is what is to be confirmed of a setting: that it holds, and where below it breaks.
type side struct {
	setting, value, formula string
	schedule, path          string
	lowest, highest         string
	changes                 []sweep.Setting
	network                 bool // with the network as it is, not with messages that take no time
	note                    string
}

// confirm has the simulator attack each setting at its value and below.
func (a *Advice) confirm(ctx context.Context, k Known) error {
	instant, err := a.instant()
	if err != nil {
		return err
	}
	asKnown, err := sweep.SettingsOf(a.Settings)
	if err != nil {
		return err
	}
	for _, s := range a.sides(k) {
		base := instant
		if s.network {
			base = asKnown
		}
		v := Value{Setting: s.setting, Value: s.value, Formula: s.formula, Schedule: s.schedule, Path: s.path, Note: s.note}
		if s.path != "" {
			row, cells, err := a.edge(ctx, base, s.schedule, s.path, s.lowest, s.highest, s.changes...)
			switch {
			case err != nil:
				return err
			case row.Safe == "":
				return fmt.Errorf("%w: %s %s, schedule %s", ErrNotConfirmed, s.setting, s.value, s.schedule)
			case row.Agrees == sweep.Disagrees:
				return fmt.Errorf("%w: %s: %s holds, %s breaks, the formula gives %s", ErrNotConfirmed, s.setting, orNothing(row.Safe), orNothing(row.Broken), row.Formula)
			}
			v.Holds, v.Breaks = row.Safe, row.Broken
			for _, c := range cells {
				for _, b := range c.Breaches {
					v.What = b.What
				}
			}
			if v.Breaks == "" && v.Note == "" {
				v.Note = "there is no smaller value to try"
			}
		}
		a.Values = append(a.Values, v)
	}
	return nil
}

func (a *Advice) sides(k Known) []side {
	lock := &a.Settings.Lock
	n, q := len(a.Settings.Nodes.Names), a.library().Quorum
	text := time.Duration.String
	drift := []side{{setting: "drift factor", value: a.library().Drift.Factor.String(), formula: "1 − (1−ρ)/(1+ρ), rounded up to a millionth",
		schedule: "clocks", path: "lock.drift.factor", lowest: "0%", highest: a.library().Drift.Factor.String()}}
	if k.ClockStep > 0 {
		drift = append(drift, side{setting: "drift constant", value: text(a.library().Drift.Constant), formula: "clock step × (1−ρ)/(1+ρ)",
			schedule: "clocks", path: "lock.drift.constant", lowest: "0s", highest: text(a.library().Drift.Constant)})
	}
	restart := side{setting: "restart delay", value: text(a.RestartDelay), formula: "(TTL − drift allowance) / (1−ρ), counted from the stop",
		schedule: "restart", path: "budget.restart-delay", lowest: "0s", highest: text(a.RestartDelay)}
	switch {
	case a.Settings.Nodes.Persistence == redis.Always:
		restart.formula, restart.note = "none: nodes keep their memory", "with appendfsync always; not after the loss of a disk"
	case !a.forgetful():
		restart.formula, restart.note = "none: a process that is killed keeps its memory", "with appendfsync everysec, and as long as no node loses power; not after the loss of a disk"
	default:
		restart.note = fmt.Sprintf("%v by a clock that may be fast; or the library's restart guard, which needs no delay", a.RestartDelayOnClock)
	}
	timeout := side{setting: "node timeout", value: text(lock.NodeTimeout), formula: "more than the longest round trip × (1+ρ)",
		schedule: "timeout", path: "lock.node-timeout", lowest: "1ms", highest: text(lock.NodeTimeout), network: true}
	if k.NodeTimeout != nil {
		timeout.path, timeout.schedule, timeout.formula, timeout.note = "", "", "as given", "answers that come later count as no vote: see the costs"
	}
	// Messages take no time but the holder's to the resource, which takes the longest. The library's own lead is left out.
	guard := side{setting: "guard time", value: text(a.Guard), formula: "longest pause + longest message",
		schedule: "pause", path: "lock.guard-time", lowest: "0s", highest: text(a.Guard),
		changes: []sweep.Setting{{Path: "lock.protocol", Word: "redlock-plain"}, {Path: "budget.delay", Word: text(k.RTT.Max())}}}
	sides := append(drift, restart)
	if a.Settings.Nodes.Persistence == redis.EverySecond && k.PowerLoss {
		sides = append(sides, side{setting: "after a kill", value: "0s", formula: "none: a process that is killed keeps its memory",
			schedule: "restart", path: "budget.restart-delay", lowest: "0s", highest: "0s", changes: []sweep.Setting{{Path: "budget.no-power-loss", Word: "true"}},
			note: "the restart delay is for nodes that lost power: they lose what was not fsynced, up to a second of it"})
	}
	return append(sides, timeout, a.quorumSide(n, q), guard)
}

func orNothing(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

func (a *Advice) quorumSide(n, q int) side {
	s := side{setting: "quorum", value: fmt.Sprintf("%d of %d", q, n), formula: "⌊(nodes + lost) / 2⌋ + 1", schedule: "memory-loss"}
	switch {
	case q > quorum.Majority(n):
		s.path, s.lowest, s.highest = "lock.quorum", fmt.Sprint(quorum.Majority(n)), fmt.Sprint(q)
	default:
		// The library takes no smaller quorum. What breaks is one node more.
		tolerated := 2*q - n - 1
		s.path, s.lowest, s.highest = "budget.memory-loss", fmt.Sprint(tolerated+1), fmt.Sprint(tolerated)
		s.note = "the library accepts no smaller quorum, so what is varied is how many nodes lose their locks early, as by an eviction"
	}
	return s
}

// limits says what no setting can prevent, and shows it.
func (a *Advice) limits(_ context.Context, k Known) error {
	lock := &a.Settings.Lock
	base, err := a.instant()
	if err != nil {
		return err
	}
	long := sweep.Setting{Path: sweep.ActualPause, Word: (2 * lock.TTL).String()}
	shown := ""
	for _, c := range []struct {
		what    string
		changes []sweep.Setting
	}{
		{"paused for twice the TTL, the holder's write", []sweep.Setting{long}},
		{"with fencing", []sweep.Setting{long, {Path: "lock.fencing", Word: "true"}, {Path: "storage", Word: "fenced"}}},
	} {
		changed, err := base.With(c.changes...)
		if err != nil {
			return err
		}
		settings, err := changed.Settings()
		if err != nil {
			return err
		}
		broken, err := paused(settings)
		if err != nil {
			return err
		}
		if shown != "" {
			shown += "; "
		}
		shown += c.what + ": " + broken.Says()
	}
	a.Limits = []Limit{
		{"a pause or delay between the last check and the arrival of an effect that is longer than the guard time: only a fencing token that the resource checks helps (scenarios 32 and 33; 34 with fencing)", shown},
		{fmt.Sprintf("a node's wall clock that steps forward by more than %v: let nothing set it while the node votes (scenario 17)", k.ClockStep), ""},
	}
	if tolerated := 2*a.library().Quorum - k.Nodes - 1; a.forgetful() {
		a.Limits = append(a.Limits, Limit{fmt.Sprintf("more than %d nodes that come back without their memory before the restart delay is over (scenario 24)", tolerated), ""})
	}
	return nil
}

// paused is what the pause attack breaks.
func paused(s *sweep.Settings) (adversary.Broken, error) {
	schedules, err := sweep.FindSchedules("pause")
	if err != nil {
		return "", err
	}
	out, err := schedules[0].Run(s, scenarios.Options{})
	switch {
	case err != nil:
		return "", err
	case out.NotTested != "":
		return "", fmt.Errorf("%w: schedule pause: %s", ErrNotTested, out.NotTested)
	}
	return out.Broken, nil
}

// edge looks for both sides of a setting.
func (a *Advice) edge(ctx context.Context, base sweep.Base, schedule, path, lowest, value string, changes ...sweep.Setting) (sweep.Row, []sweep.Cell, error) {
	base, err := base.With(changes...)
	if err != nil {
		return sweep.Row{}, nil, err
	}
	ends := lowest + "," + value
	if lowest == value {
		ends = value
	}
	axis, err := sweep.ParseAxis(path + "=" + ends)
	if err != nil {
		return sweep.Row{}, nil, err
	}
	schedules, err := sweep.FindSchedules(schedule)
	if err != nil {
		return sweep.Row{}, nil, err
	}
	chart, err := sweep.Run(ctx, sweep.Spec{Base: base, Axes: []sweep.Axis{axis}, Schedules: schedules, Bisect: lowest != value, Jobs: 1})
	if err != nil {
		return sweep.Row{}, nil, fmt.Errorf("advise: %s: %w", path, err)
	}
	if n, why := chart.Untested(); n > 0 {
		return sweep.Row{}, nil, fmt.Errorf("%w: %s: %s", ErrNotTested, path, why)
	}
	if chart.Partial || len(chart.Frontier) == 0 {
		return sweep.Row{}, nil, context.Canceled
	}
	return chart.Frontier[0], chart.Cells, nil
}
