// Package frontier finds where, along a row of values, a lock begins to break. Whatever bisects does so by it: the smallest
// fault of a scenario, the limits of an audit, the least value of a remedy, and the rows of a sweep.
package frontier

import (
	"maps"
	"slices"
)

// Side is on which side of a frontier a value is.
type Side uint8

const (
	// Untested: nobody knows.
	Untested Side = iota
	// Holds and Breaks: the lock does with it.
	Holds
	Breaks
)

// Line is the numbers of some values, in their order, and what they came to.
type Line struct {
	At    []int64
	Sides []Side
}

// Narrow looks at values by their numbers, from 0 to the last, until two neighbours are on different sides, if the ends are.
// It looks at none twice, and assumes a single change. isFound is false if one of those neighbours is not tested; if an end is
// not, it is the last value, seen from the other end, that is. The line is all that it looked at, the error that of look.
func Narrow(last int64, look func(int64) (Side, error)) (line Line, isFound bool, err error) {
	seen := map[int64]Side{}
	defer func() {
		for _, i := range slices.Sorted(maps.Keys(seen)) {
			line.At, line.Sides = append(line.At, i), append(line.Sides, seen[i])
		}
	}()
	at := func(i int64) Side {
		if _, is := seen[i]; !is && err == nil {
			seen[i], err = look(i)
		}
		return seen[i]
	}
	// halve moves from towards to, as long as the values between are as it is.
	halve := func(from, to int64, isAlike func(Side) bool) int64 {
		for err == nil && (from-to > 1 || to-from > 1) {
			if middle := from + (to-from)/2; isAlike(at(middle)) {
				from = middle
			} else {
				to = middle
			}
		}
		return from
	}
	tested := func(s Side) bool { return s != Untested }
	first := int64(0)
	switch a, b := at(first), at(last); {
	case tested(a) && !tested(b):
		last = halve(first, last, tested)
	case tested(b) && !tested(a):
		first = halve(last, first, tested)
	}
	a := at(first)
	if isFound = tested(a); !isFound || a == at(last) {
		return line, isFound, err
	}
	halve(first, last, func(s Side) bool {
		isFound = isFound && tested(s)
		return !isFound || s == a
	})
	return line, isFound, err
}

// Change is where along a line the last change is of what was tested: the numbers in the line of the neighbours on either side,
// one of which is −1 if all are on the other, and the number of changes.
func Change(line []Side) (holds, breaks, changes int) {
	holds, breaks = -1, -1
	last := -1 // what was tested before
	for i, side := range line {
		if side == Untested {
			continue
		}
		if last < 0 || side != line[last] {
			if last >= 0 {
				changes++
			}
			if holds, breaks = i, last; side == Breaks {
				holds, breaks = last, i
			}
		}
		last = i
	}
	if changes == 0 && breaks >= 0 { // the last of them all
		breaks = last
	}
	return holds, breaks, changes
}
