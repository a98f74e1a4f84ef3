package foreign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// What a process does that has no operation under way which is judged.
const (
	idle    = -1
	leaving = -2 // one that is not judged is under way
)

// pairs are the operations under way while lines are paired.
type pairs struct {
	open []int32 // by process, the operation; or idle, or leaving
	// The first operations that name a lock and that do not; none at first.
	named, unnamed int32
}

// pair makes operations of the lines of all files.
func (r *reader) pair() error {
	if r.several() {
		byTime(r.lines)
	}
	r.pairs = pairs{make([]int32, len(r.processes.in)), none, none}
	for i := range r.pairs.open {
		r.pairs.open[i] = idle
	}
	all := r.lines
	r.lines = all[:0] // those that are judged take the places of the others
	for i := range all {
		l := all[i]
		if err := r.take(&l); err != nil {
			return r.located(&l, err)
		}
	}
	r.tellUnused()
	return r.finish()
}

// take enters a line: the beginning of an operation or what became of it.
func (r *reader) take(l *line) error {
	name, open := r.processes.in[l.process], &r.pairs.open[l.process]
	isReturn := l.typ != called
	switch {
	case !isReturn && *open == leaving:
		return mixedUp("process %s invokes %s while an operation of its that is left out is open", name, l.does())
	case !isReturn && *open >= 0:
		op := &r.ops[*open]
		return mixedUp("process %s invokes %s while its %s of %s is open", name, l.does(), op.fn, r.called(op))
	case l.leftOut || isReturn && *open == leaving:
		return r.leaveOut(l)
	}
	event := int32(len(r.lines))
	r.lines = append(r.lines, *l)
	if isReturn {
		return r.ret(l, event)
	}
	if len(r.ops) == maxOperations {
		return fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
	}
	*open = int32(len(r.ops))
	r.ops = append(r.ops, operation{process: l.process, lock: l.lock, call: event, ret: noEvent, retIndex: noIndex,
		fn: l.fn, token: l.token, fenced: l.fenced, mode: l.mode, lease: l.lease})
	return nil
}

// does is what a line is about.
func (l *line) does() string {
	if l.leftOut {
		return "another operation"
	}
	return l.fn.String()
}

// leaveOut passes over a line that is not to be judged, and over the operation that it ends.
func (r *reader) leaveOut(l *line) error {
	r.leftOut++
	switch open := &r.pairs.open[l.process]; {
	case l.typ == called:
		*open = leaving
	case *open == leaving:
		*open = idle
	case *open >= 0 && l.other && r.ops[*open].lock == unnamed:
		// Only the return names the lock. What failed says nothing, and needs none.
		r.ops[*open].outcome = failed
		r.dropped++
		*open = idle
	case *open >= 0:
		op := &r.ops[*open]
		return mixedUp("process %s returns from another operation, but on %s it invoked %s", r.processes.in[l.process], r.called(op), op.fn)
	}
	return nil
}

// ret enters what became of an operation.
func (r *reader) ret(l *line, event int32) error {
	name, open := r.processes.in[l.process], &r.pairs.open[l.process]
	if *open < 0 {
		return mixedUp("process %s returns from %s without an invoke", name, l.fn)
	}
	i := *open
	op := &r.ops[i]
	if op.fn != l.fn {
		return mixedUp("process %s returns from %s, but on %s it invoked %s", name, l.fn, r.called(op), op.fn)
	}
	if l.lock != unnamed {
		if op.lock != unnamed && op.lock != l.lock {
			return mixedUp("process %s returns from lock %q, but on %s it was about %q", name,
				r.locks.in[l.lock], r.called(op), r.locks.in[op.lock])
		}
		op.lock = l.lock
	}
	if l.mode != unsaid && op.mode != unsaid && op.mode != l.mode {
		return mixedUp("process %s returns from %s of mode %s, but on %s it was %s", name, l.fn, l.mode, r.called(op), op.mode)
	}
	*open = idle
	op.returned, op.retIndex, op.mode, op.outcome = l.position, l.index, max(op.mode, l.mode), l.typ
	if l.lease != 0 {
		op.lease = l.lease
	}
	if l.typ != unknown {
		op.ret = event
	}
	if l.typ == ok && (op.fn == acquire && r.o.Model.fenced() || op.fn == write) {
		switch {
		case l.fenced:
			op.token, op.fenced = l.token, true
		case op.fn == acquire:
			return notOperation("an acquire that succeeded has no token")
		case !op.fenced:
			return notOperation("a write that was accepted has no token (\"token\":7); " +
				"to judge the lock alone, --only acquire,extend,release")
		}
	}
	return r.settle(i)
}

