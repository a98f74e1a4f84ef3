package audit

import (
	"redlocksim/scenarios/variant"

	"github.com/shopspring/decimal"
)

// scaleOf is the values between two words of the same unit, in its steps.
func scaleOf(from, to string) variant.Scale {
	a := variant.ParseValue(from)
	step := a.Unit.Step()
	if from == wholeSecond {
		step = a.Number
	}
	return variant.NewScale(a, variant.ParseValue(to), step)
}

// wholeSecond is the least time to live of a lock that takes whole seconds only; its values are these.
const wholeSecond = "1s"

// least looks for the value nearest to the first that is good, of those whose neighbours and those a twentieth nearer are not;
// empty if it finds none. It begins at a guess, unless that is empty.
func least(s variant.Scale, guess string, isGood func(word string) (bool, error)) (word string, err error) {
	good := func(i int64) bool {
		if err != nil || i < 0 || i > s.Last {
			return false
		}
		var is bool
		is, err = isGood(s.At(i).Word)
		return is && err == nil
	}
	between := func(bad, at int64) int64 { // the nearest of the good ones above a bad one
		for at-bad > 1 {
			if middle := bad + (at-bad)/2; good(middle) {
				at = middle
			} else {
				bad = middle
			}
		}
		return at
	}
	at := int64(-1)
	if guess != "" {
		if i := s.Index(variant.ParseValue(guess)); good(i) {
			at = i
		}
	}
	for part := int64(1); at < 0 && part <= 8; part *= 2 { // too much of a good thing may break something else
		if good(s.Last / part) {
			at = between(-1, s.Last/part)
		}
	}
	for at > 0 {
		nearer := at - 1
		if !good(nearer) {
			twentieth := s.At(at).Number.Div(decimal.NewFromInt(20)).Div(s.Step.Abs()).IntPart()
			nearer = at - max(twentieth, 1)
			if nearer == at-1 || !good(nearer) {
				break
			}
		}
		at = between(-1, nearer)
	}
	if err != nil || at < 0 {
		return "", err
	}
	return s.At(at).Word, nil
}
