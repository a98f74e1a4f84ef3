package monitor

import (
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// asked notes that a client asks for a lock.
func (x *needless) asked(at redis.Passage, asked *redis.Asked) {
	if at != redis.Sent || asked.Intent != redis.Sets {
		return
	}
	for _, a := range x.open {
		if a.client.Process == asked.Client && slices.Contains(asked.Keys, a.keys[0]) {
			x.lookAtWakeUp(a)
			a.woken = -1
		}
	}
}

// heard notes that the library of a client is told of a release.
func (x *needless) heard(client *kernel.Process, channel string) {
	for _, a := range x.open {
		if a.client.Process == client && a.woken < 0 && x.isNext(a) && slices.ContainsFunc(a.keys, func(k string) bool { return driver.WakeChannel(k) == channel }) {
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
