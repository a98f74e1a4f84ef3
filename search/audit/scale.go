package audit

import (
	"github.com/shopspring/decimal"

	"redlocksim/internal/frontier"
	"redlocksim/scenarios/variant"
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
	nearest := func(known int64) int64 { // of the good ones up to one that is known to be, as if the number −1 were bad
		line, _, _ := frontier.Narrow(known+1, func(i int64) (frontier.Side, error) {
			if i == known+1 || i > 0 && good(i-1) {
				return frontier.Holds, err
			}
			return frontier.Breaks, err
		})
		at, _, _ := frontier.Change(line.Sides)
		return line.At[at] - 1
	}
	at := int64(-1)
	if guess != "" {
		if i := s.Index(variant.ParseValue(guess)); good(i) {
			at = i
		}
	}
	for part := int64(1); at < 0 && part <= 8; part *= 2 { // too much of a good thing may break something else
		if good(s.Last / part) {
			at = nearest(s.Last / part)
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
		at = nearest(nearer)
	}
	if err != nil || at < 0 {
		return "", err
	}
	return s.At(at).Word, nil
}
