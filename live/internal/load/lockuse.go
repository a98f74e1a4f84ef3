//go:build linux

package load

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"redlocksim/live/internal/lockclock"
	"redlocksim/live/internal/messages"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

// recorder reports what the clients of a process do with locks.
type recorder struct {
	notices *messages.Writer
	clock   lockclock.Clock
	index   int // of the process
	ops     atomic.Int64
}

// newOp numbers an operation. No two processes use the same numbers.
func (r *recorder) newOp() int { return r.index<<32 | int(r.ops.Add(1)) }

// Observe records what the library does: attempts, waits in the queue, and until when grants and extensions are valid.
func (r *recorder) Observe(ctx context.Context, e observe.Event) {
	ctx.Value(lockUseKey{}).(*lockUse).observe(e)
}

// lockUse is one use of a lock by a client, from asking for it to its release.
type lockUse struct {
	*recorder
	client, lock string
	lease        *redlock.Lease
	grant        int
	op           int // the extension under way
}

type lockUseKey struct{}

// acquire asks for a lock, and returns nil if it was not granted.
func (r *recorder) acquire(
	ctx context.Context, client, lock string, ttl time.Duration,
	by func(context.Context, string, time.Duration) (*redlock.Lease, error),
) *lockUse {
	t := &lockUse{recorder: r, client: client, lock: lock, grant: r.newOp()}
	t.record(history.Event{Kind: history.Call, Func: history.Acquire, Op: t.grant})
	lease, err := by(context.WithValue(ctx, lockUseKey{}, t), lock, ttl)
	e := history.Event{Kind: history.Return, Func: history.Acquire, Op: t.grant}
	if err != nil {
		if errors.Is(err, redlock.ErrInvalid) || errors.Is(err, redlock.ErrClosed) {
			r.notices.Send(messages.Notice{Fatal: fmt.Sprintf("live: %s: %v", client, err)})
		}
		e.Outcome, e.Detail = history.Failed, protocols.Reason(err)
		t.record(e)
		return nil
	}
	t.lease = lease
	e.Outcome, e.Grant = history.OK, t.grant
	e.Token, _ = lease.Token()
	t.record(e)
	return t
}

// release releases the lock. The client's belief ends before the call.
func (t *lockUse) release() {
	t.notices.Send(messages.Notice{Belief: &messages.Belief{Grant: t.grant, Process: t.client, Resource: t.lock}})
	op := t.call(history.Release)
	t.returned(op, history.Release, t.lease.Unlock(context.Background()))
}

func (t *lockUse) call(f history.Func) int {
	op := t.newOp()
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: t.grant})
	return op
}

func (t *lockUse) returned(op int, f history.Func, err error) {
	outcome, detail := protocols.Outcome(err)
	t.record(history.Event{Kind: history.Return, Func: f, Op: op, Grant: t.grant, Outcome: outcome, Detail: detail})
}

func (t *lockUse) record(e history.Event) {
	e.Process, e.Resource = t.client, t.lock
	t.notices.Send(messages.Notice{Event: &e})
}

func (t *lockUse) observe(e observe.Event) {
	switch e.Step {
	case observe.AttemptStarted, observe.Queued:
		t.record(history.Event{Kind: history.Step, Name: e.Step.String(), Op: t.grant, Grant: t.grant, Number: int64(e.Attempt)})
	case observe.Granted:
		t.believe(e.Until)
	case observe.ExtendStarted:
		t.op = t.call(history.Extend)
	case observe.Extended:
		t.believe(e.Until)
		t.returned(t.op, history.Extend, nil)
	case observe.NotExtended:
		t.returned(t.op, history.Extend, e.Err)
	}
}

func (t *lockUse) believe(until time.Time) {
	t.notices.Send(messages.Notice{Belief: &messages.Belief{
		Grant: t.grant, Until: t.clock.Reading(until), Process: t.client, Resource: t.lock,
	}})
}
