package rules

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// endless judges leases without an end, which a client believes in until it releases them: their keys have a time to live
// all the same, and the client renews each within that, for as long as the node does what it is asked, and not after the
// release.
type endless struct {
	run    *Run
	leases map[asking]int // without an end, that are held
	keys   map[keyOn]*keeping
	// gone is when a client began to release the last of them, and asks how many of its calls ask for the lock: with none it
	// has nothing to renew.
	gone map[asking]kernel.True
	asks map[asking]int
}

// keyOn is the key of a client's lock on a node.
type keyOn struct {
	reaching
	key string
}

// keeping is the last command of the client to set the key or to extend it.
type keeping struct {
	sent  kernel.True
	reads time.Time // then, by the client's clock
	// isDone says that the node did so, and isHeard that the client heard it.
	isDone, isHeard bool
}

func watchEndless(r *Run) {
	if r.Foreign || r.isLibrary() || r.Lock.Capabilities().Service != "" || r.Lock.Clock != kernel.Monotonic || len(r.World.Replicas) > 0 {
		return
	}
	x := &endless{run: r, leases: map[asking]int{}, keys: map[keyOn]*keeping{}, gone: map[asking]kernel.True{}, asks: map[asking]int{}}
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onCommand(x.commanded, redis.Sent, redis.Answered)
	r.onApplied(x.applied)
	r.onCrash(func(client string) {
		maps.DeleteFunc(x.leases, func(of asking, _ int) bool { return of.client == client })
		maps.DeleteFunc(x.gone, func(of asking, _ kernel.True) bool { return of.client == client })
		maps.DeleteFunc(x.asks, func(of asking, _ int) bool { return of.client == client })
		maps.DeleteFunc(x.keys, func(of keyOn, _ *keeping) bool { return of.client.Name() == client })
	})
	r.onEnd = append(r.onEnd, func() {
		for _, of := range slices.SortedFunc(maps.Keys(x.leases), byName) {
			x.look(of)
		}
	})
}

func byName(a, b asking) int {
	return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.key, b.key))
}

func (x *endless) called(c *protocols.Call) {
	switch {
	case c.Func == protocols.AcquireCall:
		x.asks[asking{c.Client, c.Resources[0]}]++
	case c.Func == protocols.ReleaseCall && c.Lease.Until().IsZero():
		of := asking{c.Client, c.Resources[0]}
		x.look(of)
		if x.leases[of]--; x.leases[of] <= 0 {
			delete(x.leases, of)
			x.gone[of] = x.run.World.Kernel.Now()
		}
	}
}

func (x *endless) returned(c *protocols.Call, err error) {
	if c.Func != protocols.AcquireCall {
		return
	}
	of := asking{c.Client, c.Resources[0]}
	if x.asks[of]--; x.asks[of] <= 0 {
		delete(x.asks, of)
	}
	if err == nil && c.Lease.Until().IsZero() {
		x.leases[of]++
		delete(x.gone, of)
	}
}

func (x *endless) commanded(at redis.Passage, a *redis.Asked) {
	if a.Intent != redis.Sets && a.Intent != redis.Extends || len(a.Keys) == 0 {
		return
	}
	of := keyOn{reaching{a.Client, a.Server}, a.Keys[0]}
	switch last := x.keys[of]; {
	case at == redis.Sent:
		lock := asking{a.Client.Name(), of.key}
		since, isGone := x.gone[lock]
		isAgain := last != nil && !last.isDone && last.sent < since // the node may not have known the script
		if isGone && x.asks[lock] == 0 && a.Intent == redis.Extends && !isAgain {
			x.run.broken(checker.Conduct, of.key, "%s renews its key on %s, although it has begun to release the lock %v before",
				a.Client.Name(), a.Server.Name(), a.Sent.Sub(since))
		}
		x.judge(of)
		x.keys[of] = &keeping{sent: a.Sent, reads: a.Client.ProgramClock().Now()}
	case at == redis.Answered && last != nil && last.sent == a.Sent:
		last.isHeard = true
	}
}

func (x *endless) applied(a *redis.Applied) {
	of := keyOn{reaching{a.Client, a.Server}, a.Key}
	switch last := x.keys[of]; {
	case last == nil:
	case a.Removed():
		delete(x.keys, of)
	case last.sent == a.Sent:
		last.isDone = true
	}
}

// look judges the keys of a lock on all nodes, up to now.
func (x *endless) look(of asking) {
	for _, s := range x.run.World.Servers {
		x.judge(keyOn{reaching{x.run.World.Client(of.client), s}, of.key})
	}
}

// judge looks whether the key was renewed in time, if the client holds the lock.
func (x *endless) judge(of keyOn) {
	last := x.keys[of]
	if last == nil || !last.isDone || !last.isHeard || x.leases[asking{of.client.Name(), of.key}] == 0 || !x.run.pauses.hasRun(of.client, last.sent) {
		return
	}
	x.run.Judged[checker.JudgeEndless]++
	if since := of.client.ProgramClock().Now().Sub(last.reads); since > x.run.Lock.TTL+rounding {
		x.run.broken(checker.Contract, of.key, "%s has a lock that it does not take to end, and has not renewed its key on %s for %v",
			of.client.Name(), of.server.Name(), since)
	}
}
