package redlock

import (
	"context"
	"fmt"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Unlock cancels the lease's context and releases the lock on all nodes that may have its key. It returns nil once a quorum of
// nodes has deleted the key. A release that a node has not confirmed is sent again, as by [Client.Lock], which Unlock does not
// wait for. Otherwise it returns an [*Error] that matches
//
//   - ErrReleased, if the lease was released before;
//   - ErrLost, if the lease had ended, or the nodes that still had the key were no quorum any more: another client may hold
//     the lock;
//   - ErrNoQuorum, if too few nodes answered: the keys of those that never do expire;
//   - the error of ctx, if it ended first: the release goes on.
//
// Unlock works after the client is closed. ctx may be the lease's own Context, that of the work of [Client.Hold] or
// [Lease.Renew], or derived from one: if that ends with the lease, or while the nodes are asked, Unlock waits for them all the
// same, but not beyond its deadline.
func (l *Lease) Unlock(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrInvalid)
	}
	a := l.acquisition
	a.client.begin()
	defer a.client.end()
	ctx, cancel := l.contexts.outlasting(ctx, a.client.clock)
	defer cancel()
	before := l.state()
	a.mu.Lock()
	if l.ended == ErrReleased {
		a.mu.Unlock()
		return &Error{Op: driver.OpRelease, Resource: l.Resource(), Reason: ErrReleased}
	}
	if l.ended != nil {
		before = l.ended
	}
	l.ended = ErrReleased
	l.timer.Stop()
	a.mu.Unlock()

	r, reason := l.release(ctx)
	var err error
	if reason != nil || before != nil {
		failed := r.failed(ctx, reason)
		if before != nil {
			failed.Reason = before
		}
		err = failed
	}
	a.observe(observe.Event{Step: observe.Released, Op: driver.OpRelease, Accepted: r.votes, Quorum: a.client.quorum, Err: err})
	return err
}

// release sends the release of a lease that has just ended and waits for the answers. The next caller gets its turn even if the
// observer panics.
func (l *Lease) release(ctx context.Context) (r *round, reason error) {
	defer l.vacate()
	l.contexts.end(ErrReleased)
	l.acquisition.observe(observe.Event{Step: observe.ReleaseStarted, Op: driver.OpRelease})
	r = l.acquisition.releaseAll(true)
	return r, r.wait(ctx)
}

// releaseAll sends the release to all nodes that may have a key of the acquisition, whatever happens to the caller's context.
// It is nil if none may. Nodes are asked at once that have voted, and those whose answer did not come, since a SET whose reply
// was lost may have been applied. A node that has not answered yet is asked when it has, so that no release overtakes an
// acquire. One that has said no has no key to delete.
//
// Nobody waits for the release of an attempt that failed, not even a retry: each node's batcher keeps the client's commands for
// one lock in order, so that a retry does not find old votes of its own.
func (a *acquisition) releaseAll(isAwaited bool) *round {
	a.mu.Lock()
	isClean := a.voted|a.doubtful|a.asking() == 0
	a.released = isClean
	a.mu.Unlock()
	if isClean {
		return nil
	}
	r := a.newRound(driver.OpRelease, 0, a.client.clock.Now())
	r.settled = !isAwaited
	a.mu.Lock()
	a.released, a.release = true, r
	later := a.asking()
	now := (a.voted | a.doubtful).Without(later)
	r.ballot.Later = now | later
	isOver := r.isOver()
	a.mu.Unlock()
	if isOver { // the last node has said no meanwhile
		r.end()
	} else if now != 0 {
		r.sendTo(now, r.start)
	}
	return r
}

// releaseLate asks for the release on a node whose answer to the acquire has come after the others were asked.
func (a *acquisition) releaseLate(i int) {
	now, one := a.client.clock.Now(), quorum.Set(0).With(i)
	a.mu.Lock()
	r := a.release
	if r == nil || !r.ballot.Later.Has(i) { // two answers can come, to two tokens
		a.mu.Unlock()
		a.releaseOn(i, 0)
		return
	}
	arms := r.mark(one, now)
	a.mu.Unlock()
	r.send(one, arms)
}

// needNot takes a node out of a release, which has answered the acquire with no.
func (a *acquisition) needNot(i int) {
	a.mu.Lock()
	r := a.release
	if r == nil || !r.ballot.Later.Has(i) {
		a.mu.Unlock()
		return
	}
	r.ballot.Later = r.ballot.Later.Without(quorum.Set(0).With(i))
	decided := !r.settled && r.decide()
	isOver := r.isOver()
	a.mu.Unlock()
	if decided {
		r.waiter.Wake()
	}
	if isOver {
		r.end()
	}
}

// releaseOn sends the release to one node, which nobody waits for but Close. tries is how many of them have failed.
func (a *acquisition) releaseOn(node, tries int) {
	r := a.newRound(driver.OpRelease, 0, a.client.clock.Now())
	r.settled, r.tries = true, tries
	r.sendTo(quorum.Set(0).With(node), r.start)
}
