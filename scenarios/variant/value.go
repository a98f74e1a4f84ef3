package variant

import (
	"regexp"
	"strings"
	"time"

	"github.com/shopspring/decimal"
)

// Unit is what a quantity is counted in. The zero Unit is that of words, which are no quantities.
type Unit string

const (
	// Nanoseconds: a duration.
	Nanoseconds Unit = "ns"
	// Percent: a ratio, in hundredths.
	Percent Unit = "%"
	// Count: a whole number.
	Count Unit = "count"
)

// Step is how finely a limit is looked for: Redis' millisecond, one part in a million, one.
func (u Unit) Step() decimal.Decimal {
	switch u {
	case Nanoseconds:
		return decimal.NewFromInt(int64(time.Millisecond))
	case Percent:
		return decimal.New(1, -4)
	}
	return decimal.NewFromInt(1)
}

// Word is how files write a quantity.
func (u Unit) Word(n decimal.Decimal) string {
	switch u {
	case Nanoseconds:
		return time.Duration(n.IntPart()).String()
	case Percent:
		return n.String() + "%"
	}
	return n.String()
}

// Value is one value on an axis: the word for it and, if it is a quantity, how much.
type Value struct {
	Word   string
	Unit   Unit
	Number decimal.Decimal
}

// Equal says that two words stand for the same: 2000ms is 2s.
func (v Value) Equal(other Value) bool {
	return v.Word == other.Word || v.Unit != "" && v.Unit == other.Unit && v.Number.Equal(other.Number)
}

// Quantity is so much of a unit.
func Quantity(u Unit, n decimal.Decimal) Value { return Value{u.Word(n), u, n} }

// Scale is the values from one quantity to another in equal steps, which fall where the other is the smaller one.
type Scale struct {
	unit  Unit
	first decimal.Decimal
	// Step is negative where they fall.
	Step decimal.Decimal
	// Last is the number of the last value, from 0.
	Last int64
}

// NewScale is the values between two of the same unit, both of them if the step, which is positive, divides what is between.
func NewScale(from, to Value, step decimal.Decimal) Scale {
	between := to.Number.Sub(from.Number)
	if between.IsNegative() {
		step = step.Neg()
	}
	steps, _ := between.QuoRem(step, 0)
	most := decimal.NewFromInt(1 << 60) // more than anybody tries
	return Scale{from.Unit, from.Number, step, decimal.Min(steps, most).IntPart()}
}

// At is a value by its number.
func (s Scale) At(i int64) Value {
	return Quantity(s.unit, s.first.Add(s.Step.Mul(decimal.NewFromInt(i))))
}

// Index is the number of the last value that is not beyond another; negative for one before the first.
func (s Scale) Index(v Value) int64 {
	steps, _ := v.Number.Sub(s.first).QuoRem(s.Step, 0)
	return steps.IntPart()
}

var plainNumber = regexp.MustCompile(`^-?[0-9]{1,18}(\.[0-9]{1,12})?$`)

// ParseValue reads a word as files and charts have it. What is no quantity is a word of the zero Unit.
func ParseValue(text string) Value {
	if number, ok := strings.CutSuffix(text, "%"); ok && plainNumber.MatchString(number) {
		return Value{text, Percent, decimal.RequireFromString(number)}
	}
	if plainNumber.MatchString(text) && !strings.Contains(text, ".") {
		return Value{text, Count, decimal.RequireFromString(text)}
	}
	if d, err := time.ParseDuration(text); err == nil && text != "0" {
		return Value{text, Nanoseconds, decimal.NewFromInt(int64(d))}
	}
	return Value{Word: text}
}
