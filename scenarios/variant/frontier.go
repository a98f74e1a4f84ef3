package variant

// Side is on which side of a frontier a value is.
type Side uint8

const (
	// Untested: nobody knows.
	Untested Side = iota
	// Holds and Breaks: the lock does with it.
	Holds
	Breaks
)

// Narrow looks at values by their numbers, from 0 to the last, until two neighbours are on different sides, if the ends are.
// It looks at none twice, and assumes a single change. isFound is false if one of those neighbours is not tested; if an end is
// not, it is the last value, seen from the other end, that is. The error is the first of look.
func Narrow(last int64, look func(int64) (Side, error)) (isFound bool, err error) {
	seen := map[int64]Side{}
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
		return isFound, err
	}
	halve(first, last, func(s Side) bool {
		isFound = isFound && tested(s)
		return !isFound || s == a
	})
	return isFound, err
}

// Sides are the neighbours at the last change along a line of what was tested, and the number of changes. One is −1 if all are
// on the other side.
func Sides(line []Side) (holds, breaks, changes int) {
	holds, breaks = -1, -1
	for i := 1; i < len(line); i++ {
		switch {
		case line[i] == line[i-1]:
			continue
		case line[i] == Holds:
			holds, breaks = i, i-1
		default:
			holds, breaks = i-1, i
		}
		changes++
	}
	switch {
	case changes > 0 || len(line) == 0:
	case line[0] == Breaks:
		breaks = len(line) - 1
	default:
		holds = 0
	}
	return holds, breaks, changes
}
