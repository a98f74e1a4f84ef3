package redlock

import (
	"context"
	"fmt"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Unlock cancels the lease's context and releases the lock on all nodes. It returns nil once a quorum of nodes has deleted the
// key. Otherwise it returns an [*Error] that matches
//
//   - ErrReleased, if the lease was released before;
//   - ErrLost, if the lease had ended, or so many nodes had lost the key that no quorum had it any more: another client may
//     hold the lock;
//   - ErrNoQuorum, if too few nodes answered: their keys expire;
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
	r = l.acquisition.releaseAll()
	return r, r.wait(ctx)
}

// releaseAll sends the release to all nodes, also to those that said no or did not answer: a SET whose reply was lost may have
// been applied. Votes that arrive from now on are taken back.
func (a *acquisition) releaseAll() *round {
	r := a.newRound(driver.OpRelease, 0, quorum.All(len(a.client.nodes)), a.client.clock.Now())
	for i := range r.commands {
		r.commands[i].Wake = a.client.wakeSpread != 0
	}
	a.sendRelease(r)
	return r
}

// releaseAfter cleans up after a failed attempt, whatever happens to the caller's context. A retry waits for the nodes that
// answered the acquire; silent ones would only cost another node timeout. It wakes nobody, since refused clients would go on
// waking each other.
func (a *acquisition) releaseAfter(acquire *round) *round {
	r := a.newRound(driver.OpRelease, 0, quorum.All(len(a.client.nodes)), a.client.clock.Now())
	a.mu.Lock()
	r.forAnswers = true
	r.awaited = acquire.ballot.Replied()
	r.decide()
	a.mu.Unlock()
	a.sendRelease(r)
	return r
}

func (a *acquisition) sendRelease(r *round) {
	a.mu.Lock()
	a.released = true
	a.releasing = r.ballot.Asked
	a.mu.Unlock()
	r.send()
}
