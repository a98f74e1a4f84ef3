package foreign

import (
	"fmt"
	"strings"
	"time"
)

// What a process does that has no operation under way which is judged.
const (
	idle    = -1
	leaving = -2 // one that is not judged is under way
)

// take enters an entry: the beginning of an operation or what became of it.
func (r *reader) take(e *entry) error {
	if e.kind == ofNemesis {
		r.r.nemesis++
		return nil
	}
	for int(e.process) >= len(r.open) {
		r.open = append(r.open, idle)
	}
	if e.kind != ofClient || e.typ != "invoke" && r.open[e.process] == leaving {
		return r.leaveOut(e)
	}
	if e.index != noIndex && !r.o.Sort && !r.several {
		if e.index <= r.index {
			return mixedUp("index %d after %d", e.index, r.index)
		}
		r.index = e.index
	}
	if r.timed() {
		switch {
		case !e.timed && r.o.leased():
			return notOperation("there is no time, which leases need")
		case !e.timed:
			return notOperation("there is no time, which an error of clocks needs")
		case r.event > 0 && e.time < r.last:
			return r.backwards(e.time, r.last)
		}
		r.last = e.time
		r.r.times = append(r.r.times, e.time)
	}
	event := r.event
	r.event++
	if e.typ == "invoke" {
		return r.call(e, event)
	}
	return r.ret(e, event)
}

// backwards is the error of a time that steps back.
func (r *reader) backwards(now, before int64) error {
	const hint = "; sort by time (--sort) to have such lines put in their place"
	if r.dated || r.clock.since1970() {
		utc := func(t int64) string { return time.Unix(0, t).UTC().Format(time.RFC3339Nano) }
		return mixedUp("time %s after %s"+hint, utc(now), utc(before))
	}
	unit := int64(max(1, r.clock.unit))
	return mixedUp("time %d after %d"+hint, now/unit, before/unit)
}

// call enters the beginning of an operation.
func (r *reader) call(e *entry, event int32) error {
	if err := r.invokes(e, e.fn.String()); err != nil {
		return err
	}
	if len(r.r.ops) == maxOperations {
		return fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
	}
	r.open[e.process] = int32(len(r.r.ops))
	r.r.ops = append(r.r.ops, operation{process: e.process, lock: e.lock, call: event, ret: noEvent,
		callLine: e.line, fn: e.fn, token: e.token, fenced: e.fenced, mode: e.mode, lease: e.lease,
		callIndex: e.index, retIndex: noIndex})
	return nil
}

// ret enters what became of an operation.
func (r *reader) ret(e *entry, event int32) error {
	name := func() string { return r.r.processes.in[e.process] }
	at := r.open[e.process]
	if at < 0 {
		return mixedUp("process %s returns from %s without an invoke", name(), e.fn)
	}
	op := &r.r.ops[at]
	if op.fn != e.fn {
		return mixedUp("process %s returns from %s, but on %s it invoked %s", name(), e.fn, r.r.called(op), op.fn)
	}
	if e.lock != unnamed {
		if op.lock != unnamed && op.lock != e.lock {
			return mixedUp("process %s returns from lock %q, but on %s it was about %q", name(),
				r.r.locks.in[e.lock], r.r.called(op), r.r.locks.in[op.lock])
		}
		op.lock = e.lock
	}
	if e.mode != unsaid && op.mode != unsaid && op.mode != e.mode {
		return mixedUp("process %s returns from %s of mode %s, but on %s it was %s",
			name(), e.fn, e.mode, r.r.called(op), op.mode)
	}
	r.open[e.process] = idle
	op.retLine, op.retIndex, op.mode = e.line, e.index, max(op.mode, e.mode)
	if e.lease != 0 {
		op.lease = e.lease
	}
	switch e.typ {
	case "ok":
		op.outcome, op.ret = ok, event
		if op.fn == acquire && r.o.Model.fenced() {
			if !e.fenced {
				return notOperation("an acquire that succeeded has no token")
			}
			op.token = e.token
		}
		if op.fn == write {
			if e.fenced {
				op.token, op.fenced = e.token, true
			}
			if !op.fenced {
				return notOperation("a write that was accepted has no token (\"token\":7); " +
					"to judge the lock alone, --only acquire,extend,release")
			}
		}
	case "fail":
		op.outcome, op.ret = failed, event
	}
	return r.settle(op)
}

