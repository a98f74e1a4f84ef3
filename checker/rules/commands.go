package rules

import (
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// conduct judges what clients send to the nodes, in the order of sending, and what that changes there, by whose connection it
// came. It knows nothing of the lock that sends it, and serves for any that speaks Redis.
type conduct struct {
	*watch
	votes byVote[conducted]
	nodes slab[conductedNode]
	all   []*conducted     // in the order in which they were seen
	last  map[sender]*vote // what was set last
	order int              // of what was seen
	// sent counts the commands that do not share a script with one before, where there may be so many.
	sent int
}

// sender is a client that sends commands about a key.
type sender struct {
	client *kernel.Process
	key    string
}

// conducted is what was done with a vote.
type conducted struct {
	vote
	isCast   bool            // a request has set it
	releases *kernel.Process // the client that has sent a command to delete it, after all that set it; nil if none has
	since    kernel.True     // when it sent the first of these
	nodes    []conductedNode // in the order of the Servers
}

// conductedNode is what was done with a vote on a node. Orders number what was seen, from 1.
type conductedNode struct {
	owner            *kernel.Process // who set it; nil if nobody has
	isSet            bool            // and no request has changed that
	sent             kernel.True     // when the command that set it was sent
	applied          int             // the order in which that was carried out
	heard            int             // the order in which its client read the answer, if it must still have waited; else 0
	heardAt          kernel.True
	deletes, deleted int         // the order in which the last command to delete it was sent, and arrived; 0 for never
	deletesAt        kernel.True // when it was sent
	vagueAt          kernel.True // when something with the value was sent last of which nothing can be told; 0 for never
}

func watchCommands(r *watch) {
	c := &conduct{watch: r, votes: votesOf[conducted](r.Run), last: map[sender]*vote{}}
	r.onCommand(c.asked)
	r.onApplied(c.applied)
	r.onEnd = append(r.onEnd, c.end)
	if r.Declared {
		r.onVague(c.vague)
	}
}

func (c *conduct) of(v vote) *conducted {
	x := c.votes.of(v)
	if x == nil {
		x = c.votes.add(v)
		x.vote, x.nodes = v, c.nodes.take(len(c.World.Servers))
		c.all = append(c.all, x)
	}
	return x
}

func (c *conduct) applied(a *redis.Applied) {
	resource, is := c.World.LockOf(a.Key)
	if !is {
		return
	}
	c.order++
	node := slices.Index(c.World.Servers, a.Server)
	if !a.Set() {
		was := &c.of(vote{a.Key, a.Before.Value}).nodes[node]
		if was.owner != nil && was.owner != a.Client {
			did := "changes"
			if a.Removed() {
				did = "deletes"
			}
			c.broken(resource, "%s %s the key of %s on %s", a.Client.Name(), did, was.owner.Name(), a.Server.Name())
		}
		was.isSet = was.isSet && !a.Removed() && a.After.Value == a.Before.Value
	}
	if a.Removed() || a.After.Value == a.Before.Value {
		if !a.Removed() && a.After.ExpiresAt != 0 && a.After.ExpiresAt < a.Before.ExpiresAt && c.isLibrary() {
			c.broken(resource, "%s brings the end of its key on %s forward, by %v", a.Client.Name(), a.Server.Name(),
				time.Duration(a.Before.ExpiresAt-a.After.ExpiresAt)*time.Millisecond)
		}
		return
	}
	x := c.of(vote{a.Key, a.After.Value})
	if a.Sent > x.since {
		x.releases = nil // a value that is used again
	}
	x.isCast = redis.IsString(a.After.Value)
	n := &x.nodes[node]
	n.owner, n.isSet, n.sent, n.applied, n.heard = a.Client, true, a.Sent, c.order, 0
	c.last[sender{a.Client, a.Key}] = &x.vote
}

func (c *conduct) asked(at redis.Passage, a *redis.Asked) {
	c.order++
	if at == redis.Sent {
		c.judged++
		c.sends(a)
	}
	node := slices.Index(c.World.Servers, a.Server)
	if node < 0 {
		return // a replica that was promoted
	}
	for _, key := range a.Keys {
		if _, is := c.World.LockOf(key); !is {
			continue
		}
		if a.Value != "" {
			c.passes(at, a, vote{key, a.Value}, node)
		}
		for _, value := range a.More {
			c.passes(at, a, vote{key, value}, node)
		}
		if a.Value != "" || len(a.More) > 0 {
			continue
		}
		if last := c.last[sender{a.Client, key}]; last != nil {
			c.passes(at, a, *last, node) // a DEL, which names no value
		}
	}
}

// vague takes a command of which nothing can be told, which may be a release.
func (c *conduct) vague(_ redis.Passage, a *redis.Asked) {
	node := slices.Index(c.World.Servers, a.Server)
	for _, key := range a.Keys {
		if _, is := c.World.LockOf(key); !is || node < 0 {
			continue
		}
		for _, value := range a.More { // it may be sent before the vote is cast
			c.of(vote{key, value}).nodes[node].vagueAt = a.Sent
		}
	}
}

// sends judges a command by itself, when it is sent.
func (c *conduct) sends(a *redis.Asked) {
	client, node, resource := a.Client.Name(), a.Server.Name(), c.about(a.Keys)
	if a.Server.NeverMaster() {
		c.broken(resource, "%s sends a command to %s, a replica that has never been a master", client, node)
	}
	for _, key := range a.Keys {
		if _, known := c.resourceOf(key); !known {
			c.broken(resource, "%s sends a command to %s about %q, which is no key of the lock", client, node, key)
		}
	}
	if c.MaxCommands > 0 && !a.Shares {
		if c.sent++; c.sent > c.MaxCommands {
			does := [...]string{redis.Sets: "set", redis.Extends: "extend", redis.Deletes: "delete"}[a.Intent]
			c.broken(resource, "%s sends a command to %s to %s %s, number %d of a run that needs no more than %d",
				client, node, does, strings.Join(a.Keys, " and "), c.sent, c.MaxCommands)
		}
	}
	if a.Deadline.IsZero() || a.Intent == redis.Deletes {
		return
	}
	if late := a.Client.ProgramClock().Now().Sub(a.Deadline); late >= 0 && late >= c.step(a.Client) {
		c.broken(resource, "%s sends a command to %s %v after it has stopped waiting for the answer", client, node, late)
	}
}

// passes follows a command that carries a value.
func (c *conduct) passes(at redis.Passage, a *redis.Asked, v vote, node int) {
	x := c.votes.of(v)
	if x == nil {
		if a.Intent != redis.Deletes {
			return // a vote is known from when it was cast
		}
		x = c.of(v)
	}
	n := &x.nodes[node]
	switch {
	case a.Intent == redis.Deletes && at == redis.Sent:
		if x.releases == nil {
			x.releases, x.since = a.Client, a.Sent
		}
		n.deletes, n.deletesAt = c.order, a.Sent
	case a.Intent == redis.Deletes && at == redis.Arrived:
		n.deleted = c.order
	case a.Intent == redis.Extends && at == redis.Sent && x.isCast && x.releases == a.Client && !c.connects(a):
		c.broken(c.resource(v.key), "%s extends its key on %s, although it has begun to release it %v before", a.Client.Name(),
			a.Server.Name(), a.Sent.Sub(x.since))
	case at == redis.Answered && a.Together > 1 && a.Answer == driver.Unanswered: // of several, not to this one
	case a.Intent == redis.Sets && at == redis.Answered && n.isSet && n.owner == a.Client && n.sent == a.Sent:
		if !a.Latest && c.mustRead(a.Client, a.Deadline) {
			n.heard, n.heardAt = c.order, c.World.Kernel.Now()
		}
	}
}

// connecting is for how long a command may have waited for a connection: the libraries of programs give up one that does not
// come about after some seconds.
const connecting = 10 * time.Second

// connects says whether the client has made connections not long ago, so that a command may have waited for one: with go-redis
// a release overtakes an extend that does.
func (c *conduct) connects(a *redis.Asked) bool {
	last, has := c.tried[reaching{a.Client, a.Server}]
	return has && last.Add(connecting) >= a.Sent
}

// hadNoWay says whether the client that releases a vote tried to reach a node then, and had no connection to it.
func (c *conduct) hadNoWay(x *conducted, node int) bool {
	last, has := c.tried[reaching{x.releases, c.World.Servers[node]}]
	waits := c.Lock.NodeTimeout
	if c.Declared {
		waits = connecting
	}
	return has && last > x.nodes[node].sent && last.Add(waits) >= x.since
}

func (c *conduct) end() {
	grace, kind := time.Duration(len(c.World.Servers)+1)*c.Lock.NodeTimeout, checker.Conduct
	if c.Declared { // what programs leave behind is leftover; their connections have time-outs of their own
		grace, kind = programGrace(c.Run), checker.Leftover
	}
	over := func(since kernel.True) bool { return c.World.Kernel.Now() > since.Add(grace) }
	if len(c.World.Replicas) > 0 {
		return // the release may have gone to a replica that was promoted
	}
	for _, x := range c.all {
		// What disturbs the client later is no reason. Its clock may be slow.
		undisturbed := func(since kernel.True) bool {
			return over(since) && c.pauses.ran(x.releases, stretch{x.since, since.Add(2 * grace)})
		}
		if x.releases == nil || !undisturbed(x.since) {
			continue
		}
		for i := range x.nodes {
			n, node := &x.nodes[i], c.World.Servers[i].Name()
			switch {
			case n.owner != x.releases:
			case n.deletes == 0 && (n.vagueAt > 0 || c.hadNoWay(x, i)):
			case n.deletes > 0 && n.deletesAt < n.sent && c.Declared: // it overtook what waited for a connection
			case n.deletes == 0 || n.deletesAt < n.sent:
				c.brokenOf(kind, c.resource(x.key), "%s releases its keys, but never the one on %s, which it had set before", x.releases.Name(), node)
			case n.isSet && n.heard > 0 && undisturbed(n.heardAt) && n.deletes < n.heard && n.deleted != 0 && n.deleted < n.applied && !c.Declared:
				c.brokenOf(kind, c.resource(x.key), "%s hears after its release that %s has its key, which came later than that, and never takes it back",
					x.releases.Name(), node)
			}
		}
	}
}
