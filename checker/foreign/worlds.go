package foreign

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// maxWorldSteps bounds, for each operation on a lock, what is tried to follow the worlds. Few histories need ten.
const maxWorldSteps = 1000

// world is what may be the case at an event: the state of a lock, and which of the operations under way have happened.
type world struct {
	owner int32 // none if it is free
	depth int32
	// floor is the lowest number that the last grant's token can be, once any is known.
	floor    int64
	hasFloor bool
	// exact says that the token of the hold that is on is the floor; beyond, that it is higher than all that a history can
	// name.
	exact, beyond bool
	// until is when others can have the lock from its owner, unless it is endless.
	until   int64
	endless bool
	ahead   []ahead // by process
}

// ahead is what of a process has happened since its last success: of its operations of unknown outcome so many, and the
// one that is under way, or not.
type ahead struct {
	process            int32
	acquires, releases int32
	done               bool
}

// pending is what a process has called since its last success.
type pending struct {
	acquires, releases int32
	open               int32 // an operation that will succeed; none if there is none
}

// worlds follows a lock with owners and tokens along the events of its history, with all that may be the case. An
// operation happens at the latest just before its return, and before that only if another could not happen otherwise.
type worlds struct {
	h       *recording
	m       Model
	leased  bool
	pending map[int32]*pending
	// touchers are the processes with a release under way that will succeed; with leases, with any operation that will.
	touchers []int32
	// waiting are, with leases, the acquires under way that will succeed, by their known tokens; those without are touchers.
	waiting []int32
	tried   int
	all     []world
	steps   int
	// now is the latest time at which what happens next can happen: that of the return before which it does.
	now int64
	// nested says, if an operation was found that no world allows, that its process held the lock in all of them.
	nested bool
}

func newWorlds(h *recording, o *Options) *worlds {
	return &worlds{h: h, m: o.Model, leased: o.leased(), pending: map[int32]*pending{},
		all: []world{{owner: none, endless: true}}}
}

// enter notes that an operation is under way that will succeed.
func (w *worlds) enter(op int32) {
	o := &w.h.ops[op]
	switch {
	case w.leased && o.hasToken():
		w.waiting = slices.Insert(w.waiting, w.rank(op), op)
	case w.leased || o.fn == release:
		w.touchers = append(w.touchers, o.process)
	}
}

// leave notes that it has succeeded.
func (w *worlds) leave(op int32) {
	o := &w.h.ops[op]
	if w.leased && o.hasToken() {
		at := w.rank(op)
		w.waiting = slices.Delete(w.waiting, at, at+1)
		return
	}
	w.touchers = slices.DeleteFunc(w.touchers, func(q int32) bool { return q == o.process })
}

// rank is the place of an acquire among those that wait, in the order of their tokens.
func (w *worlds) rank(op int32) int {
	at, _ := slices.BinarySearchFunc(w.waiting, op, func(a, b int32) int {
		return cmp.Or(cmp.Compare(w.h.ops[a].token, w.h.ops[b].token), cmp.Compare(a, b))
	})
	return at
}

// follow returns the first operation that cannot have happened in any world, none if all can. If it gives up, it says
// why.
func (w *worlds) follow(ops []int32) (int32, string) {
	most := maxWorldSteps * (len(ops) + 100)
	for _, e := range w.h.events(ops) {
		o := &w.h.ops[e.op]
		p := w.pending[o.process]
		if p == nil {
			p = &pending{open: none}
			w.pending[o.process] = p
		}
		switch {
		case e.ret:
			if w.leased {
				w.now = w.h.times[e.at]
			}
			if !w.happen(e.op, most) {
				return e.op, ""
			}
			if w.steps > most {
				return none, fmt.Sprintf("the tokens were not understood within %d steps", most)
			}
			*p = pending{open: none}
			w.leave(e.op)
		case o.outcome == ok:
			p.open = e.op
			w.enter(e.op)
		case o.fn == acquire:
			p.acquires++
		default:
			p.releases++
		}
	}
	return none, ""
}

// happen keeps the worlds in which the operation, which returns now, has happened, and reports whether there are any.
func (w *worlds) happen(op int32, most int) bool {
	p := w.h.ops[op].process
	var next []world
	arrived, seen := map[string]bool{}, map[string]bool{}
	arrive := func(s world) {
		if i := s.of(p); i >= 0 {
			s.ahead = slices.Delete(slices.Clone(s.ahead), i, i+1)
		}
		if key := s.key(); !arrived[key] {
			arrived[key] = true
			next = append(next, s)
		}
	}
	var left []world
	push := func(s world) {
		if key := s.key(); !seen[key] {
			seen[key] = true
			left = append(left, s)
		}
	}
	for _, s := range w.all {
		if i := s.of(p); i >= 0 && s.ahead[i].done {
			arrive(s)
		} else {
			push(s)
		}
	}
	w.nested = true
	for len(left) > 0 && w.steps <= most {
		s := left[len(left)-1]
		left = left[:len(left)-1]
		w.steps++
		w.nested = w.nested && s.owner == p
		if after, legal := w.apply(s, op); legal {
			arrive(after)
		}
		w.before(s, p, op, push)
	}
	w.all = next
	return len(next) > 0 || w.steps > most
}

