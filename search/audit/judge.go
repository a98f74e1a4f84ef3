package audit

import (
	"fmt"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/search/sweep"
	"redlocksim/sim/storage"
)

// judge attacks an assumption as it was answered, and looks for its limit.
func (x *auditing) judge(l *line, found *Assumption) error {
	world := x.besides(l)
	yours := l.answered(x.answers, world)
	found.Yours, found.ShownAt = yours, yours
	at, err := x.asAnswered(l)
	if err != nil {
		return err
	}
	if found.Verdict = at.verdict(); found.Verdict == NotTested {
		found.Text = notTested(at.missed)
		return nil
	}
	if err := x.shows(found, at); err != nil {
		return err
	}
	limit := limits{Answers: x.answers, yours: yours, renews: x.renews()}
	var e edge
	if l.path != "" {
		if e, err = x.between(l, world, &limit, found.Verdict); err != nil {
			return err
		}
	}
	switch {
	case x.broken && l.isOfExclusion() && (e.holds == "" && found.Verdict == Unsafe || e.isReversed):
		found.brokenAnyway()
		return nil
	case l.path == "":
		found.unlimited(l, &limit)
	default:
		found.limited(l, &limit, e)
	}
	if found.Verdict == Unsafe {
		if x.without = append(x.without, l); x.unmended {
			return nil
		}
		found.Fixes, found.Fix, err = x.mend(l, world, &limit)
		if len(found.Fixes) > 0 {
			found.Fix = joined(found.Fixes)
		}
		return err
	}
	if why, err := x.interrupted(l); why != "" || err != nil {
		found.Verdict, found.Limit, found.Shown = NotTested, "unknown", nil
		found.Text = fmt.Sprintf("%s. What was tested: %s", notTested(why), found.Text)
		return err
	}
	if limit.breaks != "" { // what decides is where it is not
		beyond, err := x.attack(l, world, sweep.Setting{Path: l.path, Word: limit.breaks})
		if err != nil {
			return err
		}
		found.ShownAt = limit.breaks
		if err := x.shows(found, beyond); err != nil {
			return err
		}
	}
	x.holds(l)
	return nil
}

// brokenAnyway says of a line that nothing can be told of it: the lock breaks in a calm world.
func (x *Assumption) brokenAnyway() {
	x.Verdict, x.Limit, x.Shown = NotTested, "", nil
	x.Text = "not tested: the lock breaks even without that, see " + lostMessages.name
}

// unlimited says it of a line without a setting that could have a limit.
func (x *Assumption) unlimited(l *line, limit *limits) {
	if x.Limit = "any"; x.Verdict == Unsafe {
		x.Limit, limit.breaks = "none", limit.yours
	}
	x.Text = few.Replace(l.says(limit))
}

// shows has an assumption show an attack.
func (x *auditing) shows(found *Assumption, at *attacked) error {
	s, err := x.shown(at)
	if s == nil || err != nil {
		return err
	}
	found.broke = at.broken
	return x.keeps(found, s, 0)
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
	if err != nil {
		return err
	}
	found.Shown, found.seed, found.findings, found.beyond = s, seed, r.Findings, r.Beyond != nil
	return nil
}

// between looks for the limit of a line with that verdict between its ends, of which what was answered may be one.
func (x *auditing) between(l *line, world *scenarios.Scenario, limit *limits, verdict Verdict) (e edge, err error) {
	limit.safest, limit.riskiest = l.safest(x.answers.Settings), l.riskiest(x.answers.Settings)
	if tried := newScale(limit.riskiest, limit.safest); tried.index(limit.yours) < 0 {
		limit.riskiest = limit.yours
	}
	if e, err = x.frontier(l.schedules, world, l.path, []string{limit.safest, limit.riskiest, limit.yours}); err != nil {
		return e, err
	}
	limit.holds, limit.breaks = e.holds, e.breaks
	e.isReversed, err = x.isReversed(l, world, limit, e, verdict)
	return e, err
}

// isReversed says whether a lock that holds as it was answered breaks with what should be the safest, so that the edge between
// them is no limit.
func (x *auditing) isReversed(l *line, world *scenarios.Scenario, limit *limits, e edge, verdict Verdict) (bool, error) {
	if verdict != Safe || e.holds == "" || e.breaks == "" {
		return false, nil
	}
	at, err := x.attack(l, world, sweep.Setting{Path: l.path, Word: limit.safest})
	return err == nil && at.verdict() == Unsafe, err
}

// limited says where the limit is.
func (x *Assumption) limited(l *line, limit *limits, e edge) {
	does := map[Verdict]string{Safe: "holds", Unsafe: "breaks"}[x.Verdict]
	switch {
	case e.holds == "" && e.breaks == "": // what was answered was tested all the same
		x.Limit, x.Text = "unknown", fmt.Sprintf("with %s the lock %s; where the limit is could not be tested: %s", x.Yours, does, reason(e.why))
		return
	case e.breaks == "" && x.Verdict == Unsafe || e.holds == "" && x.Verdict == Safe || e.isReversed:
		x.Limit, x.Text = "unknown", fmt.Sprintf("with %s the lock %s; there is no single limit", x.Yours, does)
		return
	case e.breaks == "":
		x.Limit = "any"
	case e.holds == "":
		x.Limit = "none"
	default:
		x.Limit = e.holds
	}
	x.Text = few.Replace(l.says(limit))
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
