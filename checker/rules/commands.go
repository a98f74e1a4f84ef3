package rules

import (
	"maps"
	"slices"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

var commandsRule = Rule{
	Name:  "commands",
	Kind:  checker.Conduct,
	Needs: "a command that a client sends for a lock",
	Doc: `
Nobody deletes or changes a key with another client's value, and no extend shortens the life of a key.

A client that has begun to release a vote no longer extends it. It sends the release to every node on which it set the key,
within the node timeout for each node and one more, and again if it hears in time of a vote that was cast after the release had
passed; unless it crashes or is paused, the key expires before that, or the node answers nothing any more.

A command that sets or extends a key is sent before the client stops waiting for its answer. A command names only keys that the
protocol declares, and does not go to a replica that was never a master. A lock of your own may name keys that contain the name
of a resource, while the program has a call or a lease, and for the longest TTL and the time of a release after that; and it
stops releasing a key on a node when it is gone there and the node has answered twenty releases. Where the file says how many
commands the run needs (expect.commands), there are no more; a release that is sent again does not count.

A script stands for the commands that it calls. What counts is the order of sending.`,
	Holds: "of %s none changed another's key, came after its deadline, renewed what was being released, or " +
		"left out a node that had a vote",
	Each: "command",
	Idle: "nobody sent a command for the lock, or nobody looked",
	New:  watchCommands,
}

// commands judges what clients send to the nodes, in the order of sending, and what that changes there, by whose connection it
// came.
type commands struct {
	*watch
	// sent counts the commands that do not share a script with one before, where there may be so many.
	sent int
	// answers are when clients read an answer of a node, the first in each node timeout.
	answers map[reaching][]kernel.True
	// idle is from when on a lock program has had neither a call nor a lease, and longest the longest TTL that was asked for.
	idle    map[claim]kernel.True
	longest time.Duration
}

func watchCommands(r *watch) {
	c := &commands{watch: r, answers: map[reaching][]kernel.True{}, idle: map[claim]kernel.True{}, longest: r.Lock.TTL}
	if r.Declared {
		r.onCall(func(o *call) { c.longest = max(c.longest, o.TTL) })
		r.onReturn(func(o *call, _ error) { c.idles(o) })
		r.leases.tells = append(r.leases.tells, c.idles)
		r.onCrash(func(client string) {
			maps.DeleteFunc(c.idle, func(of claim, _ kernel.True) bool { return of.client == client })
		})
	}
	r.onCommand(c.sends, redis.Sent)
	r.onCommand(c.answered, redis.Answered)
	r.onChanged(c.changed)
	r.onEnd = append(r.onEnd, c.end)
}

func (c *commands) changed(a *change) {
	client, node, did := a.Client.Name(), a.Server.Name(), "changes"
	if a.Removed() {
		did = "deletes"
	}
	if a.setter != nil && a.setter != a.Client {
		c.broken(a.resource, "%s %s the key of %s on %s", client, did, a.setter.Name(), node)
	}
	isShorter := a.After.ExpiresAt != 0 && a.After.ExpiresAt < a.Before.ExpiresAt
	if !a.Removed() && a.After.Value == a.Before.Value && isShorter && c.isLibrary() {
		c.broken(a.resource, "%s brings the end of its key on %s forward, by %v", client, node,
			time.Duration(a.Before.ExpiresAt-a.After.ExpiresAt)*time.Millisecond)
	}
}

// sends judges a command when it is sent.
func (c *commands) sends(a *redis.Asked) {
	c.judged++
	client, node, resource := a.Client.Name(), a.Server.Name(), c.about(a.Keys)
	if a.Server.NeverMaster() {
		c.broken(resource, "%s sends a command to %s, a replica that has never been a master", client, node)
	}
	for _, key := range a.Keys {
		if _, known := c.resourceOf(key); !known {
			c.broken(resource, "%s sends a command to %s about %q, which is no key of the lock", client, node, key)
		}
	}
	if idle := c.idleFor(a.Client, resource); idle > c.longest+programGrace(c.Run) {
		c.broken(resource, "%s sends a command to %s %v after its last call and its last lease were over", client, node, idle)
	}
	if c.MaxCommands > 0 && !a.Shares && !c.isAgain(a) {
		if c.sent++; c.sent > c.MaxCommands {
			does := [...]string{redis.Sets: "set", redis.Extends: "extend", redis.Deletes: "delete"}[a.Intent]
			c.broken(resource, "%s sends a command to %s to %s %s, number %d of a run that needs no more than %d",
				client, node, does, strings.Join(a.Keys, " and "), c.sent, c.MaxCommands)
		}
	}
	if a.Intent == redis.Deletes {
		if c.Declared {
			c.repeats(a)
		}
		return
	}
	if late := a.Client.ProgramClock().Now().Sub(a.Deadline); !a.Deadline.IsZero() && late >= 0 && late >= c.step(a.Client) {
		c.broken(resource, "%s sends a command to %s %v after it has stopped waiting for the answer", client, node, late)
	}
	if a.Intent != redis.Extends || c.connects(a) {
		return
	}
	for _, e := range c.ledger.about(a) {
		if e.isCast && e.releases == a.Client {
			c.broken(e.resource, "%s extends its key on %s, although it has begun to release it %v before", client, node, a.Sent.Sub(e.since))
		}
	}
}

// mostRepeats is how often a program may have a node's answer to a release of a key that is gone, and ask once more: an acquire
// of its own may be on its way.
const mostRepeats = 20

// repeats judges a release, to which the node may have answered often enough.
func (c *commands) repeats(a *redis.Asked) {
	node := slices.Index(c.World.Servers, a.Server)
	for _, e := range c.ledger.about(a) {
		if node >= 0 && e.nodes[node].repeats == mostRepeats {
			c.broken(e.resource, "%s goes on releasing its key on %s, although it is gone and the node has answered %d releases", a.Client.Name(),
				a.Server.Name(), mostRepeats)
		}
	}
}

// idles notes that a call has returned, or that the lease that it got is over.
func (c *commands) idles(o *call) {
	for _, resource := range o.Resources {
		c.idle[claim{o.Client, resource}] = c.World.Kernel.Now()
	}
}

// idleFor is for how long a lock program has had neither a call nor a lease for a resource; zero if it has one, or has stood
// still or had a wrong clock since: then it does late what it was to do in time.
func (c *commands) idleFor(client *kernel.Process, resource string) time.Duration {
	of := claim{client.Name(), resource}
	since, has := c.idle[of]
	isOpen := func(o *call) bool { return o.Client == of.client && slices.Contains(o.Resources, resource) }
	isHeld := func(g *granted) bool { return g.isOn(of) && !g.isOver }
	isBusy := slices.ContainsFunc(c.calls.open, isOpen) || slices.ContainsFunc(c.leases.held, isHeld)
	if !has || isBusy || !c.standstills.hasRun(client, since) || !client.Clock().HasRunRight(since) {
		return 0
	}
	return c.World.Kernel.Now().Sub(since)
}

func (c *commands) answered(a *redis.Asked) {
	by, now := reaching{a.Client, a.Server}, c.World.Kernel.Now()
	if all := c.answers[by]; len(all) == 0 || all[len(all)-1].Add(c.Lock.NodeTimeout) <= now {
		c.answers[by] = append(all, now)
	}
}

// isSilent says whether a client that releases a vote has had no answer from a node since, so long ago that it should have sent
// it the release then. The library does not ask a node that is silent for all that it has to release.
func (c *commands) isSilent(e *entry, node int, grace time.Duration) bool {
	return c.isLibrary() && !slices.ContainsFunc(c.answers[reaching{e.releases, c.World.Servers[node]}], func(at kernel.True) bool {
		return at >= e.since && at.Add(grace) <= c.World.Kernel.Now()
	})
}

// isAgain says whether a command is a release that the client has sent to the node before, and sends again because it is not
// confirmed.
func (c *commands) isAgain(a *redis.Asked) bool {
	node := slices.Index(c.World.Servers, a.Server)
	if a.Intent != redis.Deletes || node < 0 {
		return false
	}
	votes := c.ledger.about(a)
	return len(votes) > 0 && !slices.ContainsFunc(votes, func(e *entry) bool { return e.releases != a.Client || e.nodes[node].deletes == 0 })
}

// connecting is for how long a command may have waited for a connection: the libraries of programs give up one that does not
// come about after some seconds.
const connecting = 10 * time.Second

// connects says whether the client has made connections not long ago, so that a command may have waited for one: with go-redis
// a release overtakes an extend that does.
func (c *commands) connects(a *redis.Asked) bool {
	last, has := c.tried[reaching{a.Client, a.Server}]
	return has && last.Add(connecting) >= a.Sent
}

// hadNoWay says whether the client that releases a vote tried to reach a node then, and had no connection to it.
func (c *commands) hadNoWay(e *entry, node int) bool {
	last, has := c.tried[reaching{e.releases, c.World.Servers[node]}]
	waits := c.Lock.NodeTimeout
	if c.Declared {
		waits = connecting
	}
	return has && last > e.nodes[node].sent && last.Add(waits) >= e.since
}

func (c *commands) end() {
	grace, kind := time.Duration(len(c.World.Servers)+1)*c.Lock.NodeTimeout, checker.Conduct
	if c.Declared { // what programs leave behind is leftover; their connections have time-outs of their own
		grace, kind = programGrace(c.Run), checker.Leftover
	}
	if c.FailsOver {
		return // the release may have gone to a replica that was promoted
	}
	for _, e := range c.ledger.all {
		// What disturbs the client later is no reason. Its clock may be slow.
		undisturbed := func(since kernel.True) bool {
			return c.World.Kernel.Now() > since.Add(grace) && c.standstills.ran(e.releases, stretch{since, since.Add(2 * grace)})
		}
		if !e.isCast || e.releases == nil || !undisturbed(e.since) {
			continue
		}
		for i := range e.nodes {
			n, node := &e.nodes[i], c.World.Servers[i].Name()
			switch {
			case n.setter != e.releases:
			case n.deletes == 0 && (n.vagueAt >= 0 || c.hadNoWay(e, i)):
			case n.deletes == 0 && c.isLibrary() && n.until <= e.since.Add(grace):
			case n.deletes == 0 && c.isSilent(e, i, grace):
			case n.deletes > 0 && n.deletesAt < n.sent && c.Declared: // it overtook what waited for a connection
			case n.deletes == 0 || n.deletesAt < n.sent:
				c.brokenOf(kind, e.resource, "%s releases its keys, but never the one on %s, which it had set before", e.releases.Name(), node)
			case n.isThere && n.heard > 0 && undisturbed(n.heardAt) && n.deletes < n.heard && n.deleted != 0 && n.deleted < n.applied && !c.Declared:
				c.brokenOf(kind, e.resource, "%s hears after its release that %s has its key, which came later than that, and never takes it back",
					e.releases.Name(), node)
			}
		}
	}
}
