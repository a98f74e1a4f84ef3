package foreign

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"redlocksim/checker"
)

// sharing says how several can hold a lock at the same time. The zero value is a lock that only one can.
type sharing struct {
	// permits is how many can hold a semaphore; 0 for a lock that is none.
	permits int
	// modes says that it is a read-write lock: many can hold it in the mode shared, or one in another.
	modes bool
}

func (s sharing) none() bool { return s == sharing{} }

// sharable are the models that can be judged of a lock that several can hold; Mutex only of a semaphore.
var sharable = []Model{Mutex, Owner, Lease}

// shares finds the locks that several can hold, and refuses those that the model cannot judge.
func (r *reader) shares() error {
	h := r.r
	h.sharing = make([]sharing, len(h.locks.in))
	for _, s := range r.o.Semaphores {
		lock, named := h.locks.of[s.Name]
		switch unnamed := len(h.locks.in) == 1 && h.locks.in[0] == ""; {
		case named:
		case !unnamed:
			return fmt.Errorf("%w: the history has no lock %q", ErrOptions, s.Name)
		case h.sharing[0].permits > 0:
			return fmt.Errorf("%w: the history names no locks, so that only one can be a semaphore", ErrOptions)
		}
		h.sharing[lock].permits = s.Permits
	}
	for i := range h.ops {
		op := &h.ops[i]
		if op.lock == unnamed || op.outcome == failed {
			continue
		}
		share := &h.sharing[op.lock]
		if op.mode == shared && !share.modes {
			if share.permits > 0 {
				return r.notJudged(op, "a semaphore has no modes, and the %s has one", op.fn)
			}
			share.modes = true
		}
		what := "a semaphore"
		if share.modes {
			what = "a read-write lock"
		}
		if m := r.o.Model; !share.none() && (!slices.Contains(sharable, m) || m == Mutex && share.modes) {
			return r.notJudged(op, "%s with the model %s; with owner and lease it can", what, m)
		}
	}
	for i := range h.ops {
		switch op := &h.ops[i]; {
		case op.lock == unnamed:
		case !h.sharing[op.lock].modes:
			op.mode = unsaid
		case op.fn == acquire:
			op.mode = cmp.Or(op.mode, exclusive)
		}
	}
	return nil
}

// notJudged is the error of an operation on a lock of a kind that no model covers.
func (r *reader) notJudged(op *operation, format string, args ...any) error {
	return r.r.notJudged(op, fmt.Sprintf(format, args...))
}

func (h *recording) notJudged(op *operation, why string) error {
	return &InputError{File: h.fileOf(op.process), Line: int(op.callLine), Err: fmt.Errorf("%w: %s", ErrNotJudged, why)}
}

// crowds finds where more held a lock than can. It returns how often, and the first that is complete.
func (h *recording) crowds(e *evidence, share sharing) (first *breach, count int) {
	all, writers := newCrowd(e.holds, share, false), newCrowd(e.holds, share, share.modes)
	against := func(m mode) *crowd {
		if m == shared {
			return writers
		}
		return all
	}
	firstAt := never
	note := func(c *crowd, second int32, from, at int) {
		if count++; at < firstAt {
			firstAt, first = at, c.breach(second, from)
		}
	}
	for i := range e.holds {
		held := &e.holds[i]
		c, limit := against(held.mode), max(1, share.permits)
		if c.counts(held) {
			limit++
		}
		if c.at(held.from) >= limit {
			note(c, held.op, held.from, held.from)
		}
	}
	for i := range e.touches {
		t := &e.touches[i]
		if c := against(t.mode); !c.free(t.from, t.to) {
			note(c, t.op, t.from, t.to)
		}
	}
	return first, count
}

// crowd is how many hold a lock at each place: all, or of a read-write lock those who write.
type crowd struct {
	holds   []hold
	writers bool
	// From each of these places on, so many hold it. next is the first of them, from each on, where another could have it, as
	// many places as there are if none is.
	places, held, next []int
}

