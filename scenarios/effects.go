package scenarios

import (
	"context"
	"math"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/storage"
)

// grantFor is the grant that a step's effect is under; its Op is 0 if nobody would take the lock for held.
func (l *held) grantFor(s *Step) Grant {
	on := l.acquisition.grants[0]
	if s.Resource != nil {
		on = l.acquisition.on(s.Resource[0])
	}
	if s.Released || l.refused {
		on.Op = 0
	}
	return on
}

func (l *held) write(on Grant)          { l.access(on, history.Write, itsOwnNumber) }
func (l *held) writeUnchecked(on Grant) { l.send(on, history.Write, itsOwnNumber) }

func (l *held) update(on Grant) {
	l.read(on)
	l.writeBack(on)
}

func (l *held) mark(on Grant) {
	l.access(on, history.Mark, func(e *history.Event) { e.Number = int64(on.Op) })
}

// itsOwnNumber has an operation write its number.
func itsOwnNumber(e *history.Event) { e.Number = int64(e.Op) }

// linger lets time pass as long as sure says yes. A lease that never ends is not waited for.
func (l *held) linger(*Step) {
	for !l.refused {
		last := l.lease.Until()
		if last.IsZero() {
			return
		}
		last = last.Add(-l.scenario.Lock.GuardTime)
		if w, ok := l.lease.(protocols.Warner); ok && w.ContextEnds().Before(last) {
			last = w.ContextEnds()
		}
		left := last.Sub(l.clock.Now()) - 1
		if left <= 0 {
			return
		}
		l.host.Sleep(context.Background(), left)
	}
}

// sure makes sure of the lease, as a careful client does before each effect.
func (l *held) sure(on Grant) bool {
	left := time.Duration(math.MaxInt64)
	if until := l.lease.Until(); !until.IsZero() {
		left = until.Sub(l.clock.Now())
	}
	e := history.Event{Kind: history.Step, Name: faults.Checked, Resource: on.Resource, Grant: on.Op, Span: int64(left)}
	ok := l.lease.Context().Err() == nil && left > l.scenario.Lock.GuardTime
	if !ok {
		e.Name = faults.Stopped
	}
	l.record(e)
	return ok
}

// access makes sure of the lease, if there is one, and then sends a request to the storage, which fill completes. It returns
// what the storage made of it; false if it was not sent, not answered, or turned down.
func (l *held) access(on Grant, f history.Func, fill func(*history.Event)) (seen, bool) {
	if on.Op != 0 && !l.sure(on) {
		return seen{}, false
	}
	return l.send(on, f, fill)
}

func (l *held) read(on Grant) {
	number, ok := l.access(on, history.Read, func(*history.Event) {})
	if ok {
		l.numbers[on.Resource] = number
	} else {
		delete(l.numbers, on.Resource)
	}
}

// writeBack writes one more than was read; nothing if the read failed.
func (l *held) writeBack(on Grant) {
	read, ok := l.numbers[on.Resource]
	if !ok {
		return
	}
	l.access(on, history.Write, func(e *history.Event) {
		e.Number = read.number + 1
		if read.grant != on.Op || on.Op == 0 {
			e.Basis = read.op
		}
		read.op = 0
	})
	l.numbers[on.Resource] = read
}

// carriesToken says whether the shared resource has a place for a fencing token in a request.
func (l *held) carriesToken(f history.Func) bool {
	switch l.scenario.Storage {
	case storage.Fenced:
		return true
	case storage.FencedWrites, storage.Table:
		return f == history.Write
	}
	return false
}

// send is access without making sure.
func (l *held) send(on Grant, f history.Func, fill func(*history.Event)) (seen, bool) {
	op := l.host.NewOp()
	e := history.Event{Func: f, Op: op, Grant: on.Op, Resource: on.Resource}
	if l.carriesToken(f) && !l.refused {
		e.Token, _ = l.lease.Token()
	}
	tx, transactional := l.lease.(protocols.Transaction)
	if transactional {
		e.Node = tx.Node()
	}
	fill(&e)
	l.record(history.Event{Kind: history.Call, Func: f, Op: op, Resource: on.Resource, Grant: e.Grant, Number: e.Number, Node: e.Node, Basis: e.Basis})
	e.Basis = 0 // which the storage does not see
	l.accesses++
	var done history.Event
	if transactional {
		done = tx.Access(l.ctx(), e)
	} else {
		if l.scenario.Storage == storage.Versioned && f == history.Write {
			e.Basis = l.versions[on.Resource]
		}
		done = l.host.Access(l.acquisition.acquire, l.accesses, e)
	}
	if done.Outcome == history.OK && f != history.Mark {
		l.versions[on.Resource] = op
	}
	l.record(history.Event{Kind: history.Return, Func: f, Op: op, Resource: on.Resource, Grant: e.Grant, Outcome: done.Outcome, Number: done.Number, Node: e.Node})
	return seen{done.Number, op, on.Op}, done.Outcome == history.OK
}
