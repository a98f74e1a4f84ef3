package rules

import (
	"slices"
	"strconv"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

var tokensRule = Rule{
	Name:  "tokens",
	Kind:  checker.Contract,
	Needs: "a grant with a fencing token, and what the nodes' counters say",
	Doc: `
Every change of a fencing counter raises it, to at most 2^53-1, and a quorum of nodes has stored the token of a grant. A token
of a sequence is drawn once a quorum has voted.
(*redlock* and *one-redis*.)`,
	New: watchTokens,
}

// tokens watches the fencing counters of the nodes: they rise to at most the largest token, and the token of a grant is above
// all earlier ones on a quorum of nodes, which voted for it.
type tokens struct {
	*watch
	voted map[proposed]int // on how many nodes
}

// proposed is a token that a client has proposed for a resource.
type proposed struct{ resource, client, token string }

// isFenced says whether the nodes have fencing counters.
func isFenced(r *Run) bool { return protocols.Of[protocols.RedlockSettings](r.Lock).Fencing }

// number is a counter's, and 0 if there is none.
func number(counter string) int64 {
	n, _ := strconv.ParseInt(counter, 10, 64) // Redis keeps no other
	return n
}

// largestToken is 2^53−1: Redis' scripts have only floating-point numbers.
const largestToken = 1<<53 - 1

func watchTokens(r *watch) {
	if protocols.Of[protocols.OneRedisSettings](r.Lock).Sequence && !r.Foreign {
		watchSequence(r)
	}
	if !isFenced(r.Run) {
		return
	}
	x := &tokens{r, map[proposed]int{}}
	r.onApplied(x.applied)
	if !r.FailsOver { // what becomes of those that are promoted is not watched
		r.onReturn(x.returned)
	}
}

func (t *tokens) applied(a *redis.Applied) {
	if !driver.IsTokenKey(a.Key) {
		return
	}
	at := slices.IndexFunc(t.Resources, func(r string) bool { return driver.TokenKey(r) == a.Key })
	if at < 0 {
		return
	}
	resource, client, before, after := t.Resources[at], a.Client.Name(), number(a.Before.Value), number(a.After.Value)
	switch {
	case after <= before:
		t.broken(resource, "%s changes the fencing counter of %s from %q to %q", client, a.Server.Name(), a.Before.Value, a.After.Value)
	case after > largestToken:
		t.broken(resource, "%s sets the fencing counter of %s to %d: scripts, whose numbers are floating-point, cannot tell it from the next",
			client, a.Server.Name(), after)
	}
	t.voted[proposed{resource, client, a.After.Value}]++
}

func (t *tokens) returned(c *call, err error) {
	lease, voted := c.Lease.(protocols.Voted)
	if !voted || c.Func != protocols.AcquireCall || err != nil {
		return
	}
	token, fenced := c.Lease.Token()
	if !fenced {
		t.broken(c.Resources[0], "%s is granted the lock without a fencing token", c.Client)
		return
	}
	t.judged++
	for _, key := range c.Resources {
		if n := t.voted[proposed{key, c.Client, strconv.FormatInt(token, 10)}]; n < lease.Quorum() {
			t.broken(key, "%s is granted the lock with the token %d, which only %d of the %d nodes that it takes have found above all earlier ones",
				c.Client, token, n, lease.Quorum())
		}
	}
}

// watchSequence watches that the token of a grant is one that the sequence gave once a quorum had voted: what it gave before
// may be lower than that of a grant in between.
func watchSequence(r *watch) {
	given := map[string]int64{} // until a quorum had voted, by the value of the attempt
	r.onStep(func(client string, e *observe.Event) {
		switch {
		case e.Op != driver.OpAcquire:
		case e.Step == observe.QuorumReached:
			given[e.Value] = r.World.Storage.Drawn()
		case e.Token != 0:
			r.judged++
			if e.Token <= given[e.Value] {
				r.broken(e.Resource, "%s is granted the lock with the token %d, which the sequence had given before a quorum voted for it", client, e.Token)
			}
		}
	}, observe.QuorumReached, observe.Granted)
}

// raised remembers the fencing counters as votes have left them. A node with one that is ahead of that, as an operator may set
// it, may have no vote: clients follow a counter only if others bear it out. Nor may one that votes have raised since, as long
// as another node is far behind.
type raised struct {
	servers  []*redis.Server
	counters []string // their names; none without fencing
	counted  map[counterOf]string
}

// counterOf is a fencing counter of a node.
type counterOf struct {
	server *redis.Server
	key    string
}

// farCounters is by how much a counter may be ahead of others that bear it out, at the most: more than a node can have missed.
const farCounters = 1 << 32

func watchRaised(r *Run) *raised {
	x := &raised{servers: r.World.Servers, counted: map[counterOf]string{}}
	if !isFenced(r) {
		return x
	}
	for _, name := range r.Resources {
		x.counters = append(x.counters, driver.TokenKey(name))
	}
	r.onApplied(func(c *redis.Applied) {
		if x.isCounter(c.Key) {
			x.counted[counterOf{c.Server, c.Key}] = c.After.Value
		}
	})
	return x
}

// isCounter says whether a key is a fencing counter.
func (r *raised) isCounter(key string) bool { return slices.Contains(r.counters, key) }

// isAhead says whether a node has a counter that no vote has raised so far, that another node may not bear out, or above which
// there is no token.
func (r *raised) isAhead(s *redis.Server) bool {
	return slices.ContainsFunc(r.counters, func(key string) bool {
		n := counterOn(s, key)
		isAlone := n > farCounters && slices.ContainsFunc(r.servers, func(o *redis.Server) bool { return n-counterOn(o, key) > farCounters })
		return n > number(r.counted[counterOf{s, key}]) || n >= largestToken || isAlone
	})
}

// counterOn is what a node's fencing counter is; 0 if it has none.
func counterOn(s *redis.Server, key string) int64 {
	r, _, _ := s.Memory().Peek(key)
	return number(r.Value)
}
