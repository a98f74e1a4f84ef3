package rules

import (
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
)

// patience is how long it may take the clients of a lock to get it while nothing is in the way. docs/checker.md derives it.
type patience struct {
	// nodes is how many there are to ask, alone how many must be in order for one client to get the lock, and together for one
	// of several to get it.
	nodes, alone, together int
	// queues says that acquires of one client wait in a queue.
	queues           bool
	timeout          time.Duration // for an answer
	attempt, cleanUp time.Duration // how long they take at the most
	// gates is how long the nodes take that a retry asks before the others, and retries how many there are from one that asks
	// all nodes at once to the next: a node that is taken can refuse those in between. 0 and 1 without a gate.
	gates   time.Duration
	retries int
	delay   time.Duration // the longest between two attempts
	// votes says that of several clients who ask at once each may get too few nodes.
	votes bool
	// crowd is how many attempts must meet for each of them to get too few votes; 0 if that is not known.
	crowd int
	drift protocols.Drift
	work  time.Duration // how long the client's code takes for an attempt and its clean-up at the most
}

// patienceOf is that of a lock on some nodes. It is not known of every protocol, nor of every habit: some wait by rules of
// their own, or leave votes behind.
func patienceOf(lock protocols.Settings, nodes int, step time.Duration) (p patience, known bool) {
	p = patience{nodes: nodes, together: nodes, timeout: lock.NodeTimeout, votes: true, retries: 1}
	p.work = time.Duration(8*(nodes+2)) * step // it sends, receives and reads the clock for each node a few times
	p.alone, _ = lock.Votes(nodes)
	switch {
	case protocols.Has[protocols.RedlockSettings](lock):
		own := protocols.Of[protocols.RedlockSettings](lock)
		p.attempt, p.cleanUp, p.delay, p.queues = p.timeout, p.timeout, own.Span().Max, true
		hasToken := own.Fencing || protocols.Of[protocols.OneRedisSettings](lock).Sequence // which is waited for like a node
		if hasToken {
			p.attempt *= 2
		}
		if nodes > 1 {
			p.gates, p.retries = time.Duration(nodes-p.alone+1)*p.timeout, 16
			if !hasToken && own.WakeUp <= p.delay && own.Batching == 0 && step == 0 {
				p.crowd = (nodes + p.alone - 2) / (p.alone - 1) // as many as share all nodes, with one vote less than they need
			}
		}
	case protocols.Has[protocols.RedlockPlainSettings](lock):
		own := protocols.Of[protocols.RedlockPlainSettings](lock)
		known := own.Cleanup == protocols.CleanupCompareAndDelete && own.ConnectTimeout == 0 && own.Resolution == 0
		if !known || own.FailedRelease == protocols.Stop {
			return p, false
		}
		longest := max(p.timeout, own.ConnectedTimeout)
		p.attempt, p.delay = longest, own.Span().Max
		if own.Asking != protocols.Parallel {
			p.attempt *= time.Duration(nodes)
			p.alone = nodes // a silent one holds up the others
		}
		if own.FailedNode != protocols.NoVote || own.Tokens != protocols.NoTokens {
			p.alone = nodes
		}
		p.cleanUp = p.attempt
		p.attempt += 2 * longest // for tokens
	case protocols.Has[protocols.SingleSettings](lock):
		p.nodes, p.alone, p.together, p.votes = 1, 1, 1, false
		p.attempt, p.cleanUp, p.delay = 2*p.timeout, p.timeout, protocols.Of[protocols.RetrySettings](lock).Span().Max
	default:
		return p, false
	}
	p.drift = protocols.Of[protocols.DriftSettings](lock).Drift
	return p, true
}

// lasts says whether a lock is long enough to be valid still after an attempt, by far.
func (p *patience) lasts(ttl time.Duration) bool {
	return 2*p.attempt+p.cleanUp < ttl-allowance(p.drift, ttl)
}

// tripOn is how long a message and its answer take on these ways, at the most.
func tripOn(ways []*way) (trip time.Duration) {
	for _, w := range ways {
		_, there := w.Takes(network.Requests)
		_, back := w.Takes(network.Replies)
		trip = max(trip, there+back)
	}
	return trip
}

// fits says whether answers come in time for certain: a script that the node does not know is sent twice, and a command may
// wait for a quarter of the node timeout until those before it are answered. That a client waits for longer over a connection
// which it has does not count: any node may be one that it has to connect to.
func (p *patience) fits(trip time.Duration) bool { return 2*trip+p.work <= p.timeout-p.timeout/4 }

// slack is what is added for clock readings that are rounded.
const slack = time.Millisecond

// bound is the longest that it may take until a client has the lock, or one of several where votes cannot be split, while so
// many nodes are free; false if that is not known.
func (p *patience) bound(free int, trip time.Duration) (time.Duration, bool) {
	attempts := 2 // one that began before that, and the next
	if free < p.nodes {
		attempts = 1 + p.retries
	}
	return time.Duration(attempts)*p.whole() + slack, p.fits(trip)
}

// withoutCrowds is the longest that it may take until one of some clients has the lock while all nodes are free, and so few
// attempts meet that one of them gets enough votes; false if that is not known. An attempt that began too early may be in the
// way of one that did not, and each client may once give up a node which it takes for silent.
func (p *patience) withoutCrowds(clients int, trip time.Duration) (time.Duration, bool) {
	return time.Duration(3+clients)*p.whole() + slack, p.crowd > 0 && p.fits(trip)
}

// whole is how long it may take from the beginning of an attempt to that of the next.
func (p *patience) whole() time.Duration {
	return p.gates + p.attempt + p.cleanUp + p.delay + p.work
}
