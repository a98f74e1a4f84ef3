package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// judge attacks an assumption as it was answered, and looks for its limit.
func (x *auditing) judge(l *line) (Assumption, error) {
	answered := x.answers.Settings
	world := *x.world
	if l.besides != nil {
		l.besides(&world)
	}
	yours := l.yours(x.answers)
	found := Assumption{Name: l.name, Yours: yours, ShownAt: yours}
	at, err := x.attack(l, &world, sweep.Setting{Path: l.path, Word: yours})
	if err != nil {
		return found, err
	}
	found.Verdict, found.Shown = at.verdict(), at.shown
	if found.Verdict == NotTested {
		found.Text = "not tested: " + at.missed
		return found, nil
	}
	holds, breaks, missed, err := x.frontier(l, &world, l.path, l.safest(answered), l.riskiest(answered))
	if err != nil {
		return found, err
	}
	if holds == "" && breaks == "" { // what was answered was tested all the same
		does := map[Verdict]string{Safe: "holds", Unsafe: "breaks"}[found.Verdict]
		found.Limit, found.Text = "unknown", fmt.Sprintf("with %s the lock %s; where the limit is could not be tested: %s", yours, does, missed)
	}
	switch {
	case found.Limit != "":
	case breaks == "":
		found.Limit = "any"
	case holds == "":
		found.Limit = "none"
	default:
		found.Limit = holds
	}
	if found.Text == "" {
		found.Text = l.says(&limits{x.answers, yours, holds, breaks})
	}
	if found.Verdict == Safe {
		if breaks != "" { // what decides is where it is not
			beyond, err := x.attack(l, &world, sweep.Setting{Path: l.path, Word: breaks})
			if err != nil {
				return found, err
			}
			found.Shown, found.ShownAt = beyond.shown, breaks
		}
		if l.lasting != nil {
			l.lasting(x.world, answered)
		}
		return found, nil
	}
	found.Fix, err = x.mend(l, &world, yours, holds)
	return found, err
}

// mend is what of the fixes of a line mends it, as far as that was seen.
func (x *auditing) mend(l *line, world *scenarios.Scenario, yours, holds string) (string, error) {
	var mends []string
	own := sweep.Setting{Path: l.path, Word: yours}
	for _, f := range l.fixes {
		switch {
		case f.limit && holds != "":
			mends = append(mends, strings.ReplaceAll(f.text, "%s", holds))
		case f.limit || x.foreign != nil && f.path != "lock.ttl" && f.path != "lock.guard-time" && f.touchesLock(world):
			continue // a program does not read it
		case f.path != "":
			smallest, err := x.smallest(l, world, f, own)
			if err != nil {
				return "", err
			}
			if smallest != "" {
				mends = append(mends, fmt.Sprintf(f.text, smallest))
			}
		default:
			does, err := x.does(l, world, append(settings(f.changes(world)), own))
			if err != nil {
				return "", err
			}
			if does {
				mends = append(mends, f.text)
			}
		}
	}
	return strings.Join(mends, "; or "), nil
}

// touchesLock says whether a fix changes a setting of the lock.
func (f *fix) touchesLock(s *scenarios.Scenario) bool {
	if f.path != "" {
		return strings.HasPrefix(f.path, "lock.")
	}
	return slices.ContainsFunc(f.changes(s), func(c string) bool { return strings.HasPrefix(c, "lock.") })
}

// smallest is the smallest value of a fix's setting that mends a line; empty if none does, or the protocol has no such setting.
func (x *auditing) smallest(l *line, world *scenarios.Scenario, f fix, own sweep.Setting) (string, error) {
	least := "0s"
	switch f.path {
	case "lock.quorum":
		least = fmt.Sprint(len(world.Nodes.Names)/2 + 1)
	case "lock.ttl", "lock.node-timeout":
		least = "1ms"
	}
	most := f.most(world)
	if does, err := x.does(l, world, []sweep.Setting{{Path: f.path, Word: most}, own}); err != nil || !does {
		return "", err
	}
	holds, _, _, err := x.frontier(l, world, f.path, least, most, own)
	if holds == "" && err == nil {
		holds = most
	}
	return holds, err
}

// does says whether an attack fails with some settings, and took place. Settings that the protocol does not have mend nothing.
func (x *auditing) does(l *line, world *scenarios.Scenario, changes []sweep.Setting) (bool, error) {
	at, err := x.attack(l, world, changes...)
	if errors.Is(err, errRefused) {
		return false, nil
	}
	return err == nil && at.verdict() == Safe, err
}

func settings(texts []string) []sweep.Setting {
	var all []sweep.Setting
	for _, text := range texts {
		s, err := sweep.ParseSetting(text)
		if err != nil {
			panic(err) // they are ours
		}
		all = append(all, s)
	}
	return all
}
