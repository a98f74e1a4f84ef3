// Package exclusion finds where more hold a lock at a time than can.
//
// It is the last step of the direct checks of checker and checker/foreign, which find out in their own ways who certainly held
// the lock and when. It must not serve what checks them: porcupine's second opinion, and the definition in the tests.
package exclusion

import (
	"cmp"
	"slices"
	"sort"
)

// Hold is a stretch in which an owner certainly held the lock, between two places in a history. A touch has the same form: at
// some instant in the stretch the owner held the lock.
type Hold struct {
	From, To, Owner int
	// Shared: it is that of a reader of a read-write lock, whom only holds that are not shared exclude.
	Shared bool
}

// Crowd is a hold that begins, or a touch that lies, where others hold the lock and leave no place.
type Crowd struct {
	Others  []int // the holds of those others at the beginning, by their indexes
	Second  int   // the index of the hold or touch
	IsTouch bool
}

// Find returns how many holds begin, and touches lie, where so many others hold the lock as can, and the first to be complete;
// nil if there is none. Holds are in the order in which they begin.
//
// Holds that follow each other must be disjoint, and between two of them there always is an instant. A touch needs one at which
// there is a place for it.
func Find(holds int, hold func(i int) Hold, touches int, touch func(i int) Hold, permits int) (count int, first *Crowd) {
	all := levelsOf(holds, hold, permits, func(Hold) bool { return true })
	writers := all
	isWriter := func(h Hold) bool { return !h.Shared }
	for i := range holds {
		if hold(i).Shared {
			writers = levelsOf(holds, hold, permits, isWriter)
			break
		}
	}
	against := func(h Hold) *levels {
		if h.Shared {
			return writers
		}
		return all
	}
	var firstAt int
	note := func(at int, c Crowd) {
		if count++; first == nil || at < firstAt {
			firstAt, first = at, &c
		}
	}
	for i := range holds {
		h, limit := hold(i), permits
		if !h.Shared && h.From < h.To {
			limit++ // it counts itself
		}
		if against(h).at(h.From) >= limit {
			note(h.From, Crowd{Second: i})
		}
	}
	for i := range touches {
		t := touch(i)
		before := sort.Search(holds, func(n int) bool { return hold(n).From > t.From }) - 1
		if before >= 0 && hold(before).Owner == t.Owner && hold(before).To > t.From {
			continue // it has the lock already
		}
		if !against(t).free(t.From, t.To) {
			note(t.To, Crowd{Second: i, IsTouch: true})
		}
	}
	if first == nil {
		return 0, nil
	}
	var second Hold
	if first.IsTouch {
		second = touch(first.Second)
	} else {
		second = hold(first.Second)
	}
	for i := range holds {
		h := hold(i)
		isSecond := !first.IsTouch && i == first.Second
		if h.From <= second.From && h.To > second.From && !isSecond && (!second.Shared || isWriter(h)) {
			first.Others = append(first.Others, i)
		}
	}
	return count, first
}

// levels are how many hold a lock at each place.
type levels struct {
	// From each of these places on, so many hold it. next is the first of them, from each on, where another could have it, as
	// many places as there are if none is.
	places, held, next []int
}

func levelsOf(holds int, hold func(i int) Hold, permits int, counts func(Hold) bool) *levels {
	type change struct{ place, by int }
	var changes []change
	for i := range holds {
		if h := hold(i); counts(h) && h.From < h.To {
			changes = append(changes, change{h.From, 1}, change{h.To, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.place, b.place) })
	l, now := &levels{}, 0
	for i, by := range changes {
		if now += by.by; i+1 == len(changes) || changes[i+1].place > by.place {
			l.places, l.held = append(l.places, by.place), append(l.held, now)
		}
	}
	l.next = make([]int, len(l.places))
	free := len(l.places)
	for i := len(l.places) - 1; i >= 0; i-- {
		if l.held[i] < permits {
			free = i
		}
		l.next[i] = free
	}
	return l
}

// since is the last place at which a change came, of those up to a place; -1 if none did.
func (l *levels) since(place int) int {
	i, exact := slices.BinarySearch(l.places, place)
	if exact {
		return i
	}
	return i - 1
}

// at is how many hold the lock at a place.
func (l *levels) at(place int) int {
	if i := l.since(place); i >= 0 {
		return l.held[i]
	}
	return 0
}

// free reports whether another could have the lock at some place between two.
func (l *levels) free(from, to int) bool {
	i := l.since(from)
	return i < 0 || l.next[i] < len(l.places) && (l.next[i] == i || l.places[l.next[i]] < to)
}
