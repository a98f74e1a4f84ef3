package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sweep"
)

// joined is all fixes in a sentence.
func joined(all []Fix) string {
	var texts []string
	for _, f := range all {
		texts = append(texts, f.Text)
	}
	return strings.Join(texts, "; or ")
}

// mend is what of the fixes of a line mends it, as far as that was seen: the file takes it, and the line is safe then. Without
// any, why says why there is none.
func (x *auditing) mend(l *line, world *scenarios.Scenario, holds string) (mends []Fix, why string, err error) {
	tokens := protocols.Has[protocols.RedlockSettings](world.Lock)
	var unread []string
	for i := range l.fixes {
		f := &l.fixes[i]
		world := *world
		if f.clocks {
			world.Budget.ClockRate = x.answers.Settings.Budget.ClockRate
		}
		switch {
		case f.tokens && !tokens || f.noTokens && tokens, f.library != "" && f.library == x.answers.Library,
			f.otherwise && len(mends) > 0, f.limit && holds == "", f.positive && (holds == "0%" || holds == "0s"):
			continue
		}
		var changes []sweep.Setting
		if f.changes != nil {
			changes = settings(f.changes(&world))
		}
		value := ""
		switch key := f.ofLock(changes); {
		case x.foreign != nil && f.library == "" && key != "" && !x.reads(key):
			unread = append(unread, "lock."+key)
			continue
		case f.limit:
			value = holds
			changes = append(changes, sweep.Setting{Path: l.path, Word: value})
		case f.path != "":
			if value, err = x.smallest(l, &world, f, changes); err != nil {
				return nil, "", err
			}
			if value == "" {
				continue
			}
			changes = append(changes, sweep.Setting{Path: f.path, Word: value})
		}
		fix := x.answers.fix(f, value, changes)
		does, err := x.accepts(l, fix)
		if err != nil {
			return nil, "", err
		}
		if does {
			mends = append(mends, fix)
		}
	}
	switch {
	case len(mends) > 0:
	case len(unread) > 0:
		why = "none known: the program does not say that it reads " + strings.Join(slices.Compact(unread), ", ")
	case x.answers.Settings.Lock.Preset != "":
		why = fmt.Sprintf("none known: no setting that %s has mends it", x.answers.Settings.Lock.Preset)
	default:
		why = "none known"
	}
	return mends, why, nil
}

// ofLock is the first key of the lock that a fix changes; empty if it changes none. What is the client's own affair is none.
func (f *fix) ofLock(changes []sweep.Setting) string {
	for _, c := range append(changes, sweep.Setting{Path: f.path}) {
		if key, is := strings.CutPrefix(c.Path, "lock."); is && c.Path != guardTimePath {
			key, _, _ = strings.Cut(key, ".")
			return key
		}
	}
	return ""
}

// reads says whether a lock program is known to read a key of the lock.
func (x *auditing) reads(key string) bool { return x.foreign.Reads != nil && x.foreign.Reads(key) }

// accepts says whether the file takes a fix, and the line is safe then, with all before it that are.
func (x *auditing) accepts(l *line, fix Fix) (bool, error) {
	answers, err := x.answers.With(fix)
	if err != nil {
		return false, nil //nolint:nilerr // a file that refuses it is the answer
	}
	y := auditing{ctx: x.ctx, answers: answers, world: calm(answers.Settings)}
	if IsProgram(answers.Library) {
		if y.foreign = x.foreign; x.answers.oneNode {
			if answers.OnOneNode() != nil {
				return false, nil
			}
		}
	}
	for _, before := range lines() {
		if !y.asks(before) {
			if before.name == l.name { // nobody asks any more
				return true, nil
			}
			continue
		}
		at, err := y.asAnswered(before)
		switch {
		case errors.Is(err, errRefused):
			return false, nil
		case err != nil:
			return false, err
		case before.name == l.name:
			return at.verdict() == Safe, nil
		case at.verdict() == Safe:
			y.holds(before)
		}
	}
	return false, nil
}

// asAnswered runs the schedules of a line with what was answered.
func (x *auditing) asAnswered(l *line) (*attacked, error) {
	world := x.besides(l)
	return x.attack(l, world, x.own(l, world)...)
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
func (x *auditing) own(l *line, world *scenarios.Scenario) []sweep.Setting {
	if l.path == "" {
		return nil
	}
	return []sweep.Setting{{Path: l.path, Word: l.yours(x.answers, world)}}
}

// smallest is the smallest value of a fix's setting that mends a line after some changes; empty if none does, or the protocol
// has no such setting.
func (x *auditing) smallest(l *line, world *scenarios.Scenario, f *fix, changes []sweep.Setting) (string, error) {
	least := "0s"
	switch f.path {
	case "lock.quorum":
		least = fmt.Sprint(len(world.Nodes.Names)/2 + 1)
	case ttlPath, nodeTimeoutPath:
		least = "1ms"
	}
	most := f.most(world)
	if f.library != "" {
		changes = append([]sweep.Setting{{Path: "lock", Word: "{ttl: " + world.Lock.TTL.String() + "}"}}, changes...)
	}
	changes = append(changes, x.own(l, world)...)
	y := *x
	if f.library != "" {
		y.foreign = nil
	}
	at, err := y.attack(l, world, append(slices.Clone(changes), sweep.Setting{Path: f.path, Word: most})...)
	switch {
	case errors.Is(err, errRefused):
		return "", nil
	case err != nil || at.verdict() != Safe:
		return "", err
	}
	if least == most { // of two nodes, a quorum is both
		return most, nil
	}
	e, err := y.frontier(l, world, f.path, []string{least, most}, changes...)
	if e.holds == "" && err == nil {
		e.holds = most
	}
	return e.holds, err
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
