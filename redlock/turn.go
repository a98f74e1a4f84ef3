package redlock

import (
	"cmp"
	"context"
	"time"

	"redlocksim/internal/line"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// turn is a call of Lock, which may ask the nodes when it is its turn in this client.
type turn struct {
	call
	client  *Client
	queue   *queue
	turnAt  line.Place // in the queue
	refused error      // why its last attempt that the nodes decided failed; nil if they decided none
}

// join puts a call at the end of the queue for its keys. It must leave it.
func (c *Client) join(keys []string, of term) *turn {
	t := &turn{call: call{keys: keys, term: of}, client: c}
	t.queue = c.queues.join(keys, &t.turnAt)
	return t
}

// leave gives the turn to the next.
func (t *turn) leave() {
	if unused := t.client.queues.leave(t.queue, &t.turnAt); unused != nil {
		t.client.leave(unused)
	}
}

// mayAsk says whether it is the call's turn.
func (t *turn) mayAsk() bool { return t.client.queues.mayAsk(t.queue, &t.turnAt) }

// await returns when the call may ask the nodes, or why it never will: after an attempt that failed it waits for the retry
// delay, and before the first one until those that came before it had their turn. After one that came too late, those behind it
// have theirs.
func (t *turn) await(ctx context.Context) error {
	if t.last != nil {
		if err := t.beforeRetry(ctx); err != nil {
			return err
		}
		if t.last.err.Reason == ErrTooLate { // which it may be for ever, and others with a longer ttl would wait for that
			t.client.queues.goLast(t.queue, &t.turnAt)
		}
	}
	for { // while it gives way, TryLock may get the lock for this client
		if !t.mayAsk() {
			if err := t.observe(ctx, observe.Event{Step: observe.Queued}); err != nil {
				return err
			}
			if err := t.wait(ctx); err != nil {
				return err
			}
		}
		if gaveWay, err := t.giveWay(ctx); err != nil || !gaveWay {
			return err
		}
	}
}

// wait returns when the call has its turn, ctx ends, or the client is closed.
func (t *turn) wait(ctx context.Context) error {
	c := t.client
	defer c.dontWakeOnClose(c.wakeOnClose(t.turnAt.Waiter))
	for !c.closed.Load() && ctx.Err() == nil {
		if t.mayAsk() {
			return nil
		}
		t.turnAt.Waiter.Wait(ctx)
	}
	return c.whyEnded(ctx)
}

// giveWay lets other processes have their turn after many grants in a row to callers of this one: the next waits for a retry
// delay, in which those that poll ask, or for the turn of the wake-up. It also keeps the delay after an attempt that failed,
// when the caller that made it has given up since: else the nodes would be asked as often as callers give up. It reports
// whether it has waited.
func (t *turn) giveWay(ctx context.Context) (bool, error) {
	c, p := t.client, &t.queue.pace
	now := c.clock.Now()
	if p.owesPause(now, c.contention.isWithin(recentRefusal, t.queue.set, now), cmp.Or(c.turn, c.longestRetry())) {
		pause := c.turn
		if pause == 0 {
			var err error
			if pause, err = c.fullDelay(); err != nil {
				return false, err
			}
		}
		p.inARow = 0
		p.holdUp(now, pause, false)
	}
	if p.until.IsZero() {
		return false, nil
	}
	left := p.until.Sub(now)
	if left > 0 {
		if err := t.observe(ctx, observe.Event{Step: observe.Yielding, Delay: left}); err != nil {
			return false, err
		}
		t.sleep(ctx)
		if err := c.whyEnded(ctx); err != nil {
			return true, err // the next waits for what is left of the delay
		}
	}
	p.until = time.Time{}
	return left > 0, nil
}

// sleep waits until the queue may ask again.
func (t *turn) sleep(ctx context.Context) {
	q := t.queue
	var called *place
	if q.pace.polls {
		called = q.place
	}
	q.pace.until = t.client.sleepUntil(ctx, q.pace.until, called)
}

// beforeRetry waits until the random delay has passed, which news of a release cuts short. It returns why there is no retry.
func (t *turn) beforeRetry(ctx context.Context) error {
	c, p := t.client, &t.queue.pace
	if t.last.err.Cause != nil {
		return t.last.err.Cause
	}
	now := c.clock.Now()
	delay, err := t.newDelay(now)
	if err != nil {
		return err
	}
	p.holdUp(now, delay, true)
	t.last.acquisition.observe(observe.Event{Step: observe.Retrying, Op: driver.OpAcquire, Delay: delay, Err: t.last.err.Reason})
	t.sleep(ctx)
	return c.whyEnded(ctx)
}

// newDelay draws the delay before the next attempt. With the wake-up it is a full one for who stands in line and is called. Who
// does not is to stand there soon: at once, if the call's first attempt asked no gate.
func (t *turn) newDelay(now time.Time) (time.Duration, error) {
	c, q := t.client, t.queue
	waited := now.Sub(q.pace.inVain)
	_, keepsNone := t.last.acquisition.lineAnswers()
	switch _, enough := c.suspected(); {
	case q.place.stands():
		return c.fullDelay()
	case c.turn == 0 || keepsNone || !enough || !t.last.hasSeenOthers():
		return c.newDelay(waited)
	case !t.gated && t.last.acquisition.attempt == 1:
		return 0, nil
	}
	delay, err := c.growingDelay(waited)
	return min(delay, c.longestRetry()), err
}

// attempt makes the next attempt of the call, whose turn it is. It returns nil if that failed.
func (t *turn) attempt(ctx context.Context) *Lease {
	c, q := t.client, t.queue
	t.gated, t.place = t.asksGate(), nil
	if t.gated && c.turn != 0 {
		if q.place == nil {
			q.place = c.stand(t.keys)
		}
		t.place = q.place
		q.place.take() // a call before the attempt is none after it
	}
	lease, failed := c.attempt(ctx, &t.call)
	now := c.clock.Now()
	if failed == nil {
		q.place.stepsOutBy(lease.acquisition)
		q.pace.granted(now)
		return lease
	}
	q.place.stepsOutBy(failed.acquisition)
	t.last = failed
	if q.pace.refused(failed, now) {
		q.pace.holdUp(now, c.someDelay(), true)
	}
	if failed.hasSeenOthers() {
		c.contention.refused(q.set, now)
	}
	if failed.err.Reason != nil { // otherwise it says nothing new of the lock
		t.refused = failed.err.Reason
		c.queues.mu.Lock()
		q.reason = failed.err.Reason
		c.queues.mu.Unlock()
	}
	return nil
}

// asksGate says whether the next attempt asks the gate first: where another was seen to want the lock just now or by the
// attempt before. With the wake-up that is not so short a while, so that a client which has the lock for long does not ask past
// those who stand in line. After sixteen refusals all nodes are asked, and while too few answer: only all can say so.
func (t *turn) asksGate() bool {
	c := t.client
	if _, enough := c.suspected(); !enough {
		return false
	}
	set, recently := t.queue.set, contendedFor
	if c.turn != 0 {
		recently = recentRefusal
	}
	isContended := t.last != nil && t.last.hasSeenOthers() || c.contention.isWithin(recently, set, c.clock.Now())
	return isContended && !c.contention.isTimeForAll(set)
}

// giveUp ends a call that was not granted the lock. If its context ended in the middle of an attempt, it fails for the reason
// of the attempt before. The observer is told even where nothing was sent, if it was told of the waiting.
func (t *turn) giveUp(ctx context.Context, cause error) error {
	failed := t.last
	switch {
	case failed == nil:
		failed = t.neverAsked(cause)
	case failed.err.Cause == nil:
		failed = failed.with(failed.err.Reason, cause)
	case failed.err.Reason == nil && failed.err.Cause == ctx.Err():
		failed = failed.with(t.refused, failed.err.Cause)
	}
	if failed.acquisition == nil && t.first != "" {
		t.client.observe(ctx, t.event(observe.Event{Step: observe.GaveUp, Err: failed.err}))
	}
	return failed.final()
}

// neverAsked is the failure of a call that never had its turn: for the reason for which this client's callers before it were
// refused.
func (t *turn) neverAsked(cause error) *failure {
	qs, q := &t.client.queues, t.queue
	qs.mu.Lock()
	defer qs.mu.Unlock()
	reason := q.reason
	if q.leases > 0 {
		reason = ErrTaken
	}
	return &failure{err: &Error{Op: driver.OpAcquire, Resource: nameOf(t.keys), Reason: reason, Cause: cause}}
}

// observe tells the observer of a step between two attempts, or before the first, whose value is drawn for it.
func (t *turn) observe(ctx context.Context, e observe.Event) error {
	if t.last != nil {
		e.Op = driver.OpAcquire
		t.last.acquisition.observe(e)
		return nil
	}
	if t.first == "" {
		var err error
		if t.first, err = t.client.newValue(); err != nil {
			return err
		}
	}
	t.client.observe(ctx, t.event(e))
	return nil
}

// event is a step before the first attempt.
func (t *turn) event(e observe.Event) observe.Event {
	e.Op, e.Resource, e.Value, e.Call = driver.OpAcquire, nameOf(t.keys), t.first, t.first
	return e
}

// observe tells the observer of a step for which there is no acquisition yet.
func (c *Client) observe(ctx context.Context, e observe.Event) {
	if c.observer != nil {
		c.observer.Observe(valuesOf(ctx), e)
	}
}
