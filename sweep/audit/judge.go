package audit

import (
	"fmt"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// judge attacks an assumption as it was answered, and looks for its limit.
func (x *auditing) judge(l *line) (Assumption, error) {
	answered := x.answers.Settings
	world := x.besides(l)
	yours := l.yours(x.answers, world)
	found := Assumption{Name: l.name, Yours: yours, ShownAt: yours}
	at, err := x.asAnswered(l)
	if err != nil {
		return found, err
	}
	found.Verdict, found.Shown = at.verdict(), at.shown
	if found.Verdict == NotTested {
		found.Text = notTested(at.missed)
		return found, nil
	}
	limit := limits{Answers: x.answers, yours: yours}
	if l.path == "" {
		if found.Limit = "any"; found.Verdict == Unsafe {
			found.Limit, limit.breaks = "none", yours
		}
		found.Text = few.Replace(l.says(&limit))
	} else {
		limit.safest, limit.riskiest = l.safest(answered), l.riskiest(answered)
		e, err := x.frontier(l, world, l.path, []string{limit.safest, limit.riskiest, yours})
		if err != nil {
			return found, err
		}
		if e.isReversed, err = x.isReversed(l, world, &limit, e, found.Verdict); err != nil {
			return found, err
		}
		limit.holds, limit.breaks = e.holds, e.breaks
		if x.broken && (e.holds == "" && found.Verdict == Unsafe || e.isReversed) {
			found.Verdict, found.Shown = NotTested, nil
			found.Text = fmt.Sprintf("not tested: the lock breaks even without that, see %s", lostMessages.name)
			return found, nil
		}
		found.limited(l, &limit, e)
	}
	if found.Verdict == Unsafe {
		if x.without = append(x.without, l); x.unmended {
			return found, nil
		}
		found.Fixes, found.Fix, err = x.mend(l, world, limit.holds)
		if len(found.Fixes) > 0 {
			found.Fix = joined(found.Fixes)
		}
		return found, err
	}
	if limit.breaks != "" { // what decides is where it is not
		beyond, err := x.attack(l, world, sweep.Setting{Path: l.path, Word: limit.breaks})
		if err != nil {
			return found, err
		}
		found.Shown, found.ShownAt = beyond.shown, limit.breaks
	}
	x.holds(l)
	return found, nil
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
	} {
		if strings.Contains(why, known.event) {
			return known.text
		}
	}
	return why
}
