package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/search"
	"redlocksim/search/attacks"
	"redlocksim/search/sweep"
)

// auditing is an audit under way. What is safe is part of the world of the lines that follow, so that the attacks on those
// use it, too; what is not would break the lock whatever their own value.
type auditing struct {
	ctx     context.Context
	answers *Answers
	foreign *scenarios.Foreign
	world   *scenarios.Scenario
	// safe are the lines that are, and without those that are not.
	safe, without []*line
	// broken: the lock breaks in a calm world.
	broken bool
	// unmended: no fixes are looked for.
	unmended bool
	failed   failed
}

// asks says whether there is anything to ask about a line.
func (x *auditing) asks(l *line) bool {
	itself := protocols.Of[protocols.RedissonSettings](x.answers.Settings.Lock).Watchdog || x.foreign != nil && x.foreign.Renews
	return (l.applies == nil || l.applies(x.answers)) && !(l.extends && (itself || !x.extends()))
}

// extends says whether the lock can be extended.
func (x *auditing) extends() bool {
	if x.foreign != nil {
		return x.foreign.Makes(scenarios.ExtendStep)
	}
	return x.answers.lib.extends != ""
}

// holds has what a line is about be a part of the world.
func (x *auditing) holds(l *line) {
	x.safe = append(x.safe, l)
	if l.lasting != nil {
		l.lasting(x.world, x.answers.Settings)
	}
}

// calm is the settings in a world in which nothing goes wrong.
func calm(s *scenarios.Scenario) *scenarios.Scenario {
	x := *s
	x.Budget.ClockRate, x.Budget.ClockStep, x.Budget.Pause, x.Budget.Suspend = zeroRate, 0, 0, 0
	x.Budget.RestartDelay, x.Budget.MemoryLoss, x.Budget.CounterLoss, x.Budget.NoPowerLoss = nil, 0, 0, true
	return &x
}

// attack runs the schedules of a line with some settings changed.
func (x *auditing) attack(l *line, s *scenarios.Scenario, changes ...sweep.Setting) (*attacked, error) {
	base, err := x.changed(s, changes)
	if err != nil {
		return nil, err
	}
	a := &attacked{}
	if a.settings, err = base.Settings(); err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	if a.schedules, err = sweep.FindSchedules(l.schedules...); err != nil {
		return nil, err
	}
	for _, schedule := range a.schedules {
		out, err := x.run(schedule.Attack, a.settings)
		switch {
		case errors.Is(err, scenarios.ErrTooLong):
			a.missed = cmp.Or(a.missed, err.Error())
			continue
		case err != nil:
			a.missed = cmp.Or(a.missed, x.failed.note(err))
			continue
		case out.Broken != "":
			return &attacked{settings: a.settings, broken: out.Broken, result: out.Result}, nil
		case out.NotTested != "":
			a.missed = cmp.Or(a.missed, out.NotTested)
		}
		if a.result == nil {
			a.result = out.Result
		}
	}
	return a, nil
}

// run makes an attack.
func (x *auditing) run(attack attacks.Attack, s *sweep.Settings) (out attacks.Outcome, err error) {
	err = search.Safely(func() (err error) {
		out, err = attack.Run(s, scenarios.Options{Foreign: x.foreign})
		return err
	})
	return out, err
}

// shown is the run to show of an attack that was made: the one that broke the lock, or else one that took place.
func (x *auditing) shown(a *attacked) (*scenarios.Scenario, error) {
	switch {
	case a.result == nil:
		return nil, nil
	case a.broken != "":
		return a.result.Scenario, nil
	}
	return a.schedules[0].Place(a.settings, scenarios.Options{Foreign: x.foreign})
}

// interrupted says what a call of the lock sends between which no attack of a line comes; empty if there is nothing.
func (x *auditing) interrupted(l *line) (string, error) {
	if l.uninterrupted == nil {
		return "", nil
	}
	pair, err := attacks.Between(&sweep.Settings{Scenario: x.world}, l.uninterrupted, x.extends(), scenarios.Options{Foreign: x.foreign})
	if pair == nil || err != nil {
		return "", err
	}
	return fmt.Sprintf("a call of this lock sends %s and, once that is answered, %s; no attack comes between the two, with a pause of the client or a loss of what it sends", pair[0], pair[1]), nil
}

// errRefused is the error of settings that the protocol does not take.
var errRefused = errors.New("no such settings")

// changed is settings with some changes, and whether the lock is renewed.
func (x *auditing) changed(s *scenarios.Scenario, changes []sweep.Setting) (sweep.Base, error) {
	base, err := sweep.SettingsOf(s)
	if err != nil {
		return base, err
	}
	return base.With(append(slices.Clone(changes), sweep.Setting{Path: sweep.Renews, Word: strconv.FormatBool(x.renews())})...)
}

// renews says whether the lock is renewed while the work goes on.
func (x *auditing) renews() bool {
	if r := x.answers.Renews; r != nil {
		return *r
	}
	return x.answers.lib.renews || x.foreign != nil && x.foreign.Renews
}

// attacked is what an attack came to.
type attacked struct {
	settings  *sweep.Settings
	schedules []sweep.Schedule
	broken    attacks.Broken
	missed    string
	result    *scenarios.Result // nil if none was made
}

func (a *attacked) verdict() Verdict {
	switch {
	case a.broken != "":
		return Unsafe
	case a.missed != "":
		return NotTested
	}
	return Safe
}

// edge is where an attack begins to succeed between two values of a setting: the last value that holds and the first that
// breaks, either of which is empty if all are on one side. why is why not all could be tested.
type edge struct {
	holds, breaks, why string
	what               attacks.Broken // at breaks
	row                sweep.Row
	isReversed         bool // what should be safer breaks, and what was answered holds
}

// frontier looks for the edge of an attack by some schedules between the ends among some values.
func (x *auditing) frontier(names []string, s *scenarios.Scenario, path string, values []string, changes ...sweep.Setting) (e edge, err error) {
	base, err := x.changed(s, changes)
	if err != nil {
		return e, err
	}
	slices.Sort(values) // the same value twice is no axis; its ends are looked for by what they are
	values = slices.Compact(values)
	axis, err := sweep.ParseAxis(path + "=" + strings.Join(values, ","))
	if err != nil {
		return e, err
	}
	schedules, err := sweep.FindSchedules(names...)
	if err != nil {
		return e, err
	}
	chart, err := sweep.Run(x.ctx, sweep.Spec{Base: base, Axes: []sweep.Axis{axis}, Schedules: schedules, Bisect: len(values) > 1, Jobs: 1, Foreign: x.foreign})
	if err != nil {
		return e, err
	}
	for _, f := range chart.Failures.Failures {
		x.failed.include(f)
	}
	switch {
	case chart.Partial || len(chart.Frontier) == 0:
		return e, context.Canceled
	}
	if n, missed := chart.Untested(); n > 0 {
		e.why = missed
	}
	e.row = chart.Frontier[0]
	e.holds, e.breaks = e.row.Safe, e.row.Broken
	for _, c := range chart.Cells {
		for _, b := range c.Breaches {
			e.what = b.What
		}
	}
	return e, nil
}
