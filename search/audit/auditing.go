package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
	"redlocksim/search"
	"redlocksim/search/attacks"
)

// auditing is an audit under way. What is safe is part of the world of the lines that follow, so that the attacks on those
// use it, too; what is not would break the lock whatever their own value.
type auditing struct {
	ctx     context.Context
	answers *Answers
	foreign *scenarios.Foreign
	world   *scenarios.Scenario
	// safe are the lines that are.
	safe []*line
	// broken: the lock breaks in a calm world.
	broken bool
	// unmended: no fixes are looked for.
	unmended bool

	repeat   string // the command that makes the audit
	failures *search.Failures
}

// note takes in a run that failed, and says so in a line.
func (x *auditing) note(err error) string {
	one := search.NewFailure(nil, 0, 0, err)
	one.Command = x.repeat
	_ = x.failures.Note(one, "", outfile.Rules{}) // without a directory nothing is written
	return "a run failed: " + one.Line()
}

// asks says whether there is anything to ask about a line.
func (x *auditing) asks(l *line) bool {
	itself := protocols.Of[protocols.RedissonSettings](x.answers.Settings.Lock).Watchdog || x.foreign != nil && x.foreign.Renews
	return (l.applies == nil || l.applies(x.answers)) && !(l.extends && (itself || !x.extends())) && !(l.renewed && !x.renews())
}

// extends says whether the lock can be extended.
func (x *auditing) extends() bool {
	if x.foreign != nil {
		return x.foreign.Makes(scenarios.ExtendStep)
	}
	return x.answers.lib.extends != ""
}

// renews says whether the lock is renewed while the work goes on.
func (x *auditing) renews() bool {
	if r := x.answers.Renews; r != nil {
		return *r
	}
	return x.answers.lib.renews || x.foreign != nil && x.foreign.Renews
}

// canRenew says what is wrong with the answer whether a lock program is renewed; Parse knows it of other libraries.
func (x *auditing) canRenew() error {
	switch r := x.answers.Renews; {
	case r == nil || x.foreign == nil:
	case *r && !x.foreign.Renews && !x.extends():
		return errors.New("renews: the program cannot extend a lock: leave renews out")
	case !*r && x.foreign.Renews:
		return errors.New("renews: the program renews its locks by itself: leave renews out")
	}
	return nil
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
	calm := *s
	calm.Budget.ClockRate, calm.Budget.ClockStep, calm.Budget.Pause, calm.Budget.Suspend = zeroRate, 0, 0, 0
	calm.Budget.RestartDelay, calm.Budget.MemoryLoss, calm.Budget.CounterLoss, calm.Budget.NoPowerLoss = nil, 0, 0, true
	return &calm
}

// errRefused is the error of settings that the protocol does not take.
var errRefused = errors.New("no such settings")

// attacked is what an attack came to.
type attacked struct {
	broken attacks.Broken
	missed string
	result *verdict.Result // nil if none was made
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

// attack makes the attacks of a line with some settings changed.
func (x *auditing) attack(l *line, world *scenarios.Scenario, changes ...variant.Setting) (*attacked, error) {
	if err := x.ctx.Err(); err != nil {
		return nil, err
	}
	f, err := variant.SettingsOf(world)
	if err == nil {
		f, err = f.With(append(changes, variant.Setting{Path: attacks.Renews, Word: strconv.FormatBool(x.renews())})...)
	}
	if err != nil {
		return nil, err
	}
	settings, err := attacks.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	all, err := attacks.Find(l.schedules...)
	a := &attacked{}
	for _, attack := range all {
		out, err := x.run(attack, settings)
		switch {
		case errors.Is(err, scenarios.ErrTooLong):
			a.missed = cmp.Or(a.missed, err.Error())
		case err != nil:
			a.missed = cmp.Or(a.missed, x.note(err))
		case out.Broken != "":
			return &attacked{broken: out.Broken, result: out.Result}, nil
		default:
			a.missed = cmp.Or(a.missed, out.NotTested)
			if a.result == nil {
				a.result = out.Result
			}
		}
	}
	return a, err
}

// run makes an attack.
func (x *auditing) run(attack attacks.Attack, s *attacks.Settings) (out attacks.Outcome, err error) {
	err = search.Safely(func() (err error) {
		out, err = attack.Run(s, scenarios.Options{Foreign: x.foreign})
		return err
	})
	return out, err
}

// besides is the world of the attacks on a line.
func (x *auditing) besides(l *line) *scenarios.Scenario {
	world := *x.world
	if l.besides != nil {
		l.besides(&world, x.answers.Settings)
	}
	return &world
}

// asAnswered makes the attacks of a line with what was answered.
func (x *auditing) asAnswered(l *line) (*attacked, error) {
	world := x.besides(l)
	if l.path == "" {
		return x.attack(l, world)
	}
	return x.attack(l, world, variant.Setting{Path: l.path, Word: l.answered(x.answers, world)})
}

// notTested says why an attack did not take place.
func notTested(why string) string { return "not tested: " + reason(why) }

// reason puts what a run did not come to into the words of the lock.
func reason(why string) string {
	for _, known := range []struct{ event, text string }{
		{"client-1 acquire-done", "the first client is never granted the lock, if only because every answer comes after the node timeout"},
		{"client-2 acquire-done", "the second client is never granted the lock"},
		{"client-3 acquire-done", "no client is ever granted the lock, if only because every answer comes after the node timeout"},
	} {
		if strings.Contains(why, known.event) {
			return known.text
		}
	}
	return why
}
