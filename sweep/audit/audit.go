package audit

import (
	"context"
	"errors"
	"fmt"

	"redlocksim/internal/exitcode"
	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// Verdict says whether an assumption holds.
type Verdict string

// The verdicts.
const (
	// Safe: the worst schedule at what was answered does not break the lock.
	Safe Verdict = "SAFE"
	// Unsafe: it does.
	Unsafe Verdict = "UNSAFE"
	// NotTested: the schedule did not come to its attack.
	NotTested Verdict = "NOT TESTED"
)

// Assumption is something that the lock rests on, and what the simulator says of it.
type Assumption struct {
	Name    string  `json:"name"`
	Verdict Verdict `json:"verdict"`
	// Yours is what was answered, and Limit the last value with which the lock holds: "any" if it holds with all, "none" if it
	// breaks with all.
	Yours string `json:"yours"`
	Limit string `json:"limit"`
	// Text says it in a sentence, with the number that decides.
	Text string `json:"text"`
	// Fix is what mends it, each of which was tried, the smallest change first; empty if nothing is to be mended.
	Fix string `json:"fix"`
	// Repeat is the command that shows the run which decides.
	Repeat string `json:"repeat"`
	// Shown is that run: with what was answered if that breaks the lock, and else with the first value that does, or the last
	// that was tried. Nil if nothing ran.
	Shown *scenarios.Scenario `json:"-"`
	// ShownAt is the value with which it was made.
	ShownAt string `json:"shown_at"`

	seed uint64 // of Shown
}

// Run is the run that decides, as a scenario for people, and its seed. Shown must not be nil.
func (x *Assumption) Run() (of *scenarios.Scenario, seed uint64) {
	s := *x.Shown
	s.Name, s.Title = "audit", fmt.Sprintf("%s, at %s", x.Name, x.ShownAt)
	s.Source = "an audit"
	s.Explanation = x.Text + ".\n"
	if x.ShownAt != x.Yours {
		s.Explanation = fmt.Sprintf("Just beyond the limit, at %s where yours is %s: %s.\n", x.ShownAt, x.Yours, x.Text)
	}
	return &s, x.seed
}

// Audit is what was found.
type Audit struct {
	Answers     *Answers     `json:"-"`
	Assumptions []Assumption `json:"assumptions"`
	// Beyond is what no setting mends, and what does.
	Beyond []string `json:"beyond"`
	// Assumed is what was not answered, and was taken for granted.
	Assumed []string `json:"assumed"`

	world *scenarios.Scenario // in which all can happen that is safe
}

// Options say how to audit.
type Options struct {
	// Foreign is the lock program that Answers.Library names; nil if it names none.
	Foreign *scenarios.Foreign
	// Runs is how many random runs are made of all that is safe together; 0 is 200, or 20 of a lock program, a run of which takes
	// a hundred times as long.
	Runs int
}

// ErrInput is what errors match that are about the answers.
var ErrInput = errors.New("audit")

// Of audits settings. The error matches ErrInput, is that of the context, or an internal one.
func Of(ctx context.Context, a *Answers, o Options) (*Audit, error) {
	if n := len(a.Settings.Nodes.Names); a.Settings.Lock.Check(n) != nil {
		return nil, fmt.Errorf("%w: %w", ErrInput, a.Settings.Lock.Check(n))
	}
	out := &Audit{Answers: a, Assumed: a.Assumed}
	x := &auditing{ctx: ctx, answers: a, foreign: o.Foreign, world: calm(a.Settings)}
	for _, l := range lines() {
		if l.applies != nil && !l.applies(a) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		found, err := x.judge(l)
		if err != nil {
			return nil, fmt.Errorf("audit: %s: %w", l.name, err)
		}
		out.Assumptions = append(out.Assumptions, found)
	}
	all, err := x.together(out, o.Runs)
	if err != nil {
		return nil, err
	}
	out.Assumptions = append(out.Assumptions, all)
	out.Beyond, out.world = beyond(out), x.world
	return out, nil
}

// Code is the exit code of an audit.
func (a *Audit) Code() int {
	code := exitcode.OK
	for _, x := range a.Assumptions {
		switch x.Verdict {
		case Unsafe:
			code = exitcode.Worst(code, exitcode.Safety)
		case NotTested:
			code = exitcode.Worst(code, exitcode.NotTested)
		}
	}
	return code
}

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
