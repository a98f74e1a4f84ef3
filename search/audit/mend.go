package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
)

// mend is what of the fixes of a line mends it, as far as that was seen: the file takes it, and the line is safe then. Its text
// is all of them in a sentence, or why there is none.
func (x *auditing) mend(l *line, world *scenarios.Scenario, limit *limits) (mends []Fix, text string, err error) {
	var texts, unread []string
	for i := range l.fixes {
		f := &l.fixes[i]
		if !x.suits(f, limit, len(mends) > 0) {
			continue
		}
		world := *world
		if f.clocks {
			world.Budget.ClockRate = x.answers.Settings.Budget.ClockRate
		}
		var changes []variant.Setting
		if f.changes != nil {
			changes = settings(f.changes(x.answers, &world))
		}
		if key := f.ofLock(changes); f.library == "" && key != "" && !x.has(key) {
			if x.foreign != nil {
				unread = append(unread, "lock."+topOf(key))
			}
			continue
		}
		fix, err := x.tried(l, &world, f, changes, limit)
		if err != nil {
			return nil, "", err
		}
		if fix != nil {
			mends, texts = append(mends, *fix), append(texts, fix.Text)
		}
	}
	switch text = "none known"; {
	case len(mends) > 0:
		text = strings.Join(texts, "; or ")
	case len(unread) > 0:
		text += ": the program does not say that it reads " + strings.Join(slices.Compact(unread), ", ")
	case x.answers.lib.sets != nil:
		text += fmt.Sprintf(": no setting that %s has mends it", x.answers.lib.name)
	}
	return mends, text, nil
}

// suits says whether a fix is one for the lock. mended says that there is one already.
func (x *auditing) suits(f *fix, limit *limits, mended bool) bool {
	tokens := protocols.Has[protocols.RedlockSettings](x.answers.Settings.Lock)
	switch {
	case f.noTokens && tokens, f.library != "" && f.library == x.answers.Library,
		f.otherwise && mended, f.limit && limit.holds == "", f.positive && (limit.holds == "0%" || limit.holds == "0s"),
		f.unless != "" && x.has(f.unless):
		return false
	}
	return true
}

// tried is a fix with the least that mends the line; nil if it does not.
func (x *auditing) tried(l *line, world *scenarios.Scenario, f *fix, changes []variant.Setting, limit *limits) (*Fix, error) {
	path, from, to, guess := f.path, leastOf(f, world), "", limit.holds
	switch {
	case f.limit:
		path, from, to = l.path, limit.riskiest, limit.safest
	case f.path != "":
		var err error
		if to = f.most(x.answers, world); from == to { // of two nodes, a quorum is both
			break
		}
		if guess, err = x.smallest(l, world, f, from, to, changes); err != nil {
			return nil, err
		}
	default:
		fix := x.answers.fix(f, "", changes)
		if does, err := x.accepts(l, fix); !does {
			return nil, err
		}
		return &fix, nil
	}
	with := func(value string) Fix {
		return x.answers.fix(f, value, append(slices.Clone(changes), variant.Setting{Path: path, Word: value}))
	}
	value, err := least(scaleOf(from, to), guess, func(value string) (bool, error) { return x.accepts(l, with(value)) })
	if value == "" || err != nil {
		return nil, err
	}
	fix := with(value)
	return &fix, nil
}

// ofLock is the first key of the lock that a fix changes, by its path there; empty if it changes none. What is the client's own
// affair is none.
func (f *fix) ofLock(changes []variant.Setting) string {
	for _, c := range append(slices.Clone(changes), variant.Setting{Path: f.path}) {
		if key, is := strings.CutPrefix(c.Path, "lock."); is && c.Path != guardTimePath {
			return key
		}
	}
	return ""
}

// topOf is the key of the lock that a path goes through.
func topOf(path string) string {
	key, _, _ := strings.Cut(path, ".")
	return key
}

// has says whether a setting of the lock can be changed: a lock program is known to read it, or the library has it, or the file
// says it already.
func (x *auditing) has(path string) bool {
	if x.foreign != nil {
		return x.foreign.Reads != nil && x.foreign.Reads(topOf(path))
	}
	_, has := x.answers.lib.has(path)
	return has || x.answers.says("lock."+path)
}

// accepts says whether the file takes a fix, and the line is safe then, with all before it that are.
func (x *auditing) accepts(l *line, fix Fix) (bool, error) {
	answers, err := x.answers.With(fix)
	if err != nil {
		return false, nil //nolint:nilerr // a file that refuses it is the answer
	}
	y := auditing{ctx: x.ctx, answers: answers, repeat: x.repeat, failures: x.failures}
	if IsProgram(answers.Library) {
		if y.foreign = x.foreign; x.answers.oneNode && answers.OnOneNode() != nil {
			return false, nil
		}
	}
	if y.canRenew() != nil {
		return false, nil
	}
	y.world = calm(answers.Settings)
	for _, before := range lines() {
		isIt := before.name == l.name
		if !y.asks(before) {
			if isIt { // nobody asks any more
				return true, nil
			}
			continue
		}
		at, err := y.asAnswered(before)
		if errors.Is(err, errRefused) {
			return false, nil
		}
		isSafe := err == nil && at.verdict() == Safe
		if isSafe {
			why, wrong := y.interrupted(before)
			isSafe, err = why == "", wrong
		}
		switch {
		case err != nil || isIt:
			return isSafe, err
		case isSafe:
			y.holds(before)
		}
	}
	return false, nil
}

// leastOf is the least value of the setting that a fix looks for.
func leastOf(f *fix, world *scenarios.Scenario) string {
	switch f.path {
	case "lock.quorum":
		return fmt.Sprint(len(world.Nodes.Names)/2 + 1)
	case "lock." + factorKey:
		return "0%"
	case ttlPath:
		lock := world.Lock
		if lock.TTL = time.Minute + time.Millisecond; lock.Check(len(world.Nodes.Names)) != nil && lock.Capabilities().Unit == time.Second {
			return wholeSecond
		}
		return "1ms"
	case nodeTimeoutPath:
		return "1ms"
	}
	return "0s"
}

// smallest guesses at the smallest value of a fix's setting that mends a line, by the attacks on that alone; empty if none
// does, or the protocol has no such setting.
func (x *auditing) smallest(l *line, world *scenarios.Scenario, f *fix, from, to string, changes []variant.Setting) (string, error) {
	y := *x
	if f.library != "" {
		changes = append([]variant.Setting{{Path: "lock", Word: "{ttl: " + world.Lock.TTL.String() + "}"}}, changes...)
		y.foreign = nil
	}
	changes = append(slices.Clone(changes), x.own(l, world)...)
	return least(scaleOf(from, to), "", func(value string) (bool, error) {
		at, err := y.attack(l, world, append(slices.Clone(changes), variant.Setting{Path: f.path, Word: value})...)
		if errors.Is(err, errRefused) {
			return false, nil
		}
		return err == nil && at.verdict() == Safe, err
	})
}

func settings(texts []string) (all []variant.Setting) {
	for _, text := range texts {
		s, err := variant.ParseSetting(text)
		if all = append(all, s); err != nil {
			panic(err) // they are ours
		}
	}
	return all
}
