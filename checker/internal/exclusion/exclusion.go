// Package exclusion finds holds of a lock that overlap.
//
// It is the last step of the direct checks of checker and checker/foreign, which find out in their own ways who certainly held
// the lock and when. It must not serve what checks them: porcupine's second opinion, and the definition in the tests.
package exclusion

import (
	"math"
	"sort"
)

// Hold is a stretch in which an owner certainly held the lock, between two places in a history. A touch has the same form: at
// some instant in the stretch the owner held the lock.
type Hold struct{ From, To, Owner int }

// Overlap is a hold, and another hold that begins inside it or a touch that lies inside it, by their indexes.
type Overlap struct {
	First, Second int
	IsTouch       bool // Second is a touch
}

// Find returns how many holds begin, and touches lie, inside the hold of another owner, and the overlap that is complete first;
// nil if there is none. Holds are in the order in which they begin, and those of one owner do not overlap.
//
// Holds that follow each other must be disjoint. A touch needs an instant outside the holds of others. Between two disjoint
// holds there always is one, so a touch has none only if a single hold contains it.
func Find(holds int, hold func(i int) Hold, touches int, touch func(i int) Hold) (count int, first *Overlap) {
	firstAt, longest := math.MaxInt, -1
	var until int // the end of the longest
	for i := range holds {
		h := hold(i)
		if longest >= 0 && until > h.From {
			count++
			if first == nil {
				first, firstAt = &Overlap{First: longest, Second: i}, h.From
			}
		}
		if longest < 0 || h.To > until {
			longest, until = i, h.To
		}
	}
	for i := range touches {
		t := touch(i)
		// If the holds are disjoint, only the last one that began before the touch can contain it. If they are not, there is
		// an overlap already.
		n := sort.Search(holds, func(n int) bool { return hold(n).From > t.From }) - 1
		if n < 0 {
			continue
		}
		if h := hold(n); h.To < t.To || h.Owner == t.Owner {
			continue
		}
		count++
		if t.To < firstAt {
			first, firstAt = &Overlap{First: n, Second: i, IsTouch: true}, t.To
		}
	}
	return count, first
}
