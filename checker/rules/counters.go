package rules

import (
	"maps"
	"slices"
	"strconv"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
)

// counters watches the fencing counters of the nodes: they rise to at most the largest token, and the token of a grant is above
// all earlier ones on a quorum of nodes, which voted for it. A client that knows a token of a resource proposes a higher one,
// and none that goes beyond what enough nodes bear out.
type counters struct {
	run   *Run
	voted map[proposed]int // on how many nodes
	// highest is of all counters of each of the Servers so far, and witnesses how many of them must bear a counter out.
	highest   []int64
	witnesses int
	// followed is the highest token of each client that was borne out, and tries how many it has proposed: each is one above
	// the last.
	followed, tries map[counted]int64
	knows           map[counted]int64
	// began is, by the value of an attempt, the highest token of its resources that the client knew then.
	began map[string]int64
}

// counted is a resource with the tokens of which a client counts.
type counted struct{ client, resource string }

// proposed is a token that a client has proposed for a key.
type proposed struct {
	key, client, token string
}

// isFenced says whether the nodes have fencing counters.
func isFenced(r *Run) bool { return protocols.Of[protocols.RedlockSettings](r.Lock).Fencing }

// number is a counter's, and 0 if there is none.
func number(counter string) int64 {
	n, _ := strconv.ParseInt(counter, 10, 64) // Redis keeps no other
	return n
}

// largestToken is 2^53−1: Redis' scripts have only floating-point numbers.
const largestToken = 1<<53 - 1

// isUsedUp says whether a node has a counter so high that there may be no token above it, or above the next few.
func (r *Run) isUsedUp() bool {
	return slices.ContainsFunc(r.World.Servers, func(s *redis.Server) bool {
		return slices.ContainsFunc(r.Resources, func(name string) bool {
			counter, _, there := s.Observable().Peek(driver.TokenKey(name))
			return there && number(counter.Value) >= largestToken-100
		})
	})
}

func watchCounters(r *Run) {
	if !isFenced(r) {
		return
	}
	n := len(r.World.Servers)
	quorum, _ := r.Lock.Votes(n)
	c := &counters{run: r, voted: map[proposed]int{}, knows: map[counted]int64{}, followed: map[counted]int64{}, tries: map[counted]int64{}, began: map[string]int64{},
		highest: make([]int64, n), witnesses: max(n-quorum+1, min(2, n))}
	if r.isLibrary() && len(r.World.Replicas) == 0 {
		r.onApplied(c.follows)
		r.onEvent(func(e *history.Event) {
			if e.Kind == history.Fault {
				c.look()
			}
		})
	}
	if r.isLibrary() {
		r.onStep(c.stepped, observe.AttemptStarted, observe.TokenRaised, observe.Granted)
		r.onCrash(func(client string) {
			maps.DeleteFunc(c.knows, func(of counted, _ int64) bool { return of.client == client })
		})
	}
	r.onApplied(c.applied)
	if len(r.World.Replicas) == 0 { // what becomes of those that are promoted is not watched
		r.onReturn(c.returned)
	}
}

// look notes the counters as they are.
func (c *counters) look() {
	for i, s := range c.run.World.Servers {
		for _, name := range c.run.Resources {
			counter, _, _ := s.Observable().Peek(driver.TokenKey(name))
			c.highest[i] = max(c.highest[i], number(counter.Value))
		}
	}
}

// farCounters is by how much a counter may be ahead of others that bear it out, at the most: more than a node can have missed.
const farCounters = 1 << 32

