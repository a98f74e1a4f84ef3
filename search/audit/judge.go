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
	"redlocksim/scenarios/variant"
	"redlocksim/search"
	"redlocksim/search/attacks"
	"redlocksim/search/sweep"
	"redlocksim/sim/storage"
)

// errRefused is the error of settings that the protocol does not take.
var errRefused = errors.New("no such settings")

// attacked is what an attack came to.
type attacked struct {
	broken attacks.Broken
	missed string
	result *scenarios.Result // nil if none was made
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

// changed is settings with some changes, and whether the lock is renewed.
func (x *auditing) changed(s *scenarios.Scenario, changes []variant.Setting) (variant.File, error) {
	f, err := variant.SettingsOf(s)
	if err != nil {
		return f, err
	}
	return f.With(append(slices.Clone(changes), variant.Setting{Path: attacks.Renews, Word: strconv.FormatBool(x.renews())})...)
}

// attack makes the attacks of a line with some settings changed.
func (x *auditing) attack(l *line, world *scenarios.Scenario, changes ...variant.Setting) (*attacked, error) {
	f, err := x.changed(world, changes)
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

// own is what was answered, as a setting.
func (x *auditing) own(l *line, world *scenarios.Scenario) []variant.Setting {
	if l.path == "" {
		return nil
	}
	return []variant.Setting{{Path: l.path, Word: l.answered(x.answers, world)}}
}

// asAnswered makes the attacks of a line with what was answered.
func (x *auditing) asAnswered(l *line) (*attacked, error) {
	world := x.besides(l)
	return x.attack(l, world, x.own(l, world)...)
}

// interrupted says what a call of the lock sends between which no attack of a line comes; empty if there is nothing.
func (x *auditing) interrupted(l *line) (string, error) {
	if l.uninterrupted == nil {
		return "", nil
	}
	pair, err := attacks.Between(&attacks.Settings{Scenario: x.world}, l.uninterrupted, x.extends(), scenarios.Options{Foreign: x.foreign})
	if pair == nil || err != nil {
		return "", err
	}
	return fmt.Sprintf("a call of this lock sends %s and, once that is answered, %s; no attack comes between the two, with a pause of the client "+
		"or a loss of what it sends", pair[0], pair[1]), nil
}

// judge attacks an assumption as it was answered, and looks for its limit.
func (x *auditing) judge(l *line, found *Assumption) error {
	world := x.besides(l)
	limit := limits{Answers: x.answers, yours: l.answered(x.answers, world), renews: x.renews()}
	found.Yours, found.ShownAt = limit.yours, limit.yours
	at, err := x.asAnswered(l)
	if err != nil {
		return err
	}
	if found.Verdict = at.verdict(); found.Verdict == NotTested {
		found.Text = notTested(at.missed)
		return nil
	}
	if err := cmp.Or(x.shows(found, at), x.limit(l, world, found, &limit)); err != nil {
		return err
	}
	if x.broken && l.isOfExclusion() && (limit.holds == "" && found.Verdict == Unsafe || limit.isReversed) {
		found.brokenAnyway()
		return nil
	}
	if found.Verdict == Unsafe {
		if x.without = append(x.without, l); x.unmended {
			return nil
		}
		found.Fixes, found.Fix, err = x.mend(l, world, &limit)
		return err
	}
	if why, err := x.interrupted(l); why != "" || err != nil {
		found.Verdict, found.Limit, found.Shown = NotTested, "unknown", nil
		found.Text = fmt.Sprintf("%s. What was tested: %s", notTested(why), found.Text)
		return err
	}
	if limit.breaks != "" { // what decides is where it is not
		found.ShownAt = limit.breaks
		beyond, err := x.attack(l, world, variant.Setting{Path: l.path, Word: limit.breaks})
		if err = cmp.Or(err, x.shows(found, beyond)); err != nil {
			return err
		}
	}
	x.holds(l)
	return nil
}

// brokenAnyway says of a line that nothing can be told of it: the lock breaks in a calm world.
func (a *Assumption) brokenAnyway() {
	a.Verdict, a.Limit, a.Shown = NotTested, "", nil
	a.Text = "not tested: the lock breaks even without that, see " + lostMessages.name
}

// shows has an assumption show an attack: the run that broke the lock, or else one that took place.
func (x *auditing) shows(found *Assumption, at *attacked) error {
	if at == nil || at.result == nil {
		return nil
	}
	found.broke = at.broken
	return x.keeps(found, at.result.Scenario, 0)
}

// keeps has an assumption show a run, with what it came to as what it expects. A resource that the clients of an attack do not
// use is left out of it, lest the run says that this was not tested.
func (x *auditing) keeps(found *Assumption, s *scenarios.Scenario, seed uint64) error {
	o := scenarios.Options{Seed: seed, Foreign: x.foreign}
	r, err := scenarios.Judge(s, o)
	if err == nil && r.NotTested != nil && s.Storage != storage.Register {
		without := *s
		without.Storage = storage.Register
		s = &without
		r, err = scenarios.Judge(s, o)
	}
	if err == nil {
		found.Shown, found.seed, found.findings, found.beyond = s, seed, r.Findings, r.Beyond != nil
	}
	return err
}

// limit says how much of an assumption the lock bears: where between its ends, of which what was answered may be one, the
// attack begins to succeed.
func (x *auditing) limit(l *line, world *scenarios.Scenario, found *Assumption, limit *limits) (err error) {
	if l.path == "" { // there is nothing between
		if found.Limit = "any"; found.Verdict == Unsafe {
			found.Limit, limit.breaks = "none", limit.yours
		}
		found.Text = few.Replace(l.says(limit))
		return nil
	}
	limit.safest, limit.riskiest = l.safest(x.answers.Settings), l.riskiest(x.answers.Settings)
	if tried := newScale(limit.riskiest, limit.safest); tried.index(limit.yours) < 0 {
		limit.riskiest = limit.yours
	}
	untested := ""
	if limit.holds, limit.breaks, untested, err = x.frontier(l, world, limit.safest, limit.riskiest, limit.yours); err != nil {
		return err
	}
	if found.Verdict == Safe && limit.holds != "" && limit.breaks != "" { // what should be the safest may break it
		at, err := x.attack(l, world, variant.Setting{Path: l.path, Word: limit.safest})
		if err != nil {
			return err
		}
		limit.isReversed = at.verdict() == Unsafe
	}
	does := map[Verdict]string{Safe: "holds", Unsafe: "breaks"}[found.Verdict]
	switch {
	case limit.holds == "" && limit.breaks == "": // what was answered was tested all the same
		found.Limit, found.Text = "unknown", fmt.Sprintf("with %s the lock %s; where the limit is could not be tested: %s", limit.yours, does, reason(untested))
		return nil
	case limit.breaks == "" && found.Verdict == Unsafe, limit.holds == "" && found.Verdict == Safe, limit.isReversed:
		found.Limit, found.Text = "unknown", fmt.Sprintf("with %s the lock %s; there is no single limit", limit.yours, does)
		return nil
	case limit.breaks == "":
		found.Limit = "any"
	default:
		found.Limit = cmp.Or(limit.holds, "none")
	}
	found.Text = few.Replace(l.says(limit))
	return nil
}

// frontier looks for the last value of a line's setting that holds and the first that breaks, between the ends among some
// values; one is empty if all are on the other side. untested is why not all could be tested.
func (x *auditing) frontier(l *line, world *scenarios.Scenario, values ...string) (holds, breaks, untested string, err error) {
	base, err := x.changed(world, nil)
	if err != nil {
		return "", "", "", err
	}
	slices.Sort(values) // the same value twice is no axis; its ends are looked for by what they are
	values = slices.Compact(values)
	axis, err := sweep.ParseAxis(l.path + "=" + strings.Join(values, ","))
	if err != nil {
		return "", "", "", err
	}
	chart, err := sweep.Run(x.ctx, sweep.Spec{Base: base, Axes: []sweep.Axis{axis}, Schedules: l.schedules, Bisect: len(values) > 1,
		Jobs: 1, Foreign: x.foreign})
	if err != nil {
		return "", "", "", err
	}
	for _, f := range chart.Failures.Failures {
		x.include(f)
	}
	if chart.Partial || len(chart.Frontier) == 0 {
		return "", "", "", context.Canceled
	}
	_, untested = chart.Untested()
	return chart.Frontier[0].Safe, chart.Frontier[0].Broken, untested, nil
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
