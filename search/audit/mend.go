package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/variant"
	"redlocksim/search/attacks"
	"redlocksim/search/remedies"
)

// mend is what of the fixes of a line mends it, as far as that was seen: the file takes it, and the line is safe then. Its text
// is all of them in a sentence, or why there is none.
func (x *auditing) mend(l *line, limit *limits) (mends []Fix, text string, err error) {
	var texts, unread []string
	for i := range l.fixes {
		f := &l.fixes[i]
		if !x.suits(f, limit, len(mends) > 0) {
			continue
		}
		if key := f.ofLock(x.answers); f.library == "" && key != "" && !x.has(key) {
			if x.foreign != nil {
				unread = append(unread, "lock."+topOf(key))
			}
			continue
		}
		fix, err := x.tried(l, *f, limit)
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
		f.Unless != "" && x.has(f.Unless):
		return false
	}
	return true
}

// attacked are the settings that were answered, as attacks have them.
func (a *Answers) attacked() *attacks.Settings {
	return &attacks.Settings{Scenario: a.Settings, Work: a.Work}
}

// tried is a fix with the least that mends the line; nil if it does not.
func (x *auditing) tried(l *line, f fix, limit *limits) (*Fix, error) {
	at, guess, scale := x.answers.attacked(), "", variant.Scale{}
	switch {
	case f.limit:
		f.Path, guess, scale = l.path, limit.holds, scaleOf(limit.riskiest, limit.safest)
	case f.Path != "":
		scale = f.Scale(at, "")
	}
	with := func(value string) Fix { return x.answers.fix(&f, value, f.Settings(at, value)) }
	if f.Path == "" {
		fix := with("")
		if does, err := x.accepts(l, &f, fix, false); !does {
			return nil, err
		}
		return &fix, nil
	}
	good := func(isQuick bool) func(string) (bool, error) {
		return func(value string) (bool, error) { return x.accepts(l, &f, with(value), isQuick) }
	}
	var err error
	if guess == "" && scale.Last > 0 { // of two nodes, a quorum is both
		if guess, err = remedies.Least(scale, "", good(true)); err != nil {
			return nil, err
		}
	}
	value, err := remedies.Least(scale, guess, good(false))
	if value == "" || err != nil {
		return nil, err
	}
	fix := with(value)
	return &fix, nil
}

// scaleOf is the values between two words of the same unit, in its steps.
func scaleOf(from, to string) variant.Scale {
	a := variant.ParseValue(from)
	return variant.NewScale(a, variant.ParseValue(to), a.Unit.Step())
}

// ofLock is the first key of the lock that a fix changes, by its path there; empty if it changes none. What is the client's own
// affair is none.
func (f *fix) ofLock(a *Answers) string {
	for _, c := range f.Settings(a.attacked(), "0s") { // whatever the value
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

// accepts says whether the file takes a fix, and the line is safe then, with all before it that are. A quick look takes the
// lines before it to be as safe as they were, to which what mends all that clocks do adds their error.
func (x *auditing) accepts(l *line, f *fix, fix Fix, isQuick bool) (bool, error) {
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
		if isQuick && !isIt {
			wasSafe := slices.ContainsFunc(x.safe, func(safe *line) bool { return safe.name == before.name })
			if wasSafe || f.clocks && before.name == "clock error" {
				y.holds(before)
			}
			continue
		}
		at, err := y.asAnswered(before)
		if errors.Is(err, errRefused) {
			return false, nil
		}
		isSafe := err == nil && at.verdict() == Safe
		switch {
		case err != nil || isIt:
			return isSafe, err
		case isSafe:
			y.holds(before)
		}
	}
	return false, nil
}