// before gives the worlds that come of s by one operation that may make it possible for op of process p to happen.
//
// While p's operation has not happened no other process can begin a hold that goes on: it would have to end before. What
// others can do is leave the lock, and take it for the instant of a release that has no other acquire to rest on.
func (w *worlds) before(s world, p, op int32, then func(world)) {
	unknowns := func(q int32, fn function) {
		had, could := ahead{}, w.pending[q]
		if i := s.of(q); i >= 0 {
			had = s.ahead[i]
		}
		if could == nil || had.done ||
			fn == acquire && had.acquires == could.acquires || fn == release && had.releases == could.releases {
			return
		}
		if after, legal := w.step(s, q, fn, unknownToken); legal {
			if fn == acquire {
				had.acquires++
			} else {
				had.releases++
			}
			had.process = q
			then(after.with(had))
		}
	}
	switch {
	case w.leased:
		w.beforeLeased(s, p, op, unknowns, then)
	case s.owner == p:
		unknowns(p, release)
		unknowns(p, acquire)
	case s.owner != none:
		unknowns(s.owner, release)
		if could := w.pending[s.owner]; could != nil && could.open != none && w.h.ops[could.open].fn == release {
			if i := s.of(s.owner); i < 0 || !s.ahead[i].done {
				if after, legal := w.apply(s, could.open); legal {
					then(after.with(ahead{process: s.owner, done: true}))
				}
			}
		}
	default:
		unknowns(p, acquire)
		for _, q := range w.touchers {
			if q != p {
				unknowns(q, acquire)
			}
		}
	}
}

// beforeLeased is before where leases end: another process can also take the lock, and lose it again with its lease,
// before op happens. An acquire of unknown outcome matters only if it happens just before a success of its process that
// rests on it, so that its lease does not end before.
func (w *worlds) beforeLeased(s world, p, op int32, unknowns func(int32, function), then func(world)) {
	o := &w.h.ops[op]
	if o.fn != acquire && w.pending[p].acquires == 0 {
		return // it rests on the hold that its process has
	}
	unknowns(s.owner, release)
	if s.owner != p {
		unknowns(p, acquire)
	}
	try := func(q, open int32) {
		w.tried++
		if i := s.of(q); q == p || i >= 0 && s.ahead[i].done {
			return
		}
		if after, legal := w.apply(s, open); legal {
			then(after.with(ahead{process: q, done: true}))
		}
		if w.h.ops[open].fn != acquire && s.owner != q {
			unknowns(q, acquire)
		}
	}
	for _, open := range w.waiting {
		other := &w.h.ops[open]
		if o.hasToken() && other.token >= o.token {
			break // op could not come after it, nor after the rest
		}
		try(other.process, open)
	}
	for _, q := range w.touchers {
		try(q, w.pending[q].open)
	}
	// Ten are as much work as a step.
	w.steps += w.tried / 10
	w.tried %= 10
}

// apply lets an operation happen.
func (w *worlds) apply(s world, op int32) (world, bool) {
	o := &w.h.ops[op]
	s, legal := w.step(s, o.process, o.fn, o.token)
	if w.leased && o.fn != release {
		s.until = w.h.times[o.call] + o.lease
		s.endless = s.until < w.h.times[o.call]
	}
	return s, legal
}

// step is what becomes of s, and whether it can.
func (w *worlds) step(s world, process int32, fn function, token int64) (world, bool) {
	if fn == acquire && s.owner != none && !s.endless && s.until <= w.now {
		s.owner = none
	}
	switch {
	case fn == acquire && s.owner == none:
		s.owner, s.depth, s.endless = process, 1, true
		if token == unknownToken {
			s.exact = false
			if s.beyond = s.hasFloor && s.floor == math.MaxInt64; s.hasFloor && !s.beyond {
				s.floor++
			}
			return s, true
		}
		legal := !s.hasFloor || token > s.floor
		s.floor, s.hasFloor, s.exact = token, true, true
		return s, legal
	case s.owner != process:
		return s, false
	case fn == acquire:
		s.depth++
		legal := w.m.reentrant()
		if token != unknownToken {
			legal = legal && !s.beyond && (!s.hasFloor || token == s.floor || !s.exact && token > s.floor)
			s.floor, s.hasFloor, s.exact = token, true, true
		}
		return s, legal
	case fn == release:
		if s.depth--; s.depth == 0 {
			s.owner, s.endless = none, true
		}
	}
	return s, true
}

// of is the place of a process in s.ahead, -1 if it has none.
func (s *world) of(process int32) int {
	return slices.IndexFunc(s.ahead, func(a ahead) bool { return a.process == process })
}

// with gives s with what of a process has happened.
func (s world) with(a ahead) world {
	at, found := slices.BinarySearchFunc(s.ahead, a.process, func(b ahead, process int32) int { return int(b.process - process) })
	s.ahead = slices.Clone(s.ahead)
	if found {
		s.ahead[at] = a
	} else {
		s.ahead = slices.Insert(s.ahead, at, a)
	}
	return s
}

// key is equal for equal worlds, and for no others.
func (s *world) key() string {
	b := make([]byte, 0, 32+16*len(s.ahead))
	b = binary.AppendVarint(b, int64(s.owner))
	b = binary.AppendVarint(b, int64(s.depth))
	b = binary.AppendVarint(b, s.floor)
	flag := func(is bool) {
		if is {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	flag(s.hasFloor)
	flag(s.exact)
	flag(s.beyond)
	flag(s.endless)
	if !s.endless {
		b = binary.AppendVarint(b, s.until)
	}
	for _, a := range s.ahead {
		b = binary.AppendVarint(b, int64(a.process))
		b = binary.AppendVarint(b, int64(a.acquires))
		b = binary.AppendVarint(b, int64(a.releases))
		flag(a.done)
	}
	return string(b)
}
