//go:build linux

package live

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
)

// under is the grant that calls of a protocol are made for; it travels in their context.
type under struct {
	grant int          // the Op of the acquire
	op    atomic.Int64 // the operation under way
}

type underKey struct{}

func grantOf(ctx context.Context) *under { return ctx.Value(underKey{}).(*under) }

func (u *under) ctx() context.Context { return context.WithValue(context.Background(), underKey{}, u) }

// sleep lets time pass, until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// run does the steps repeat times. When a lock is not granted the rest of the steps are left out.
func (c *client) run(steps []scenarios.Step, repeat int) {
	for range repeat {
		t := &tenure{client: c}
		for _, step := range steps {
			if !t.do(step) {
				break
			}
		}
	}
}

// tenure is one pass through the steps of a program; what the steps mean is as in the simulator.
type tenure struct {
	*client
	lease   protocols.Lease // nil if none is held
	under   *under
	number  int64 // what was read last
	hasRead bool  // and whether that succeeded
}

func (t *tenure) do(s scenarios.Step) (goOn bool) {
	switch s.Kind {
	case scenarios.LockStep:
		ctx, cancel := context.WithTimeout(context.Background(), s.For)
		defer cancel()
		return t.acquire(ctx, t.locker.Lock)
	case scenarios.TryLockStep:
		return t.acquire(context.Background(), t.locker.TryLock)
	case scenarios.HoldStep:
		sleep(t.lease.Context(), s.For)
	case scenarios.SleepStep:
		sleep(context.Background(), s.For)
	case scenarios.WriteStep:
		t.attempt(history.Write, func(op int) int64 { return int64(op) })
	case scenarios.WriteUncheckedStep:
		t.send(history.Write, func(op int) int64 { return int64(op) })
	case scenarios.UpdateStep:
		t.read()
		t.writeBack()
	case scenarios.ReadStep:
		t.read()
	case scenarios.WriteBackStep:
		t.writeBack()
	case scenarios.MarkStep:
		t.attempt(history.Mark, func(int) int64 { return int64(t.under.grant) })
	case scenarios.ExtendStep:
		op := t.call(history.Extend)
		t.returned(op, history.Extend, t.lease.Extend(t.under.ctx(), s.For))
	case scenarios.RenewStep:
		t.renew(s.For)
	case scenarios.PrepareStep:
		return t.prepare()
	case scenarios.UnlockStep:
		op := t.call(history.Release)
		t.returned(op, history.Release, t.lease.Unlock(t.under.ctx()))
		t.lease = nil
	}
	return true
}

// prepare prepares the nodes, for a protocol that needs it.
func (t *tenure) prepare() bool {
	p, ok := t.locker.(protocols.Preparer)
	if !ok {
		return false
	}
	e := history.Event{Kind: history.Step, Name: faults.Prepared}
	if err := p.Prepare((&under{}).ctx()); err != nil {
		e.Name, e.Detail = faults.NotPrepared, protocols.Reason(err)
	}
	t.record(e)
	return e.Name == faults.Prepared
}

// renew works under the lock for d, which the protocol extends meanwhile.
func (t *tenure) renew(d time.Duration) {
	lease, ok := t.lease.(protocols.Renewer)
	if !ok {
		sleep(t.lease.Context(), d)
		return
	}
	var op int
	lease.Renew(t.under.ctx(), protocols.Renewal{
		Limit:  t.scenario.Lock.Renewals,
		Begins: func() { op = t.call(history.Extend) },
		Ends:   func(err error) { t.returned(op, history.Extend, err) },
	}, func(ctx context.Context) {
		sleep(ctx, d)
		if t.isStuck() {
			<-ctx.Done()
		}
	})
}

func (t *tenure) acquire(ctx context.Context, lock func(context.Context, string, time.Duration) (protocols.Lease, error)) bool {
	u := &under{grant: t.newOp()}
	u.op.Store(int64(u.grant))
	t.under = u
	t.record(history.Event{Kind: history.Call, Func: history.Acquire, Op: u.grant})
	lease, err := lock(context.WithValue(ctx, underKey{}, u), resource, t.scenario.Lock.TTL)
	if err != nil {
		t.record(history.Event{Kind: history.Return, Func: history.Acquire, Op: u.grant, Outcome: history.Failed, Detail: protocols.Reason(err)})
		return false
	}
	t.lease = lease
	token, _ := lease.Token()
	t.record(history.Event{Kind: history.Return, Func: history.Acquire, Op: u.grant, Outcome: history.OK, Grant: u.grant, Token: token})
	return true
}

// call tells of the call of an operation on the lock. With a release the client's belief ends before it.
func (t *tenure) call(f history.Func) int {
	op := t.newOp()
	t.under.op.Store(int64(op))
	if f == history.Release {
		t.tell(notice{Belief: &belief{Grant: t.under.grant, Resource: resource}})
	}
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: t.under.grant})
	return op
}

func (t *tenure) returned(op int, f history.Func, err error) {
	outcome, detail := outcomeOf(err)
	t.record(history.Event{Kind: history.Return, Func: f, Op: op, Grant: t.under.grant, Outcome: outcome, Detail: detail})
}

// outcomeOf is what a client knows of an operation on its lock that returned this.
func outcomeOf(err error) (outcome history.Outcome, detail string) {
	switch {
	case err == nil:
		return history.OK, ""
	case errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased):
		return history.Failed, protocols.Reason(err)
	}
	return history.Unknown, protocols.Reason(err)
}

// sure makes sure of the lease, as a careful client does before each effect.
func (t *tenure) sure() bool {
	left := time.Duration(math.MaxInt64)
	if until := t.lease.Until(); !until.IsZero() {
		left = until.Sub(t.clock.Now())
	}
	e := history.Event{Kind: history.Step, Name: faults.Checked, Grant: t.under.grant, Span: int64(left)}
	ok := t.lease.Context().Err() == nil && left > t.guard
	if !ok {
		e.Name = faults.Stopped
	}
	t.record(e)
	return ok
}

// attempt makes sure of the lease and then sends a request to the storage. It returns what the storage made of it; false
// if it was not sent, not answered, or turned down.
func (t *tenure) attempt(f history.Func, number func(op int) int64) (int64, bool) {
	if !t.sure() {
		return 0, false
	}
	return t.send(f, number)
}

func (t *tenure) read() { t.number, t.hasRead = t.attempt(history.Read, nil) }

// writeBack writes one more than was read; nothing if the read failed.
func (t *tenure) writeBack() {
	if t.hasRead {
		t.attempt(history.Write, func(int) int64 { return t.number + 1 })
	}
}

// carriesToken says whether the shared resource has a place for a fencing token in a request.
func (t *tenure) carriesToken(f history.Func) bool {
	switch t.scenario.Storage.StorageKind {
	case sim.Fenced:
		return true
	case sim.FencedWrites, sim.Table:
		return f == history.Write
	}
	return false
}

// send is attempt without making sure.
func (t *tenure) send(f history.Func, number func(op int) int64) (int64, bool) {
	op := t.newOp()
	e := history.Event{Func: f, Op: op, Grant: t.under.grant, Resource: resource}
	if t.carriesToken(f) {
		e.Token, _ = t.lease.Token()
	}
	if number != nil {
		e.Number = number(op)
	}
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: e.Grant, Number: e.Number})
	done := t.access(e)
	t.record(history.Event{Kind: history.Return, Func: f, Op: op, Grant: e.Grant, Outcome: done.Outcome, Number: done.Number})
	return done.Number, done.Outcome == history.OK
}
