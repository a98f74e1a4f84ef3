package audit

import (
	"context"
	"errors"
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// auditing is an audit under way. What is safe is part of the world of the lines that follow, so that the attacks on those
// use it, too; what is not would break the lock whatever their own value.
type auditing struct {
	ctx     context.Context
	answers *Answers
	foreign *scenarios.Foreign
	world   *scenarios.Scenario
}

// calm is the settings in a world in which nothing goes wrong.
func calm(s *scenarios.Scenario) *scenarios.Scenario {
	x := *s
	x.Budget.ClockRate, x.Budget.ClockStep, x.Budget.Pause, x.Budget.Suspend = zeroRate, 0, 0, 0
	x.Budget.RestartDelay, x.Budget.MemoryLoss, x.Budget.NoPowerLoss = nil, 0, true
	return &x
}

// attack runs the schedule of a line with some settings changed.
func (x *auditing) attack(l *line, s *scenarios.Scenario, changes ...sweep.Setting) (*attacked, error) {
	base, err := changed(s, changes)
	if err != nil {
		return nil, err
	}
	settings, err := base.Settings()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	schedules, err := sweep.FindSchedules(l.schedule)
	if err != nil {
		return nil, err
	}
	o := scenarios.Options{Foreign: x.foreign}
	out, err := schedules[0].Run(settings, o)
	if err != nil {
		return nil, err
	}
	a := &attacked{broken: out.Broken, missed: out.NotTested}
	switch {
	case out.Broken != "":
		a.shown = out.Result.Scenario
	case out.Result != nil:
		a.shown, err = schedules[0].Place(settings, o)
	}
	return a, err
}

// errRefused is the error of settings that the protocol does not take.
var errRefused = errors.New("no such settings")

func changed(s *scenarios.Scenario, changes []sweep.Setting) (sweep.Base, error) {
	base, err := sweep.SettingsOf(s)
	if err != nil {
		return base, err
	}
	return base.With(changes...)
}

// attacked is what an attack came to.
type attacked struct {
	broken, missed string
	shown          *scenarios.Scenario
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

// frontier is where an attack begins to succeed, between two values of a setting: the last value that holds and the first that
// breaks, either of which is empty if all are on one side. why is why not all could be tested.
func (x *auditing) frontier(l *line, s *scenarios.Scenario, path, from, to string, changes ...sweep.Setting) (holds, breaks, why string, err error) {
	base, err := changed(s, changes)
	if err != nil {
		return "", "", "", err
	}
	axis, err := sweep.ParseAxis(path + "=" + from + "," + to)
	if err != nil {
		return "", "", "", err
	}
	schedules, err := sweep.FindSchedules(l.schedule)
	if err != nil {
		return "", "", "", err
	}
	chart, err := sweep.Run(x.ctx, sweep.Spec{Base: base, Axes: []sweep.Axis{axis}, Schedules: schedules, Bisect: true, Jobs: 1, Foreign: x.foreign})
	switch {
	case err != nil:
		return "", "", "", err
	case chart.Partial || len(chart.Frontier) == 0:
		return "", "", "", context.Canceled
	}
	if n, missed := chart.Untested(); n > 0 {
		why = missed
	}
	row := chart.Frontier[0]
	return row.Safe, row.Broken, why, nil
}
