package audit

import (
	"cmp"
	"fmt"
	"slices"

	"redlocksim/internal/frontier"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/storage"
)

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
		if x.unmended {
			return nil
		}
		found.Fixes, found.Fix, err = x.mend(l, &limit)
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
	return x.keeps(found, at.result.Scenario)
}

// keeps has an assumption show a run, with what it came to as what it expects. A resource that the clients of an attack do not
// use is left out of it, lest the run says that this was not tested.
func (x *auditing) keeps(found *Assumption, s *scenarios.Scenario) error {
	o := scenarios.Options{Foreign: x.foreign}
	r, err := verdict.Judge(s, o)
	if err == nil && r.NotTested != nil && s.Storage != storage.Register {
		without := *s
		without.Storage = storage.Register
		s = &without
		r, err = verdict.Judge(s, o)
	}
	if err == nil {
		found.Shown, found.findings, found.beyond = s, r.Findings, r.Beyond != nil
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
		found.Text = l.says(limit)
		return nil
	}
	limit.safest, limit.riskiest = l.safest(x.answers.Settings), l.riskiest(x.answers.Settings)
	if scaleOf(limit.riskiest, limit.safest).Index(variant.ParseValue(limit.yours)) < 0 {
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
	found.Text = l.says(limit)
	return nil
}

// frontier looks for the last value of a line's setting that holds and the first that breaks, between the ends among some
// values; one is empty if all are on the other side. untested is why not all could be tested.
func (x *auditing) frontier(l *line, world *scenarios.Scenario, values ...string) (holds, breaks, untested string, err error) {
	var ends []variant.Value
	for _, word := range values {
		ends = append(ends, variant.ParseValue(word))
	}
	lower := func(a, b variant.Value) int { return a.Number.Cmp(b.Number) }
	low, high := slices.MinFunc(ends, lower), slices.MaxFunc(ends, lower)
	scale := variant.NewScale(low, high, low.Unit.Step())
	line, isFound, err := frontier.Narrow(scale.Last, func(i int64) (frontier.Side, error) {
		at, err := x.attack(l, world, variant.Setting{Path: l.path, Word: scale.At(i).Word})
		if err != nil {
			return frontier.Untested, err
		}
		untested = cmp.Or(untested, at.missed)
		return map[Verdict]frontier.Side{Safe: frontier.Holds, Unsafe: frontier.Breaks}[at.verdict()], nil
	})
	if !isFound || err != nil {
		return "", "", untested, err
	}
	at, beyond, _ := frontier.Change(line.Sides)
	if at >= 0 {
		holds = scale.At(line.At[at]).Word
	}
	if beyond >= 0 {
		breaks = scale.At(line.At[beyond]).Word
	}
	return holds, breaks, untested, nil
}
