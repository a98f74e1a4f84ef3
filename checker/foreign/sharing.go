package foreign

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/checker/internal/exclusion"
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

// crowds finds where more held a lock than can. It returns the first that is complete, and how often.
func (h *recording) crowds(e *evidence, share sharing) (*breach, int) {
	of := func(from, to int, op int32, m mode) exclusion.Hold {
		return exclusion.Hold{From: from, To: to, Owner: int(h.ops[op].process), Shared: m == shared}
	}
	count, first := exclusion.Find(
		len(e.holds), func(i int) exclusion.Hold {
			held := &e.holds[i]
			return of(held.from, held.to, held.op, held.mode)
		},
		len(e.touches), func(i int) exclusion.Hold {
			t := &e.touches[i]
			return of(t.from, t.to, t.op, t.mode)
		}, max(1, share.permits))
	if first == nil {
		return nil, 0
	}
	held := &e.holds[first.Others[0]]
	b := &breach{kind: checker.LeaseOverlap, first: held.op, basis: held.basis, proof: held.proof}
	if first.IsTouch {
		b.second = e.touches[first.Second].op // which needed the lock
	} else {
		b.second = e.holds[first.Second].op
	}
	for _, i := range first.Others[1:min(len(first.Others), maxHolders+2)] {
		b.others = append(b.others, e.holds[i].op)
	}
	return b, count
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
