package redlock

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// localGrants is how many grants in a row go to callers that wait in this client, before other processes get their turn.
const localGrants = 16

// queues are the callers of Lock of one client that wait, by the set of keys that they want.
type queues struct {
	mu    sync.Mutex
	bySet map[keySet]*queue
}

// keySet is a set of keys, as a map can have it. The keys of several are written with their lengths, so that no two sets
// are the same text.
type keySet struct {
	size int
	keys string
}

// setOf is the set of some keys, which are sorted.
func setOf(keys []string) keySet {
	if len(keys) == 1 {
		return keySet{1, keys[0]}
	}
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(strconv.Itoa(len(key)))
		b.WriteByte(':')
		b.WriteString(key)
	}
	return keySet{len(keys), b.String()}
}

// queue is the callers of Lock that want one set of keys, in the order in which they came. One of them asks the nodes, and
// none while this client has a lease on the set, since the nodes would refuse it. So what a grant costs the nodes does not
// depend on how many callers wait for it. A queue exists for as long as it has a caller or a lease.
type queue struct {
	set keySet

	// The queues' lock guards these.
	front, back *turn // those that wait
	asking      bool  // one more has the turn
	leases      int   // of this client on the set that have not ended; more than one only where the lock is broken
	reason      error // why the last attempt was not granted; nil after a grant

	// Only the caller whose turn it is uses these.
	inARow   int       // grants since other processes had a chance
	rest     time.Time // until when nobody asks; zero: nothing holds the next back
	polls    bool      // it is until the next attempt after one that failed, and ends early with news of a release
	cutShort bool      // the last attempt ended with its caller, before the nodes had decided it
	told     *ear      // of releases by other clients; nil until one was in the way
}

// turn is the place of one call in its queue.
type turn struct {
	client     *Client
	queue      *queue
	keys       []string
	value      string        // of its first attempt; empty until it is needed
	waiter     driver.Waiter // nil until it has to wait
	asks       bool          // it has the turn
	waits      bool          // it is between front and back
	prev, next *turn
}

// join gives a call its place at the end of the queue for its keys. It must leave it.
func (c *Client) join(keys []string) *turn {
	qs := &c.queues
	qs.mu.Lock()
	defer qs.mu.Unlock()
	t := &turn{client: c, queue: qs.of(keys), keys: keys}
	if q := t.queue; q.isFree() && q.front == nil {
		t.asks, q.asking = true, true
	} else {
		t.enqueue(q.back, nil)
	}
	return t
}

// of gives the queue for some keys. The queues are locked.
func (qs *queues) of(keys []string) *queue {
	set := setOf(keys)
	q := qs.bySet[set]
	if q == nil {
		q = &queue{set: set}
		if qs.bySet == nil {
			qs.bySet = map[keySet]*queue{}
		}
		qs.bySet[set] = q
	}
	return q
}

// drop forgets a queue that nobody uses any more, and gives what is to be closed then. The queues are locked.
func (qs *queues) drop(q *queue) (told *ear) {
	if q.front != nil || q.asking {
		return nil
	}
	if q.leases == 0 {
		delete(qs.bySet, q.set)
	}
	told, q.told = q.told, nil
	return told
}

// isFree says that nobody has the turn and nothing is in the way of it. The queues are locked.
func (q *queue) isFree() bool { return !q.asking && q.leases == 0 }

// next gives the waiter of the caller that may take the turn now; nil if there is none. The queues are locked.
func (q *queue) next() driver.Waiter {
	if q.front == nil || !q.isFree() {
		return nil
	}
	return q.front.waiter
}

// enqueue puts a turn between two neighbours; nil stands for an end of the queue. The queues are locked.
func (t *turn) enqueue(prev, next *turn) {
	if t.waiter == nil {
		t.waiter = t.client.tasks.NewWaiter()
	}
	q := t.queue
	t.prev, t.next, t.waits = prev, next, true
	if prev == nil {
		q.front = t
	} else {
		prev.next = t
	}
	if next == nil {
		q.back = t
	} else {
		next.prev = t
	}
}

