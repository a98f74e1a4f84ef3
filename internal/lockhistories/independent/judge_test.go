package independent

import "fmt"

// judge says whether a history is good: whether every lock in it is.
func judge(text []byte, name string, lease int64) (bool, error) {
	m, exists := models(lease)[name]
	if !exists {
		return false, fmt.Errorf("there is no model %s", name)
	}
	locks, err := read(text, name == "fenced" || name == "reentrant-fenced")
	if err != nil {
		return false, err
	}
	for _, h := range locks {
		if len(h.operations) > 64 {
			return false, fmt.Errorf("%d operations are too many", len(h.operations))
		}
		s := search{history: h, model: m, processesMatter: name != "mutex", deadEnds: map[place]bool{}}
		if !s.possible(place{}) {
			return false, nil
		}
	}
	return true, nil
}

// place is a point in a search: the next event of the history, the state of the lock, and which operations may still
// take effect, a bit for each.
type place struct {
	next    int
	lock    state
	pending uint64
}

// search looks for instants at which the operations on a lock took effect.
type search struct {
	history         *lockHistory
	model           model
	processesMatter bool
	deadEnds        map[place]bool
}

// possible says whether the history can go on from a place to its end: either the next event comes, or an operation takes
// effect before it.
func (s *search) possible(p place) bool {
	if p.next == len(s.history.times) {
		return true
	}
	if s.deadEnds[p] {
		return false
	}
	if after, allowed := s.event(p); allowed && s.possible(after) {
		return true
	}
	// Times only ever allow an acquire from some time on, so every instant is at the latest time that it may be at.
	now := s.history.times[p.next]
	for i, op := range s.history.operations {
		if p.pending&(1<<i) == 0 {
			continue
		}
		if lock, legal := s.model(p.lock, op, now); legal {
			if s.possible(place{p.next, lock, p.pending &^ s.settledBy(i)}) {
				return true
			}
		}
	}
	s.deadEnds[p] = true
	return false
}

// event lets the next event come: a call, from which on the operation may take effect, or a return with ok, until which it
// must have.
func (s *search) event(p place) (after place, allowed bool) {
	after, allowed = p, true
	for i, op := range s.history.operations {
		leftOut := op.outcome == "fail" || op.outcome == "info" && op.does == "extend"
		switch {
		case op.call == p.next && !leftOut:
			after.pending |= 1 << i
		case op.end == p.next && op.outcome == "ok":
			allowed = p.pending&(1<<i) == 0
		}
	}
	after.next++
	return after, allowed
}

// settledBy gives the operations that cannot take effect any more once the i-th has: that one itself, and, if its outcome
// is ok, those before it of the same process, which are of unknown outcome if they have not taken effect.
func (s *search) settledBy(i int) uint64 {
	settled := uint64(1) << i
	for j, earlier := range s.history.operations[:i] {
		if op := s.history.operations[i]; s.processesMatter && op.outcome == "ok" && earlier.process == op.process {
			settled |= 1 << j
		}
	}
	return settled
}
