package audit

import (
	"redlocksim/scenarios/variant"

	"github.com/shopspring/decimal"
)

// scale is values of a setting, from one end to the other in steps of its unit.
type scale struct {
	unit  variant.Unit
	first decimal.Decimal
	step  decimal.Decimal // negative where values fall
	last  int64
}

// newScale is the values between two words of the same unit.
func newScale(from, to string) scale {
	a, b := variant.ParseValue(from), variant.ParseValue(to)
	s := scale{unit: a.Unit, first: a.Number, step: a.Unit.Step()}
	if from == wholeSecond {
		s.step = a.Number
	}
	between := b.Number.Sub(a.Number)
	if between.IsNegative() {
		s.step = s.step.Neg()
	}
	steps, _ := between.QuoRem(s.step, 0)
	s.last = steps.IntPart()
	return s
}

// wholeSecond is the least time to live of a lock that takes whole seconds only; its values are these.
const wholeSecond = "1s"

// word is the value of so many steps.
func (s *scale) word(i int64) string {
	return s.unit.Word(s.first.Add(s.step.Mul(decimal.NewFromInt(i))))
}

// index is the steps to a word.
func (s *scale) index(word string) int64 {
	steps, _ := variant.ParseValue(word).Number.Sub(s.first).QuoRem(s.step, 0)
	return steps.IntPart()
}

// twentieth is a twentieth of a value nearer to the first one, a step at the least.
func (s *scale) twentieth(i int64) int64 {
	part := s.first.Add(s.step.Mul(decimal.NewFromInt(i))).Div(decimal.NewFromInt(20)).Div(s.step.Abs()).IntPart()
	return i - max(part, 1)
}

// least looks for the value nearest to the first that is good, of those whose neighbours and those a twentieth nearer are not;
// empty if it finds none. It begins at a guess, unless that is empty.
func (s *scale) least(guess string, isGood func(word string) (bool, error)) (word string, err error) {
	good := func(i int64) bool {
		if err != nil || i < 0 || i > s.last {
			return false
		}
		var is bool
		is, err = isGood(s.word(i))
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
	if guess != "" && good(s.index(guess)) {
		at = s.index(guess)
	}
	for part := int64(1); at < 0 && part <= 8; part *= 2 { // too much of a good thing may break something else
		if good(s.last / part) {
			at = between(-1, s.last/part)
		}
	}
	for at > 0 {
		nearer := at - 1
		if !good(nearer) {
			nearer = s.twentieth(at)
			if nearer == at-1 || !good(nearer) {
				break
			}
		}
		at = between(-1, nearer)
	}
	if err != nil || at < 0 {
		return "", err
	}
	return s.word(at), nil
}