// dequeue takes a turn out from between its neighbours. The queues are locked.
func (t *turn) dequeue() {
	q := t.queue
	if t.prev == nil {
		q.front = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next == nil {
		q.back = t.prev
	} else {
		t.next.prev = t.prev
	}
	t.prev, t.next, t.waits = nil, nil, false
}

// take says whether the call may ask the nodes now. One that may no longer, because TryLock has got the lock for this client
// meanwhile, is the first that waits.
func (t *turn) take() bool {
	qs, q := &t.client.queues, t.queue
	qs.mu.Lock()
	defer qs.mu.Unlock()
	switch {
	case t.asks && q.leases > 0:
		t.asks, q.asking = false, false
		t.enqueue(nil, q.front)
	case !t.asks && q.front == t && q.isFree():
		t.dequeue()
		t.asks, q.asking = true, true
	}
	return t.asks
}

// leave gives the place up, and lets the next caller have its turn.
func (t *turn) leave() {
	qs, q := &t.client.queues, t.queue
	qs.mu.Lock()
	wasFirst := t.asks || q.front == t
	if t.asks {
		t.asks, q.asking = false, false
	}
	if t.waits {
		t.dequeue()
	}
	var next driver.Waiter
	if wasFirst {
		next = q.next()
	}
	told := qs.drop(q)
	qs.mu.Unlock()
	if next != nil {
		next.Wake()
	}
	told.close()
}

// await returns when the call may ask the nodes, or why it never will. failed is its last attempt, nil before the first.
func (t *turn) await(ctx context.Context, failed *failure) error {
	if !t.take() {
		if err := t.observe(ctx, failed, observe.Event{Step: observe.Queued}); err != nil {
			return err
		}
		if err := t.wait(ctx); err != nil {
			return err
		}
	}
	return t.giveWay(ctx, failed)
}

// wait returns when the call has its turn, ctx ends, or the client is closed.
func (t *turn) wait(ctx context.Context) error {
	c := t.client
	defer c.unnotify(c.notify(t.waiter))
	for !c.closed.Load() && ctx.Err() == nil {
		if t.take() {
			return nil
		}
		t.waiter.Wait(ctx)
	}
	return c.whyEnded(ctx)
}

// giveWay lets other processes have their turn after many grants in a row to callers of this one: the next waits for a
// retry delay, in which those that poll will ask, or for the wake-up's spread, within which those that were told do. It also
// keeps the delay after an attempt that failed, when the caller that made it has given up since: else the nodes would be
// asked as often as callers give up.
func (t *turn) giveWay(ctx context.Context, failed *failure) error {
	c, q := t.client, t.queue
	if q.inARow >= localGrants {
		delay := c.wakeSpread
		if delay == 0 {
			var err error
			if delay, err = c.newDelay(); err != nil {
				return err
			}
		}
		q.inARow = 0
		q.rest, q.polls = c.clock.Now().Add(delay), false
	}
	if q.rest.IsZero() {
		return nil
	}
	if left := q.rest.Sub(c.clock.Now()); left > 0 {
		if err := t.observe(ctx, failed, observe.Event{Step: observe.Yielding, Delay: left}); err != nil {
			return err
		}
		t.sleep(ctx)
		if err := c.whyEnded(ctx); err != nil {
			return err // the next waits for what is left of the delay
		}
	}
	q.rest = time.Time{}
	return nil
}

// sleep waits until the queue may ask again.
func (t *turn) sleep(ctx context.Context) {
	q := t.queue
	var told *ear
	if q.polls {
		told = q.told
	}
	q.rest = t.client.sleepUntil(ctx, q.rest, told)
}

// beforeRetry waits until the random delay has passed and the nodes that answered the acquire have answered the release: a
// client that asks again earlier finds its own old votes in its way. The delay is cut short where the client is told of a
// release. It returns why there can be no retry.
func (t *turn) beforeRetry(ctx context.Context, failed *failure) error {
	c, q := t.client, t.queue
	delay, err := c.newDelay()
	if err != nil {
		return err
	}
	q.rest, q.polls = c.clock.Now().Add(delay), true
	failed.claim.observe(observe.Event{Step: observe.Retrying, Op: driver.OpAcquire, Delay: delay, Err: failed.err.Reason})
	failed.release.wait(ctx)
	t.sleep(ctx)
	return c.whyEnded(ctx)
}

// attempt makes an attempt of the call, whose turn it is.
func (t *turn) attempt(ctx context.Context, lockTerm term, before *failure) (*Lease, *failure) {
	c, q := t.client, t.queue
	q.told.take() // what it was told before the attempt is no news after it
	lease, failed := c.attempt(ctx, t.keys, lockTerm, t.value, before)
	if failed == nil {
		q.inARow++
		q.cutShort = false
		return lease, nil
	}
	t.pace(failed)
	if failed.err.Reason == ErrTaken {
		q.inARow = 0 // another process has its turn
		if c.wakeSpread != 0 && q.told == nil && failed.err.Cause == nil {
			q.told = c.listen(t.keys)
		}
	}
	c.queues.mu.Lock()
	q.reason = failed.err.Reason
	c.queues.mu.Unlock()
	return nil, failed
}

// pace has the next caller ask at once where an attempt was cut short, but wait for a retry delay where the one before it was
// as well.
func (t *turn) pace(failed *failure) {
	c, q := t.client, t.queue
	again := q.cutShort
	q.cutShort = failed.err.Cause != nil && !again
	if failed.err.Cause != nil && again {
		q.rest, q.polls = c.clock.Now().Add(c.someDelay()), true
	}
}

// giveUp ends a call that waits for its turn.
func (t *turn) giveUp(ctx context.Context, failed *failure, cause error) error {
	if failed != nil {
		return t.final(ctx, failed.because(cause))
	}
	qs, q := &t.client.queues, t.queue
	qs.mu.Lock()
	reason := q.reason
	if q.leases > 0 {
		reason = ErrTaken
	}
	qs.mu.Unlock()
	return t.final(ctx, &failure{err: &Error{Op: driver.OpAcquire, Resource: nameOf(t.keys), Reason: reason, Cause: cause}})
}

// final ends a call that was not granted the lock. The observer is told also where nothing was sent for it, if it was told of
// the waiting.
func (t *turn) final(ctx context.Context, failed *failure) error {
	if failed.claim == nil && t.value != "" {
		t.client.observe(ctx, t.event(observe.Event{Step: observe.GaveUp, Err: failed.err}))
	}
	return failed.final()
}

// observe tells the observer of a step between two attempts, or before the first, whose value is drawn for it.
func (t *turn) observe(ctx context.Context, failed *failure, e observe.Event) error {
	if failed != nil {
		e.Op = driver.OpAcquire
		failed.claim.observe(e)
		return nil
	}
	if t.value == "" {
		var err error
		if t.value, err = t.client.newValue(); err != nil {
			return err
		}
	}
	t.client.observe(ctx, t.event(e))
	return nil
}

// event is a step before the first attempt.
func (t *turn) event(e observe.Event) observe.Event {
	e.Op, e.Resource, e.Value, e.Call = driver.OpAcquire, nameOf(t.keys), t.value, t.value
	return e
}

// enter counts a new lease in: while it lasts nobody of this client asks for the lock again, but with TryLock.
func (l *Lease) enter() {
	qs := &l.claim.client.queues
	qs.mu.Lock()
	defer qs.mu.Unlock()
	l.queue = qs.of(l.claim.keys)
	l.queue.leases++
	l.queue.reason = nil
}

// vacate counts the lease out when it has ended, and lets the next caller have its turn. Once is enough.
func (l *Lease) vacate() {
	qs := &l.claim.client.queues
	qs.mu.Lock()
	q := l.queue
	if q == nil {
		qs.mu.Unlock()
		return
	}
	l.queue = nil
	q.leases--
	next := q.next()
	qs.drop(q)
	qs.mu.Unlock()
	if next != nil {
		next.Wake()
	}
}