// follows judges a token that a node votes for: enough nodes had counters that were not lower by far. The token of a lock on
// several resources goes by all their counters.
func (c *counters) follows(a *redis.Applied) {
	at := slices.IndexFunc(c.run.Resources, func(name string) bool { return driver.TokenKey(name) == a.Key })
	node := slices.Index(c.run.World.Servers, a.Server)
	if at < 0 || node < 0 {
		return
	}
	token, bear, of := number(a.After.Value), 0, counted{a.Client.Name(), c.run.Resources[at]}
	for _, counter := range c.highest {
		if counter >= token-1-farCounters-c.tries[of] { // from one that was borne out the client goes on by itself
			bear++
		}
	}
	last := c.followed[of]
	switch isNext := last > 0 && token <= last+c.tries[of]; {
	case bear >= c.witnesses, isNext:
		c.followed[of] = max(last, token)
	default:
		c.run.broken(checker.Contract, c.run.Resources[at], "%s gives %s the token %d, which the counters of only %d of the %d nodes that it takes bear out",
			a.Server.Name(), a.Client.Name(), token, bear, c.witnesses)
	}
	c.highest[node] = max(c.highest[node], token)
}

func (c *counters) applied(a *redis.Applied) {
	if !driver.IsTokenKey(a.Key) {
		return
	}
	at := slices.IndexFunc(c.run.Resources, func(r string) bool { return driver.TokenKey(r) == a.Key })
	if at < 0 {
		return
	}
	resource, client := c.run.Resources[at], a.Client.Name()
	before := number(a.Before.Value)
	after, err := strconv.ParseInt(a.After.Value, 10, 64)
	if err != nil || after <= before {
		c.run.broken(checker.Contract, resource, "%s changes the fencing counter of %s from %s to %s", client, a.Server.Name(),
			counter(a.Before.Value), counter(a.After.Value))
	}
	if after > largestToken {
		c.run.broken(checker.Contract, resource, "%s sets the fencing counter of %s to %d: scripts, whose numbers are floating-point, cannot tell it from the next",
			client, a.Server.Name(), after)
	}
	c.voted[proposed{resource, client, a.After.Value}]++
}

// stepped takes what a client tells of tokens: it has proposed one, or must propose a higher one, because a quorum of nodes
// would vote for no lower one.
func (c *counters) stepped(client string, e *observe.Event) {
	names := resourcesOf(e.Resource)
	if e.Step == observe.AttemptStarted || e.Step == observe.TokenRaised {
		for _, name := range names {
			c.tries[counted{client, name}]++
		}
	}
	switch e.Step {
	case observe.AttemptStarted:
		for _, name := range names {
			c.began[e.Value] = max(c.began[e.Value], c.knows[counted{client, name}])
		}
		return
	case observe.TokenRaised:
		// Another client of the process begins with no knowledge.
		if known := c.began[e.Value]; e.Token <= known+1 && c.run.clients.number(client) == 0 {
			c.run.broken(checker.Contract, names[0], "%s must raise the token that it proposes to %d, although it knew the token %d before it proposed one", client, e.Token, known)
		}
	case observe.Granted:
	default:
		return
	}
	if e.Token >= largestToken { // it is not remembered: there is none above it, and so the nodes are asked
		return
	}
	for _, name := range names {
		of := counted{client, name}
		c.knows[of] = max(c.knows[of], e.Token)
	}
}

// counter is a counter in words.
func counter(value string) string {
	if value == "" {
		return "none"
	}
	return value
}

func (c *counters) returned(call *protocols.Call, err error) {
	lease, voted := call.Lease.(protocols.Voted)
	if !voted || call.Func != protocols.AcquireCall || err != nil {
		return
	}
	token, fenced := call.Lease.Token()
	if !fenced {
		c.run.broken(checker.Contract, call.Resources[0], "%s is granted the lock without a fencing token", call.Client)
		return
	}
	c.run.Judged[checker.JudgeCounters]++
	for _, key := range call.Resources {
		if n := c.voted[proposed{key, call.Client, strconv.FormatInt(token, 10)}]; n < lease.Quorum() {
			c.run.broken(checker.Contract, key, "%s is granted the lock with the token %d, which only %d of the %d nodes that it takes have found above all earlier ones",
				call.Client, token, n, lease.Quorum())
		}
	}
}