// leaveOut passes over a line that is not to be judged, and over the operation that it ends.
func (r *reader) leaveOut(e *entry) error {
	r.r.leftOut++
	switch at := r.open[e.process]; {
	case e.typ == "invoke":
		if err := r.invokes(e, "another operation"); err != nil {
			return err
		}
		r.open[e.process] = leaving
	case at == leaving:
		r.open[e.process] = idle
	case at >= 0 && e.kind == onAnotherLock && r.r.ops[at].lock == unnamed:
		// Only the return names the lock. What failed says nothing, and needs none.
		r.r.ops[at].outcome = failed
		r.r.dropped++
		r.open[e.process] = idle
	case at >= 0:
		return mixedUp("process %s returns from another operation, but on %s it invoked %s", r.r.processes.in[e.process],
			r.r.called(&r.r.ops[at]), r.r.ops[at].fn)
	}
	return nil
}

// invokes is the error of a process that invokes something while another operation of its own is open.
func (r *reader) invokes(e *entry, what string) error {
	name := r.r.processes.in[e.process]
	switch at := r.open[e.process]; {
	case at >= 0:
		return mixedUp("process %s invokes %s while its %s of %s is open", name, what, r.r.ops[at].fn, r.r.called(&r.r.ops[at]))
	case at == leaving:
		return mixedUp("process %s invokes %s while an operation of its that is left out is open", name, what)
	}
	return nil
}

// settle keeps account of whether locks have names. Failed operations need none, as they say nothing about a lock.
func (r *reader) settle(op *operation) error {
	switch {
	case op.lock != unnamed:
		if r.firstNamed.line == 0 {
			r.firstNamed = position{r.r.home[op.process], op.callLine}
		}
	case op.outcome == failed:
	case r.o.Group == ByKey || len(r.o.Keys) > 0:
		return notOperation("the %s invoked on %s names no lock", op.fn, r.r.called(op))
	case r.firstUnnamed.line == 0:
		r.firstUnnamed = position{r.r.home[op.process], op.callLine}
	}
	return nil
}

func (r *reader) finish() error {
	if len(r.r.ops) == r.r.dropped {
		why := append([]string{fmt.Sprintf("%d of the nemesis", r.r.nemesis)}, r.notes()...)
		if r.r.leftOut > 0 {
			why[0] = fmt.Sprintf("%d lines left out, %s", r.r.leftOut, why[0])
		}
		return &InputError{Line: r.s.lines(), Err: fmt.Errorf("%w on a lock, and %s", ErrEmpty, strings.Join(why, "; "))}
	}
	for _, at := range r.open {
		if at >= 0 {
			if err := r.settle(&r.r.ops[at]); err != nil {
				op := &r.r.ops[at]
				return &InputError{File: r.r.fileOf(op.process), Line: int(op.callLine), Err: err}
			}
		}
	}
	if named, unnamed := r.firstNamed, r.firstUnnamed; named.line != 0 && unnamed.line != 0 {
		return &InputError{File: r.r.nameOf(unnamed.file), Line: int(unnamed.line), Err: notOperation(
			"it names no lock, but that of %s names one; group by none (they are all on one lock) or by key (each must name its lock)",
			r.r.onLine(named.file, named.line, noIndex))}
	}
	if r.firstNamed.line == 0 {
		r.r.locks.in = []string{""}
		for i := range r.r.ops {
			r.r.ops[i].lock = 0
		}
	}
	if err := r.shares(); err != nil || !r.o.leased() {
		return err
	}
	return r.leases()
}

// leases gives the acquires and extends that say nothing of it the length of their lease. An extend has that of its
// process's last acquire of the lock, if it did not fail.
func (r *reader) leases() error {
	type holder struct{ process, lock int32 }
	last := map[holder]int64{}
	for i := range r.r.ops {
		op := &r.r.ops[i]
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
			return &InputError{File: r.r.fileOf(op.process), Line: int(op.callLine), Err: fmt.Errorf(
				"%w: the %s does not say how long its lease lasts, in a field ttl, "+
					"and there is no --lease for those that do not", ErrOptions, op.fn)}
		}
		if op.fn == acquire {
			last[by] = op.lease
		}
	}
	return nil
}
