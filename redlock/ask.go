package redlock

import (
	"context"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// ask sends the same command to all nodes at once. The error is nil once a quorum has done it. It says why not as soon as no
// quorum can, or ctx ends.
func (a *acquisition) ask(ctx context.Context, op driver.Op, ttl time.Duration, start time.Time) (*round, error) {
	r := a.newRound(op, ttl, quorum.All(len(a.client.nodes)), start)
	r.send()
	err := r.wait(ctx)
	if err == errBehind {
		r, err = a.raise(ctx, r, ttl)
	}
	r.report(err)
	return r, err
}

// raise proposes a second token to all nodes, under the same value, and waits for the answers.
//
// Only votes for the second token count. A node that voted for the first one votes again, since the key it holds is this
// client's. Such a vote never shortens the key's TTL, as a late one could otherwise do after an extend. A command with the
// first token that arrives after one with the second changes nothing, because its token is not above the counter. So every key
// that counts has its whole TTL from the second round on, and the validity is sound when counted from either start. It is
// counted from the first, as the algorithm has it: one clock reading before the first command, and one after the last vote.
func (a *acquisition) raise(ctx context.Context, first *round, ttl time.Duration) (*round, error) {
	if first.proposal.next > maxToken {
		return first, ErrTokensUsedUp
	}
	a.token = a.client.tokens.propose(a.keys, first.proposal.next)
	a.mu.Lock()
	a.raised = true
	a.mu.Unlock()
	a.observe(observe.Event{Step: observe.TokenRaised, Op: driver.OpAcquire, Token: a.token})
	r := a.newRound(driver.OpAcquire, ttl, first.ballot.Asked, a.client.clock.Now())
	r.start = first.start
	r.send()
	return r, r.wait(ctx)
}
