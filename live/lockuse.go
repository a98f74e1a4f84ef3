//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// lockUse is one use of a lock by a client, from asking for it to its release.
type lockUse struct {
	clients      *soakClients
	client, lock string
	lease        *redlock.Lease
	grant        int
	op           int // the extension under way
}

type lockUseKey struct{}

// acquire asks for a lock, and returns nil if it was not granted.
func (c *soakClients) acquire(
	ctx context.Context, client, lock string, by func(context.Context, string, time.Duration) (*redlock.Lease, error),
) *lockUse {
	t := &lockUse{clients: c, client: client, lock: lock, grant: c.newOp()}
	t.record(history.Event{Kind: history.Call, Func: history.Acquire, Op: t.grant})
	lease, err := by(context.WithValue(ctx, lockUseKey{}, t), lock, c.ttl)
	e := history.Event{Kind: history.Return, Func: history.Acquire, Op: t.grant}
	if err != nil {
		if errors.Is(err, redlock.ErrInvalid) || errors.Is(err, redlock.ErrClosed) {
			c.notices.send(notice{Fatal: fmt.Sprintf("live: %s: %v", client, err)})
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
	t.clients.notices.send(notice{Belief: &belief{Grant: t.grant, Process: t.client, Resource: t.lock}})
	op := t.call(history.Release)
	t.returned(op, history.Release, t.lease.Unlock(context.Background()))
}

func (t *lockUse) call(f history.Func) int {
	op := t.clients.newOp()
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: t.grant})
	return op
}

func (t *lockUse) returned(op int, f history.Func, err error) {
	outcome, detail := protocols.Outcome(err)
	t.record(history.Event{Kind: history.Return, Func: f, Op: op, Grant: t.grant, Outcome: outcome, Detail: detail})
}

func (t *lockUse) record(e history.Event) {
	e.Process, e.Resource = t.client, t.lock
	t.clients.notices.send(notice{Event: &e})
}

// Observe records what the library does: attempts, waits in the queue, and until when grants and extensions are valid.
func (c *soakClients) Observe(ctx context.Context, e observe.Event) {
	t := ctx.Value(lockUseKey{}).(*lockUse)
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
	t.clients.notices.send(notice{Belief: &belief{
		Grant: t.grant, Until: t.clients.clock.reading(until), Process: t.client, Resource: t.lock,
	}})
}

// useLock is what a client does with a lock, at random. Mostly it holds the lock for a moment; sometimes as long as it is
// valid, or longer; sometimes it extends or renews it; and sometimes it hangs, so that the lock expires.
func (c *soakClients) useLock(ctx context.Context, client *redlock.Client, name string, random *rand.Rand) {
	lock := c.Locks[random.IntN(len(c.Locks))]
	upTo := func(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d) + 1)) }
	var t *lockUse
	if random.IntN(10) == 0 {
		t = c.acquire(ctx, name, lock, client.TryLock)
	} else {
		patient, cancel := context.WithTimeout(ctx, upTo(2*c.ttl))
		defer cancel()
		t = c.acquire(patient, name, lock, client.Lock)
	}
	if t == nil {
		return
	}
	// Work ends with the lease, or when the process is told to rest.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.lease.Context(), cancel)()
	switch n := random.IntN(100); {
	case n < 2:
		sleep(ctx, upTo(c.ttl/2))
		_ = t.lease.Extend(context.WithoutCancel(ctx), c.ttl) // Observe records the result
		sleep(ctx, upTo(c.ttl/2))
	case n < 4:
		_ = t.lease.Renew(ctx, redlock.Renewal{}, func(ctx context.Context) error {
			sleep(ctx, upTo(2*c.ttl))
			return nil
		})
	case n < 5:
		<-ctx.Done()
	case n < 6: // it hangs and never releases
		<-t.lease.Context().Done()
		sleep(context.Background(), t.lease.Until().Sub(c.clock.Now()))
		return
	case n < 80:
		sleep(ctx, upTo(20*time.Millisecond))
	}
	t.release()
}
