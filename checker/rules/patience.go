package rules

import (
	"math"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// patience is how long it may take the clients of a lock to get it while nothing is in the way. docs/checker.md derives it.
type patience struct {
	// nodes is how many there are to ask, alone how many must be in order for one client to get the lock, and together for one
	// of several to get it.
	nodes, alone, together int
	// queues says that acquires of one client wait in a queue.
	queues bool
	// rounds is how often an attempt asks the nodes at the most, one round after the other.
	rounds           int
	timeout          time.Duration // for an answer
	attempt, cleanUp time.Duration // how long they take at the most
	// gates is how long the nodes take that a retry asks before the others, and retries how many there are from one that asks
	// all nodes at once to the next: a node that is taken can refuse those in between. 0 and 1 without a gate.
	gates   time.Duration
	retries int
	delay   protocols.Range
	grown   time.Duration // for how long a client waits in vain before its delays come from that range
	// votes says that of several clients who ask at once each may get too few nodes.
	votes bool
	// spaced says that the delay between two attempts is drawn evenly from its range, and that no command waits for another.
	spaced bool
	// crowd is how many attempts must meet for each of them to get too few votes; 0 if that is not known.
	crowd int
	drift protocols.Drift
	work  time.Duration // how long the client's code takes for an attempt and its clean-up at the most
}

// patienceOf is that of a lock on some nodes. It is not known of every protocol, nor of every habit: some wait by rules of
// their own, or leave votes behind.
func patienceOf(lock protocols.Settings, nodes int, step time.Duration) (p patience, known bool) {
	p = patience{nodes: nodes, together: nodes, rounds: 1, timeout: lock.NodeTimeout, votes: true, retries: 1}
	p.work = time.Duration(8*(nodes+2)) * step // it sends, receives and reads the clock for each node a few times
	p.alone, _ = lock.Votes(nodes)
	switch {
	case protocols.Has[protocols.RedlockSettings](lock):
		own := protocols.Of[protocols.RedlockSettings](lock)
		if own.Fencing || protocols.Of[protocols.OneRedisSettings](lock).Sequence { // which is waited for like a node
			p.rounds = 2
		}
		p.attempt, p.cleanUp, p.delay = time.Duration(p.rounds)*p.timeout, p.timeout, own.Span()
		if own.RetryDelay == (protocols.Range{}) { // a third of the time waited, up to 100 ms, and half of that more or less
			p.delay.Min, p.grown = 50*time.Millisecond, 300*time.Millisecond
		}
		if nodes > 1 {
			p.gates, p.retries, p.rounds = time.Duration(nodes-p.alone+1)*p.timeout, 16, p.rounds+1
		}
		p.queues, p.spaced = true, own.Batching == 0 && step == 0
		if p.rounds <= 2 && nodes > 1 && own.WakeUp <= p.delay.Max && p.spaced {
			p.crowd = (nodes + p.alone - 2) / (p.alone - 1) // as many as share all nodes, with one vote less than they need
		}
	case protocols.Has[protocols.RedlockPlainSettings](lock):
		own := protocols.Of[protocols.RedlockPlainSettings](lock)
		known := own.Cleanup == protocols.CleanupCompareAndDelete && own.ConnectTimeout == 0 && own.Resolution == 0
		if !known || own.FailedRelease == protocols.Stop {
			return p, false
		}
		longest := max(p.timeout, own.ConnectedTimeout)
		p.attempt, p.delay = longest, own.Span()
		if own.Asking != protocols.Parallel {
			p.attempt *= time.Duration(nodes)
			p.alone = nodes // a silent one holds up the others
		}
		if own.FailedNode != protocols.NoVote || own.Tokens != protocols.NoTokens {
			p.alone = nodes
		}
		p.cleanUp = p.attempt
		p.attempt += 2 * longest // for tokens
		p.spaced = own.Asking == protocols.Parallel && own.Backoff.Ratio().IsZero() && step == 0
	case protocols.Has[protocols.SingleSettings](lock):
		p.nodes, p.alone, p.together, p.votes = 1, 1, 1, false
		p.attempt, p.cleanUp, p.delay = 2*p.timeout, p.timeout, protocols.Of[protocols.RetrySettings](lock).Span()
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

// travel is how long messages take.
type travel struct {
	trip  time.Duration // there and back, at the most
	least time.Duration // of a request
	most  time.Duration
}

// travelOn is how long messages take on some ways.
func travelOn(ways []*way) travel {
	t := travel{least: time.Duration(kernel.Forever)}
	for _, w := range ways {
		t.include(w)
	}
	return t
}

// include has a way considered as well.
func (t *travel) include(w *way) {
	least, most := w.Takes(network.Requests)
	_, back := w.Takes(network.Replies)
	t.least, t.most, t.trip = min(t.least, least), max(t.most, most), max(t.trip, most+back)
}

// fits says whether answers come in time for certain: a script that the node does not know is sent twice, and a command may
// wait for a quarter of the node timeout until those before it are answered. That a client waits for longer over a connection
// which it has does not count: any node may be one that it has to connect to.
func (p *patience) fits(t travel) bool { return 2*t.trip+p.work <= p.timeout-p.timeout/4 }

// slack is what is added for clock readings that are rounded.
const slack = time.Millisecond

// mostAttempts is more than a run has: each is an event of its history.
const mostAttempts = sim.DefaultMaxEvents

// missed is how probable it may be that a run finds something although the lock is right.
const missed = 1e-9

// bound is the longest that it may take until one of some clients has the lock while so many nodes are free; false if that is
// not known.
func (p *patience) bound(clients, free int, t travel) (time.Duration, bool) {
	if !p.fits(t) {
		return 0, false
	}
	attempts := 2 // one that began before that, and the next
	if free < p.nodes {
		attempts = 1 + p.retries
	}
	alone := time.Duration(attempts)*p.whole() + slack
	if clients == 1 || !p.votes {
		return alone, true
	}
	width := p.delay.Max - p.delay.Min
	conflict := time.Duration(2*p.rounds-1)*t.trip + 3*(t.most-t.least)
	if !p.spaced || width == 0 || p.delay.Min < max(t.trip, conflict) {
		return 0, false
	}
	collide := float64(clients-1) * starts(p.delay, width+conflict) * float64(conflict) / float64(width)
	if collide >= 1 {
		return 0, false
	}
	splits := math.Ceil(math.Log(missed/mostAttempts) / math.Log(collide))
	if collide == 0 {
		splits = 1
	}
	return alone + p.grown + time.Duration(splits)*(p.delay.Max+time.Duration(p.rounds)*t.trip), true
}

// withoutCrowds is the longest that it may take until one of some clients has the lock while all nodes are free, and so few
// attempts meet that one of them gets enough votes; false if that is not known. An attempt that began too early may be in the
// way of one that did not, and each client may once give up a node which it takes for silent.
func (p *patience) withoutCrowds(clients int, t travel) (time.Duration, bool) {
	return time.Duration(3+clients)*p.whole() + slack, p.crowd > 0 && p.fits(t)
}

// whole is how long it may take from the beginning of an attempt to that of the next.
func (p *patience) whole() time.Duration {
	return p.gates + p.attempt + p.cleanUp + p.delay.Max + p.work
}

// starts is how many attempts a client makes in a stretch of time at the most, on average: one at its beginning, and then one
// after every delay.
func starts(delay protocols.Range, in time.Duration) float64 {
	sum, volume := 1.0, 1.0
	for n := 1; time.Duration(n)*delay.Min < in; n++ {
		// n delays are that short together with at most this probability: the volume of a simplex.
		volume = 1
		for i := 1; i <= n; i++ {
			volume *= float64(in-time.Duration(n)*delay.Min) / float64(delay.Max-delay.Min) / float64(i)
		}
		sum += min(1, volume)
	}
	return sum
}
