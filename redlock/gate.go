package redlock

import (
	"context"
	"hash/fnv"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Where several clients want a lock, an attempt asks one node first, its gate, and the others only if the gate votes for it.
// The clients agree on the gate: it is the first node that answers in an order which the resource gives. So a client that is
// too early costs the nodes one command, and clients do not split the votes among them. The vote of the gate is one of the
// quorum like any other, and validity counts from before the gate was asked.
//
// A key that its client could not remove from the gate would keep everybody out until it expires. Therefore the next attempt
// after sixteen that were refused asks all nodes at once, whichever calls of the client made them.

// allEvery is after how many attempts that were refused one asks all nodes at once.
const allEvery = 16

// gate is the first node that is neither tried nor slow, in the order that the resource gives; the first not tried if there is
// none.
func (c *Client) gate(keys []string, tried quorum.Set) int {
	h := fnv.New32a()
	h.Write([]byte(keys[0]))
	n := len(c.nodes)
	first := int(h.Sum32() % uint32(n))
	usual := c.usual()
	fallback := -1
	for k := range n {
		i := c.byName[(first+k)%n]
		switch {
		case tried.Has(i):
		case !c.peers[i].isSlow(usual):
			return i
		case fallback < 0:
			fallback = i
		}
	}
	return fallback
}

// askGate asks one node, and another one if that does not answer soon, until one has voted or the round is settled.
func (r *round) askGate(ctx context.Context) {
	a := r.acquisition
	c := a.client
	patience := c.patience()
	for tried := quorum.Set(0); tried.Len() <= len(c.nodes)-c.quorum && !c.closed.Load(); {
		i := c.gate(a.keys, tried)
		tried = tried.With(i)
		if a.place != nil {
			if waiter, err := c.listen(i); err == nil { // without random bytes it polls
				r.commands[i].Line = &driver.Line{Waiter: waiter}
				a.place.nodes = a.place.nodes.With(i)
			}
		}
		a.observe(observe.Event{Step: observe.GateAsked, Op: driver.OpAcquire, Node: observe.NodeOutcome{Node: c.names[i]}})
		r.sendTo(quorum.Set(0).With(i), c.clock.Now())
		if r.waitForGate(ctx, i, patience) {
			return
		}
		r.suspect(i)
	}
}

// waitForGate waits for the answer of a gate. It reports whether no other gate has to be asked.
func (r *round) waitForGate(ctx context.Context, i int, patience time.Duration) (isDone bool) {
	a := r.acquisition
	until := a.client.clock.Now().Add(patience)
	timer := a.client.clock.AfterFunc(patience, r.waiter.Wake)
	defer timer.Stop()
	for {
		a.mu.Lock()
		isDone = r.settled || r.ballot.Accepted|r.ballot.Behind != 0
		answered := r.ballot.Answered.Has(i)
		a.mu.Unlock()
		if isDone || ctx.Err() != nil {
			return true
		}
		if answered || !a.client.clock.Now().Before(until) {
			return false
		}
		r.waiter.Wait(ctx)
	}
}

// suspect notes that a gate has not answered soon. If it answers from now on, that is noted later: answers are counted under
// the lock.
func (r *round) suspect(i int) {
	r.acquisition.mu.Lock()
	defer r.acquisition.mu.Unlock()
	if !r.ballot.Answered.Has(i) {
		r.acquisition.client.peers[i].suspected.Store(true)
	}
}

// sendRest asks the nodes that are left, unless the gate has settled the round or ctx has ended.
func (r *round) sendRest(ctx context.Context, now time.Time) {
	a := r.acquisition
	a.mu.Lock()
	rest := r.ballot.Later
	if r.settled || ctx.Err() != nil && r.ballot.Asked != 0 {
		rest = 0
	}
	a.mu.Unlock()
	if rest != 0 {
		r.sendTo(rest, now)
	}
}
