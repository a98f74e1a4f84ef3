package monitor

import (
	"slices"
	"strings"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// asked notes that a client asks the nodes for a lock on some resources. Code that takes time may come to send nothing, as the
// deadline of what it would send has passed.
func (x *needless) asked(client string, resources []string) {
	for _, a := range x.open {
		if a.Client == client && slices.Contains(resources, a.keys[0]) {
			x.lookAtWakeUp(a)
			a.woken = -1
		}
	}
}

// heard notes that the library of a client is told of a release.
func (x *needless) heard(h redis.Heard) {
	for _, a := range x.open {
		if a.client.Process == h.Client && a.woken < 0 && x.isNext(a) && slices.ContainsFunc(a.keys, func(k string) bool { return driver.WakeChannel(k) == h.Channel }) {
			a.woken = x.run.World.Kernel.Now()
		}
	}
}

// isNext says whether an acquire waits for its next attempt and for nothing in its own client: nobody came earlier to its
// queue, and the client has no lease in its way and asks for nothing else with the same keys.
func (x *needless) isNext(a *ask) bool {
	inTheWay := func(b *ask) bool { return b.client == a.client && b != a && meets(a.Call, b.Call) && !b.queuesWith(a) }
	first := slices.IndexFunc(x.open, func(b *ask) bool { return b.queuesWith(a) })
	return a.Waits && x.open[first] == a && !x.run.clients.isClosed(a.Client, a.made) && !slices.ContainsFunc(x.open, inTheWay) &&
		!slices.ContainsFunc(x.had, func(had *protocols.Call) bool { return had.Client == a.Client && meets(had, a.Call) })
}

// lookAtWakeUp looks whether a client that was told of a release, and waits in calm, has asked since.
func (x *needless) lookAtWakeUp(a *ask) {
	now := x.run.World.Kernel.Now()
	if a.woken < 0 {
		return
	}
	if !x.isNext(a) || a.client.since > a.woken {
		a.woken = -1
		return
	}
	if now.Sub(a.woken) > x.wakeUp {
		a.tell(x.run, a.woken, "%s waits for the lock on %s, is told that it was released, and does not ask for it in %v, although %v are enough for that",
			a.Client, and(quoted(a.Resources)), now.Sub(a.woken), x.wakeUp)
		a.woken = -1
	}
}

// stepped takes a step of a library: one that was refused the lock, and will ask again, listens until the last of those in its
// queue returns. Of two clients of one process nobody knows which one it is.
func (x *needless) stepped(client string, e *observe.Event) {
	if e.Step == observe.AttemptStarted {
		x.asked(client, resourcesOf(e.Resource))
	}
	if e.Step != observe.Retrying || e.Err != redlock.ErrTaken {
		return
	}
	var queue []*ask
	for _, a := range x.open {
		if a.Client == client && a.Waits && strings.Join(a.keys, ", ") == e.Resource {
			queue = append(queue, a)
		}
	}
	if slices.ContainsFunc(queue, func(a *ask) bool { return !a.queuesWith(queue[0]) }) {
		return
	}
	for _, a := range queue {
		if a.listens < 0 {
			a.listens = x.run.World.Kernel.Now()
		}
	}
}

// published takes what a node publishes: those who wait for that must listen, unless something was wrong with them or the way
// to the node since they were refused, or a subscription broke since their client has waited for that key.
func (x *needless) published(p redis.Published) {
	node, now := slices.Index(x.run.World.Servers, p.Server), x.run.World.Kernel.Now()
	for _, a := range x.open {
		key := slices.IndexFunc(a.keys, func(k string) bool { return driver.WakeChannel(k) == p.Channel })
		if key < 0 || a.listens < 0 || a.told || x.run.clients.isClosed(a.Client, a.made) || a.isGivenUp() {
			continue
		}
		to := a.client.ways[node]
		isSettled := max(a.client.since, to.since) <= a.listens && to.unheard < a.waits[key] && now.Sub(a.listens) > x.timeout+x.work && x.fits(x.travel(x.rivals(a)))
		if isSettled && !p.Listens(a.client.Process, p.Channel) {
			a.told = true
			a.tell(x.run, a.listens, "%s waits for the lock on %s since it was refused %v ago, and does not listen on %s, which publishes its release",
				a.Client, and(quoted(a.Resources)), now.Sub(a.listens), p.Name())
		}
	}
}
