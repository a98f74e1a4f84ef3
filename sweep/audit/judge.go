package audit

import (
	"fmt"
	"strings"

	"redlocksim/adversary"
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
	if found.Verdict = at.verdict(); found.Verdict == NotTested {
		found.Text = notTested(at.missed)
		return found, nil
	}
	if err := x.shows(&found, at); err != nil {
		return found, err
	}
	limit := limits{Answers: x.answers, yours: yours, renews: x.renews()}
	if l.path == "" {
		if found.Limit = "any"; found.Verdict == Unsafe {
			found.Limit, limit.breaks = "none", yours
		}
		found.Text = few.Replace(l.says(&limit))
	} else {
		limit.safest, limit.riskiest = l.safest(answered), l.riskiest(answered)
		if tried := newScale(limit.riskiest, limit.safest); tried.index(yours) < 0 {
			limit.riskiest = yours
		}
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
		found.Fixes, found.Fix, err = x.mend(l, world, &limit)
		if len(found.Fixes) > 0 {
			found.Fix = joined(found.Fixes)
		}
		return found, err
	}
	if why, err := x.interrupted(l); why != "" || err != nil {
		found.Verdict, found.Limit, found.Shown = NotTested, "unknown", nil
		found.Text = fmt.Sprintf("%s. What was tested: %s", notTested(why), found.Text)
		return found, err
	}
	if limit.breaks != "" { // what decides is where it is not
		beyond, err := x.attack(l, world, sweep.Setting{Path: l.path, Word: limit.breaks})
		if err != nil {
			return found, err
		}
		if err := x.shows(&found, beyond); err != nil {
			return found, err
		}
		found.ShownAt = limit.breaks
	}
	x.holds(l)
	return found, nil
}

// shows has an assumption show an attack.
func (x *auditing) shows(found *Assumption, at *attacked) (err error) {
	found.Shown, err = x.shown(at)
	found.broke = at.broken
	if at.result != nil && at.broken != "" {
		found.findings = at.result.Findings
	}
	return err
}

// interrupted says what a call of the lock sends between which no attack of a line pauses the client; empty if there is nothing.
func (x *auditing) interrupted(l *line) (string, error) {
	if !l.uninterrupted {
		return "", nil
	}
	pair, err := adversary.Between(&sweep.Settings{Scenario: x.world}, x.extends(), scenarios.Options{Foreign: x.foreign})
	if pair == nil || err != nil {
		return "", err
	}
	return fmt.Sprintf("a call of this lock sends %s and, once that is answered, %s; there is no attack that pauses a client between the two", pair[0], pair[1]), nil
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
