package foreign

import (
	"cmp"
	"fmt"

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

// shares finds the locks that several can hold, and refuses those that the model cannot judge.
func (r *reader) shares() error {
	h := r.recording
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
				return h.notJudged(op, "a semaphore has no modes, and the %s has one", op.fn)
			}
			share.modes = true
		}
		what := "a semaphore"
		if share.modes {
			what = "a read-write lock"
		}
		if m := r.o.Model; !share.none() && (!m.isPlain() || m == Mutex && share.modes) {
			return h.notJudged(op, "%s with the model %s; with owner and lease it can", what, m)
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
func (h *recording) notJudged(op *operation, format string, args ...any) error {
	return h.located(&h.lines[op.call], fmt.Errorf("%w: %s", ErrNotJudged, fmt.Sprintf(format, args...)))
}

// crowds finds where more held a lock than can: the first that is complete, and how often.
func (h *recording) crowds(e *evidence, share sharing) *breach {
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
		return nil
	}
	held := &e.holds[first.Others[0]]
	b := &breach{kind: checker.LeaseOverlap, count: count, first: held.op, held: held}
	if first.IsTouch {
		b.second = e.touches[first.Second].op // which needed the lock
	} else {
		b.second = e.holds[first.Second].op
	}
	for _, i := range first.Others[1:min(len(first.Others), maxHolders+2)] {
		b.others = append(b.others, e.holds[i].op)
	}
	return b
}
