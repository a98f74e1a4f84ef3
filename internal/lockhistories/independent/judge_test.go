package independent

import "fmt"

// definition is a model together with what it says about unknown outcomes.
type definition struct {
	model model
	// processesMatter says that an unknown operation takes effect before the next ok of its process, or never.
	processesMatter bool
	// tokens says that an acquire with outcome ok must have a token, times that times do not fall.
	tokens, times bool
}

// definitions are those of the text. lease is how long a lease lasts, in nanoseconds.
func definitions(lease int64) map[string]definition {
	leases := func(s state, op *operation, now int64) (state, bool) { return leased(s, op, now, lease) }
	fencedLeases := func(s state, op *operation, now int64) (state, bool) { return fencedLeased(s, op, now, lease) }
	return map[string]definition{
		"mutex":            {model: mutex},
		"owner":            {model: owner, processesMatter: true},
		"reentrant":        {model: reentrant, processesMatter: true},
		"fenced":           {model: fenced, processesMatter: true, tokens: true},
		"reentrant-fenced": {model: reentrantFenced, processesMatter: true, tokens: true},
		"lease":            {model: leases, processesMatter: true, times: true},
		"fenced-lease":     {model: fencedLeases, processesMatter: true, tokens: true, times: true},
	}
}

// judge says whether a history is good.
func (d definition) judge(text []byte) (bool, error) {
	locks, err := d.read(text)
	if err != nil {
		return false, err
	}
	return d.allows(locks)
}

// allows says whether every lock of a history is good.
func (d definition) allows(locks map[string]*lockHistory) (bool, error) {
	for _, h := range locks {
		if len(h.operations) > 64 {
			return false, fmt.Errorf("%d operations are too many", len(h.operations))
		}
		if s := (search{definition: d, history: h, deadEnds: map[place]bool{}}); !s.possible(place{}) {
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
	definition
	history  *lockHistory
	deadEnds map[place]bool
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
		switch {
		case op.call == p.next && !op.leftOut():
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