func newCrowd(holds []hold, share sharing, writers bool) *crowd {
	c := &crowd{holds: holds, writers: writers}
	type change struct{ place, by int }
	var changes []change
	for i := range holds {
		if h := &holds[i]; c.counts(h) && h.from < h.to {
			changes = append(changes, change{h.from, 1}, change{h.to, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.place, b.place) })
	now := 0
	for i, by := range changes {
		if now += by.by; i+1 == len(changes) || changes[i+1].place > by.place {
			c.places, c.held = append(c.places, by.place), append(c.held, now)
		}
	}
	c.next = make([]int, len(c.places))
	free := len(c.places)
	for i := len(c.places) - 1; i >= 0; i-- {
		if c.held[i] < max(1, share.permits) {
			free = i
		}
		c.next[i] = free
	}
	return c
}

func (c *crowd) counts(h *hold) bool { return !c.writers || h.mode != shared }

// since is the last place at which a change came, of those up to a place; -1 if none did.
func (c *crowd) since(place int) int {
	i, exact := slices.BinarySearch(c.places, place)
	if exact {
		return i
	}
	return i - 1
}

// at is how many hold the lock at a place.
func (c *crowd) at(place int) int {
	if i := c.since(place); i >= 0 {
		return c.held[i]
	}
	return 0
}

// free reports whether another could have the lock at some place between two.
func (c *crowd) free(from, to int) bool {
	i := c.since(from)
	return i < 0 || c.next[i] < len(c.places) && (c.next[i] == i || c.places[c.next[i]] < to)
}

// breach is that of an operation which needs the lock, where others hold it.
func (c *crowd) breach(second int32, from int) *breach {
	b := breach{kind: checker.LeaseOverlap, first: none, second: second}
	for i := range c.holds {
		h := &c.holds[i]
		switch {
		case h.from > from || h.to <= from || h.op == second || !c.counts(h):
		case b.first == none:
			b.first, b.basis, b.proof = h.op, h.basis, h.proof
		case len(b.others) <= maxHolders:
			b.others = append(b.others, h.op)
		}
	}
	return &b
}

// holder is one of those who hold a lock, as porcupine's state has it.
type holder struct {
	process int32
	mode    mode
	end     int64
	endless bool
}

func holders(encoded string) (all []holder) {
	for b := []byte(encoded); len(b) > 0; b = b[14:] {
		process, end := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[6:])
		all = append(all, holder{int32(process), mode(b[4]), int64(end), b[5] == 1})
	}
	return all
}

// held puts holders into a text, so that equal states are equal.
func held(all []holder) string {
	slices.SortFunc(all, func(a, b holder) int { return cmp.Compare(a.process, b.process) })
	var b []byte
	for _, h := range all {
		b = binary.LittleEndian.AppendUint32(b, uint32(h.process))
		endless := byte(0)
		if h.endless {
			endless = 1
		}
		b = binary.LittleEndian.AppendUint64(append(b, byte(h.mode), endless), uint64(h.end))
	}
	return string(b)
}

// applyShared is what can become of a lock that several can hold. Without owners, a count is enough.
func (i input) applyShared(s state, o *Options, share sharing) []state {
	if i.returned < s.now {
		return nil
	}
	if o.Model == Mutex {
		switch {
		case i.fn == acquire && s.depth < share.permits:
			s.depth++
		case i.fn == release && s.depth > 0:
			s.depth--
		case i.fn != extend || s.depth == 0:
			return nil
		}
		return []state{s}
	}
	all := holders(s.holders)
	own := slices.IndexFunc(all, func(h holder) bool { return h.process == i.process })
	with := func(now int64, left []holder) state {
		next := s
		next.now = now
		next.holders = held(append(slices.Clone(left), holder{i.process, i.mode, i.until, i.endless || !o.leased()}))
		return next
	}
	switch {
	case i.fn == acquire:
		return i.takeShared(s, all, own, share, with)
	case own < 0 || i.mode != unsaid && i.mode != all[own].mode:
		return nil
	case i.fn == release:
		s.holders = held(slices.Delete(all, own, own+1))
	default:
		all[own].end, all[own].endless = i.until, i.endless || !o.leased()
		s.holders = held(all)
	}
	return []state{s}
}

// takeShared is what can become of the lock by an acquire: it takes the place of those who must not stay, whose leases
// have to be over, and where there are too many the place of any of them.
func (i input) takeShared(
	s state, all []holder, own int, share sharing, with func(now int64, left []holder) state,
) (next []state) {
	now, left := s.now, []holder{}
	for n, h := range all {
		if n != own && (!share.modes || i.mode == shared && h.mode == shared) {
			left = append(left, h)
			continue
		}
		if h.endless || h.end > i.returned {
			return nil
		}
		now = max(now, h.end)
	}
	if share.permits == 0 || len(left) < share.permits {
		return []state{with(now, left)}
	}
	for n, h := range left {
		if !h.endless && h.end <= i.returned {
			next = append(next, with(max(now, h.end), slices.Delete(slices.Clone(left), n, n+1)))
		}
	}
	return next
}
