package redlock

import (
	"context"
	"errors"
	"fmt"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Fencing has every grant carry a number that grows with each grant of the resource, [Lease.Token], for storage that
// refuses a lower one than it has seen.
//
// Each node keeps a counter for each resource. The client proposes a token; a node votes only if the token is above its
// counter, which it then sets to the token. Every two quorums share a node, and on a node each vote has a higher token
// than the one before: so no two grants have the same token, and of two that do not overlap the later has the higher one.
// That holds as long as fewer than w + q − N of the w nodes that voted for the earlier one have ever lost their counter,
// with N nodes and a quorum of q. Of five nodes and three votes, none may; with a quorum of four, and w = 4, two may.
// The restart guard keeps a node from voting for a while, but does not bring its counters back.
//
// What is proposed is one more than the highest token of the resource that the client has proposed or been told. That is
// enough when the client itself had the resource last, or was refused while another had it; otherwise a quorum answers
// with its counters, and a higher token is proposed in the same attempt, once. The numbers have gaps. The largest is
// 2^53−1, because Redis' scripts compute with floating-point numbers.
//
// The counters must not be deleted or evicted, so the nodes must run with maxmemory-policy noeviction. A counter that was
// set far too high costs the node its vote for that resource, and nothing else, as long as no more than N − q nodes are
// down or have such a counter: what is proposed follows a counter only if N − q + 1 nodes (at least two) have about that
// much. Set it to the highest counter of the other nodes to have the vote back.
type Fencing struct {
	// CounterTTL is how long a node keeps a counter after its last vote for the resource, a whole number of
	// milliseconds. A resource that nobody locks for longer starts again from what the next client knows, as does one
	// that is held for longer, by being extended. Zero means 90 days. All clients should have the same.
	CounterTTL time.Duration
}

// defaultCounterTTL is how long the counters of fencing are kept unless set otherwise.
const defaultCounterTTL = 90 * 24 * time.Hour

// WithFencing gives every grant a fencing token. All clients of a resource must have it: the votes of one that has not
// are not counted. It costs a round trip more where the token proposed first is too low. Without it there are no tokens.
func WithFencing(f Fencing) Option {
	return func(c *Client) error {
		if f.CounterTTL == 0 {
			f.CounterTTL = defaultCounterTTL
		}
		c.counterTTL = f.CounterTTL
		return wholeMilliseconds("counter TTL", f.CounterTTL)
	}
}

func wholeMilliseconds(what string, d time.Duration) error {
	if d <= 0 || d%time.Millisecond != 0 {
		return fmt.Errorf("%w: %s %v is not a positive whole number of milliseconds", ErrInvalid, what, d)
	}
	return nil
}

func (c *Client) isFenced() bool { return c.counterTTL != 0 }

// errBehind ends the round of a first token: a quorum would vote for a higher one.
var errBehind = errors.New("token behind the counters")

// raise proposes a second token to all nodes, under the same value, and waits for the answers.
//
// Only votes for the second token count, from whichever node: a node that voted for the first one votes again, since
// the key it holds is this acquisition's. Such a vote renews the key's TTL and never shortens it, as one that comes late could
// otherwise do after an extend. A command with the first token that comes after one with the second changes nothing, for
// its token is not above the counter. So every key that counts has the whole TTL from after the second round began, and
// the validity is sound when counted from the start of either round. It is counted from the first: the attempt then has
// two clock readings as the algorithm has, one before its first command and one after its last vote, and an attempt
// that took longer than the TTL is not granted. A grant loses one round trip of validity by that.
func (a *acquisition) raise(ctx context.Context, first *round, ttl time.Duration) (*round, error) {
	token, err := a.client.tokens.propose(a.keys, first.proposal.next)
	if err != nil {
		return first, err
	}
	a.token = token
	a.mu.Lock()
	a.raised = true
	a.mu.Unlock()
	a.observe(observe.Event{Step: observe.TokenRaised, Op: driver.OpAcquire, Token: a.token})
	r := a.newRound(driver.OpAcquire, ttl, first.ballot.Asked, a.client.clock.Now())
	r.start = first.start
	r.send()
	return r, r.wait(ctx)
}