// settle keeps account of whether locks have names. Failed operations need none, as they say nothing about a lock.
func (r *reader) settle(i int32) error {
	op := &r.ops[i]
	switch {
	case op.lock != unnamed:
		if r.pairs.named == none {
			r.pairs.named = i
		}
	case op.outcome == failed:
	case r.o.Group == ByKey || len(r.o.Keys) > 0:
		return notOperation("the %s invoked on %s names no lock", op.fn, r.called(op))
	case r.pairs.unnamed == none:
		r.pairs.unnamed = i
	}
	return nil
}

// finish judges whether there is anything to judge, and completes what the operations say.
func (r *reader) finish() error {
	if len(r.ops) == r.dropped {
		return r.nothing()
	}
	for _, open := range r.pairs.open {
		if open >= 0 {
			if err := r.settle(open); err != nil {
				return r.located(&r.lines[r.ops[open].call], err)
			}
		}
	}
	switch named, unnamed := r.pairs.named, r.pairs.unnamed; {
	case named != none && unnamed != none:
		return r.located(&r.lines[r.ops[unnamed].call], notOperation("it names no lock, but that of %s names one; "+
			"group by none (they are all on one lock) or by key (each must name its lock)", r.called(&r.ops[named])))
	case named == none:
		r.locks.in = []string{""}
		for i := range r.ops {
			r.ops[i].lock = 0
		}
	}
	if err := r.shares(); err != nil {
		return err
	}
	if r.o.leased() {
		if err := r.leases(); err != nil {
			return err
		}
	}
	return r.plausible()
}

// nothing is the error of a history without an operation on a lock.
func (r *reader) nothing() error {
	why := fmt.Sprintf("%d of the nemesis", r.nemesis)
	if r.leftOut > 0 {
		why = fmt.Sprintf("%d lines left out, %s", r.leftOut, why)
	}
	for _, note := range r.notes {
		why += "; " + note
	}
	return r.in(&InputError{Line: r.scanner.lines(), Err: fmt.Errorf("%w on a lock, and %s", ErrEmpty, why)})
}

// leases gives the acquires and extends that say nothing of it the length of their lease. An extend has that of its
// process's last acquire of the lock, if it did not fail.
func (r *reader) leases() error {
	type holder struct{ process, lock int32 }
	last := map[holder]int64{}
	for i := range r.ops {
		op := &r.ops[i]
		if op.fn == release || op.fn == write || op.outcome == failed {
			continue
		}
		by := holder{op.process, op.lock}
		if op.lease == 0 {
			op.lease = int64(r.o.Lease)
			if op.fn == extend && last[by] != 0 {
				op.lease = last[by]
			}
		}
		if op.lease == 0 {
			return r.located(&r.lines[op.call], fmt.Errorf("%w: the %s does not say how long its lease lasts, in a field ttl, "+
				"and there is no --lease for those that do not", ErrOptions, op.fn))
		}
		if op.fn == acquire {
			last[by] = op.lease
		}
	}
	return nil
}

// sortByTime puts the lines that have a time in the order of their times, those of one time in the order in which they are,
// and returns how many of those to be judged stood after a later one.
func sortByTime(lines []line) int {
	moved, latest := 0, int64(math.MinInt64)
	for i := range lines {
		switch l := &lines[i]; {
		case !l.timed: // it has no part in the order
			l.time = latest
		case l.time < latest && !l.leftOut:
			moved++
		}
		latest = max(latest, lines[i].time)
	}
	byTime(lines)
	return moved
}

func byTime(lines []line) {
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.time, b.time) })
}
