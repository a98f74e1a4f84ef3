package audit

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sweep"
)

// Fix is a change that was seen to mend an assumption.
type Fix struct {
	// Text says it in a sentence.
	Text string `json:"text"`
	// Set is what a file of answers then says, a line each, in the place of what it says of the same keys.
	Set []string `json:"set"`
}

func joined(all []Fix) string {
	var texts []string
	for _, f := range all {
		texts = append(texts, f.Text)
	}
	return strings.Join(texts, "; or ")
}

// mend is what of the fixes of a line mends it, as far as that was seen. own is what was answered.
func (x *auditing) mend(l *line, world *scenarios.Scenario, own []sweep.Setting, holds string) ([]Fix, error) {
	var mends []Fix
	tokens := protocols.Has[protocols.RedlockSettings](world.Lock)
	for _, f := range l.fixes {
		world := *world
		if f.clocks {
			world.Budget.ClockRate = x.answers.Settings.Budget.ClockRate
		}
		switch {
		case f.tokens && !tokens || f.noTokens && tokens:
			continue
		case f.otherwise && len(mends) > 0, f.limit && holds == "", f.positive && (holds == "0%" || holds == "0s"):
			continue
		case f.limit:
			mends = append(mends, f.seen(holds, sweep.Setting{Path: l.path, Word: holds}))
		case x.foreign != nil && f.path != ttlPath && f.path != "lock.guard-time" && f.touchesLock(&world):
			continue // a program does not read it
		case f.path != "":
			smallest, err := x.smallest(l, &world, f, own)
			if err != nil {
				return nil, err
			}
			if smallest != "" {
				mends = append(mends, f.seen(smallest, sweep.Setting{Path: f.path, Word: smallest}))
			}
		default:
			changes := settings(f.changes(&world))
			does, err := x.does(l, &world, slices.Concat(changes, own))
			if err != nil {
				return nil, err
			}
			if does {
				mends = append(mends, f.seen("", changes...))
			}
		}
	}
	return mends, nil
}

// seen is the fix as one that mends, with the value that does.
func (f *fix) seen(value string, changes ...sweep.Setting) Fix {
	x := Fix{Text: strings.ReplaceAll(f.text, "%s", value), Set: f.instead}
	if f.instead == nil || f.path != "" {
		for _, c := range changes {
			x.Set = append(x.Set, inFile(c))
		}
	}
	return x
}

// touchesLock says whether a fix changes a setting of the lock.
func (f *fix) touchesLock(s *scenarios.Scenario) bool {
	if f.path != "" {
		return strings.HasPrefix(f.path, "lock.")
	}
	return slices.ContainsFunc(f.changes(s), func(c string) bool { return strings.HasPrefix(c, "lock.") })
}

// smallest is the smallest value of a fix's setting that mends a line; empty if none does, or the protocol has no such setting.
func (x *auditing) smallest(l *line, world *scenarios.Scenario, f fix, own []sweep.Setting) (string, error) {
	least := "0s"
	switch f.path {
	case "lock.quorum":
		least = fmt.Sprint(len(world.Nodes.Names)/2 + 1)
	case ttlPath, nodeTimeoutPath:
		least = "1ms"
	}
	most := f.most(world)
	if f.changes != nil {
		own = slices.Concat(settings(f.changes(world)), own)
	}
	if does, err := x.does(l, world, slices.Concat(own, []sweep.Setting{{Path: f.path, Word: most}})); err != nil || !does {
		return "", err
	}
	if least == most { // of two nodes, a quorum is both
		return most, nil
	}
	e, err := x.frontier(l, world, f.path, []string{least, most}, own...)
	if e.holds == "" && err == nil {
		e.holds = most
	}
	return e.holds, err
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

// inFile is a setting as a line of a file of answers.
func inFile(s sweep.Setting) string {
	switch s.Path {
	case "storage":
		return "fencing: " + strconv.FormatBool(s.Word == "fenced")
	case sweep.Work:
		return "work: " + s.Word
	}
	for _, a := range All() {
		if a.path == s.Path {
			return a.Key + ": " + s.Word
		}
	}
	keys := strings.Split(s.Path, ".")
	return strings.Join(keys, ": {") + ": " + s.Word + strings.Repeat("}", len(keys)-1)
}
