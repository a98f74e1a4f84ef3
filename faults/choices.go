package faults

import (
	"slices"
	"time"

	"redlocksim/sim/kernel"
)

// Choices makes random choices. What a choice is for names it, so that it is the same whatever else is drawn, and so that
// leaving one fault out moves no other.
type Choices interface {
	// For is the choices for a part, told from others of its kind by its number.
	For(part string, number int) Choices
	// Below chooses from 0 to n−1, the same number each time; n is positive. Where a search prefers small plans, 0 is the
	// calmest choice.
	Below(n int64) int64
}

// Drawn are Choices drawn evenly, as a pure function of a key.
type Drawn struct{ Key kernel.Key }

// For implements Choices.
func (d Drawn) For(part string, number int) Choices {
	return Drawn{d.Key.WithString(part).With(uint64(number))}
}

// Below implements Choices.
func (d Drawn) Below(n int64) int64 { return int64(d.Key.Below(uint64(n))) }

// OneOf chooses one of some values.
func OneOf[T any](c Choices, values ...T) T { return values[c.Below(int64(len(values)))] }

// some chooses some of the values, in their order.
func some[T any](c Choices, values []T) (some []T) {
	for i, v := range values {
		if c.For("is in", i).Below(2) == 1 {
			some = append(some, v)
		}
	}
	return some
}

// Length chooses a duration from min to max. Both ends come up often, since what breaks at a bound breaks there; in
// between short ones come up as often as long ones.
func Length(c Choices, min, max time.Duration) time.Duration {
	if max <= min {
		return min
	}
	between := int64(max-min) + 1
	switch c.For("which end", 0).Below(6) {
	case 0:
		return min
	case 1:
		return max
	case 2, 3:
		return min + time.Duration(c.For("evenly", 0).Below(between))
	}
	shift := c.For("magnitude", 0).Below(16)
	return min + time.Duration(c.For("evenly", 1).Below(between>>shift+1))
}

// Times are lengths that decide something in a run, ascending: what takes as long goes another way than what is a little
// shorter or longer.
type Times []time.Duration

// Length chooses a duration from min to max: half of the time one of these if there are any, and otherwise as the function
// Length does.
func (t Times) Length(c Choices, min, max time.Duration) time.Duration {
	if between := t.between(min, max); len(between) > 0 && c.For("decides", 0).Below(2) == 1 {
		return OneOf(c.For("which", 0), between...)
	}
	return Length(c, min, max)
}

// between are those from least to most.
func (t Times) between(least, most time.Duration) Times {
	from, _ := slices.BinarySearch(t, least)
	to, _ := slices.BinarySearch(t, most+1)
	return t[from:max(from, to)]
}
