package faults

import (
	"slices"
	"time"
)

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
