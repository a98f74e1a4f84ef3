package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

var inTheClearRule = Rule{
	Name:  "in-the-clear",
	Kind:  checker.NeedlesslyUnavailable,
	Needs: "somebody asked while nothing was in the way",
	Doc: `
A try-lock succeeds if nobody else asks for any of its resources meanwhile and nothing is in the way, and of those who wait one is
granted the lock within a bound: [what that takes](#needlessly-unavailable). (*redlock*, *redlock-plain*, and *single*, *get-set*,
*setnx-expire* and *failover* on a node without replicas.)`,
	Holds: "%s at clients that asked while nothing was in the way found none that had asked for longer than " +
		"this lock may take",
	Each: "look",
	Idle: "nobody asked in vain while nothing was in the way, or it is not known how long this lock may " +
		"take",
	New: watchInTheClear,
}

// inTheClear looks for a lock that nobody has although somebody asks for it and nothing is in the way: its keys are free,
// enough nodes are up and can be reached. It takes that from what nodes hold and what became of messages, not from what the
// library says. What it does not know to be in order it does not judge.
type inTheClear struct {
	*watch
	patience
	calm    *calm
	crowds  *crowds
	spent   map[*entry]bool                 // of acquires that have returned
	gaveUp  map[*kernel.Process]kernel.True // when an acquire of the client that waited or was cancelled last did
	open    []*ask                          // in the order of the calls
	times   []kernel.True                   // memory for since
	rivalry []*ask                          // memory for rivals
	spoken  map[reaching]exchanges
}

// exchanges are those of a client with a node: when it last sent a command, and the last one of which it has read the answer.
type exchanges struct{ sent, answered kernel.True }

// ask is an acquire that has not returned.
type ask struct {
	*call
	client *watchedClient
	keys   []string // sorted
	lasts  bool     // as patience says of its TTL
	votes  []*entry // that its client has set since, if they are on these keys
	// changes is how often something had become wrong, or right again, before it began.
	changes int
	// alone is since when the same acquires ask for any of these keys, and nobody has had one of them; Forever if somebody has.
	alone kernel.True
	// free is, by node, from when on the keys are in nobody's way.
	free []kernel.True
	told bool
	// silent says, by node, that the client's last command before was not answered: the library does not wait for the node.
	silent []bool
}

// isGivenUp says whether the caller of the acquire has given it up.
func (a *ask) isGivenUp() bool { return a.Context != nil && a.Context.Err() != nil }

// meets says whether two calls are about one resource.
func meets(a, b *call) bool {
	return slices.ContainsFunc(a.Resources, func(r string) bool { return slices.Contains(b.Resources, r) })
}

// queuesWith says whether two acquires wait in one queue of a client.
func (a *ask) queuesWith(b *ask) bool {
	return a.Waits && b.Waits && a.client == b.client && a.made == b.made && slices.Equal(a.keys, b.keys)
}

func watchInTheClear(r *watch) {
	p, known := patienceOf(r.Lock, len(r.World.Servers), r.StepTime)
	own := protocols.Of[protocols.OneRedisSettings](r.Lock)
	// The lock of a caller may have keys of other names, and a replica may take a node's place. Nothing is known of the ways to
	// replicas, and to the sequence.
	// With a quorum of more nodes than there are nobody is ever granted anything.
	if r.Foreign || r.FailsOver || protocols.Of[protocols.RedlockSettings](r.Lock).Replicas > 0 || own.Sequence || !known || p.alone > p.nodes {
		return
	}
	x := &inTheClear{watch: r, patience: p, spent: map[*entry]bool{}, gaveUp: map[*kernel.Process]kernel.True{}, times: make([]kernel.True, p.nodes)}
	x.calm = watchCalm(r.Run, isGuarded(r.Run), x.lookAll, x.keepAll)
	x.spoken = map[reaching]exchanges{}
	r.onCommand(x.speaks, redis.Sent, redis.Answered)
	x.crowds = watchCrowds(r.Run, max(p.crowd, 2))
	r.onNodeClock(x.lookAndKeep)
	r.onEvent(x.saw, history.Crash, history.Fault)
	r.leases.tells = append(r.leases.tells, func(acquire *call) { x.change(acquire, func() {}) })
	r.onApplied(func(a *redis.Applied) { x.forThose(a, x.look) })
	r.onChanged(func(a *change) {
		x.forThose(a.Applied, func(w *ask) {
			if a.sets() && a.Client == w.client.Process && a.Sent >= w.began {
				w.votes = append(w.votes, a.entry)
			}
			x.keep(w)
		})
	})
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onEnd = append(r.onEnd, x.lookAll)
}

// isHad says whether somebody believes in a lease on any of the resources of a call, or is releasing it.
func (x *inTheClear) isHad(c *call) bool {
	return slices.ContainsFunc(x.leases.held, func(g *granted) bool { return !g.isOver && meets(g.by, c) })
}

// isForeign says whether a key on a node is in the way of those who ask, and not the vote for one of them that will be taken
// back: one that was asked for in a round that began, and cast, as it is now, while nothing was wrong. Of a round that began
// earlier, commands may leave just before its time is up, and arrive after what takes them back.
func (x *inTheClear) isForeign(rivals []*ask, node int, held redis.Record) bool {
	e := x.ledger.of[vote{held.Key, ownerOf(held.Value)}]
	if e == nil || x.spent[e] {
		return true
	}
	by := &e.nodes[node]
	if at, gaveUp := x.gaveUp[by.setter]; gaveUp && at == by.sent {
		return true // it may be a vote for that call
	}
	isOfCalm := func(since kernel.True) bool {
		return since == 0 || by.sent > since && by.sent.Sub(since) > x.timeout+x.work
	}
	return !slices.ContainsFunc(rivals, func(a *ask) bool {
		return a.client.Process == by.setter && slices.Contains(a.Resources, held.Key) && by.sent >= a.began &&
			isOfCalm(a.client.since) && isOfCalm(a.client.ways[node].since)
	})
}

// keep finds out what the nodes hold now of what is asked for.
func (x *inTheClear) keep(a *ask) {
	now, rivals := x.World.Kernel.Now(), x.rivals(a)
	for i := range a.free {
		var until kernel.True
		for _, key := range a.keys {
			if r, ends, there := x.World.Servers[i].Memory().Peek(key); there && x.isForeign(rivals, i, r) {
				until = max(until, ends)
			}
		}
		switch {
		case until > now:
			a.free[i] = until
		case a.free[i] > now:
			a.free[i] = now + 1 // requests that arrive at this very moment may have come before
		}
	}
}

// since is from when on nothing is in the way of an acquire: so many nodes are free, and they and the ways to them in order, as
// all clients are that ask. It is Forever if something is.
func (x *inTheClear) since(a *ask, rivals []*ask, nodes int) kernel.True {
	from := a.alone
	for i := range x.times {
		x.times[i] = a.free[i]
		for _, b := range rivals {
			x.times[i] = max(x.times[i], b.client.ways[i].since)
		}
	}
	for _, b := range rivals {
		from = max(from, b.client.since)
		if x.calls.isClosed(b.Client, b.made) {
			return kernel.Forever
		}
	}
	slices.Sort(x.times)
	return max(from, x.times[nodes-1])
}

// need is how many nodes must be free for one of those who ask to get the lock.
func (x *inTheClear) need(rivals []*ask) int {
	if x.contenders(rivals) > 1 {
		return x.together
	}
	return x.alone
}

// look judges an acquire as it is up to now.
func (x *inTheClear) look(a *ask) {
	if a.told || !a.Waits || !a.lasts {
		return
	}
	rivals := x.rivals(a)
	need := x.need(rivals)
	if x.since(a, rivals, need) >= x.World.Kernel.Now() {
		return
	}
	x.judged++
	x.lookWith(a, rivals, need)
	if x.retries > 1 && need < x.nodes { // with all of them, no gate is in the way
		x.lookWith(a, rivals, x.nodes)
	}
}

// lookWith judges an acquire by how long so many nodes have been free.
func (x *inTheClear) lookWith(a *ask, rivals []*ask, free int) {
	from, n, trip := x.since(a, rivals, free), x.contenders(rivals), x.trip(rivals)
	isOne := len(a.keys) == 1 && !slices.ContainsFunc(rivals, func(b *ask) bool { return len(b.keys) > 1 })
	if n == 1 || !x.votes {
		bound, known := x.bound(free, trip)
		x.lookSince(a, rivals, from, bound, known)
	} else if isOne && free == x.nodes { // what is in the way of one is so for all
		bound, known := x.withoutCrowds(n, trip)
		x.lookSince(a, rivals, max(from, x.crowds.over(a.keys[0])), bound, known)
	}
}

// lookSince judges an acquire by since when nothing has been in the way.
func (x *inTheClear) lookSince(a *ask, rivals []*ask, from kernel.True, bound time.Duration, known bool) {
	now, n := x.World.Kernel.Now(), x.contenders(rivals)
	if a.told || from >= now || !known || now.Sub(from) <= bound {
		return
	}
	a.told = true
	who := ""
	if n > 1 {
		who = fmt.Sprintf(", and neither is any of the %d who ask", n)
	}
	x.brokenFrom(from, now, a.Resources[0], "%s waits for the lock on %s and is not granted it in %v, although nothing is in the way%s: nobody has it, and %s. %v are enough for that",
		a.Client, and(quoted(a.Resources)), now.Sub(from), who, x.found(a, from, rivals), bound)
}

// refused judges an acquire of one attempt that was not granted.
func (x *inTheClear) refused(a *ask) {
	rivals := x.rivals(a)
	from := x.since(a, rivals, x.need(rivals))
	heard := 0 // nodes that are free and in order, and that the client waits for
	for i, isSilent := range a.silent {
		if !isSilent && x.isInOrder(a, i, a.began, rivals) {
			heard++
		}
	}
	if x.isLibrary() && heard < x.alone {
		return
	}
	isSince := from < a.began || from == a.began && a.changes == x.calm.changes // or it broke at that very moment
	if !isSince || len(rivals) > 1 || !x.fits(x.trip(rivals)) || !a.lasts {
		return
	}
	x.judged++
	x.brokenFrom(a.began, x.World.Kernel.Now(), a.Resources[0], "%s tries to take the lock on %s and is refused, although nothing is in the way: nobody else asks for it or has it, and %s",
		a.Client, and(quoted(a.Resources)), x.found(a, a.began, rivals))
}

// isInOrder says whether a node is free, and in order for all that ask, since a moment.
func (x *inTheClear) isInOrder(a *ask, node int, from kernel.True, rivals []*ask) bool {
	return a.free[node] <= from && !slices.ContainsFunc(rivals, func(b *ask) bool { return b.client.ways[node].since > from })
}

// found says which nodes are free and in order.
func (x *inTheClear) found(a *ask, from kernel.True, rivals []*ask) string {
	var names []string
	for i := range a.free {
		if x.isInOrder(a, i, from, rivals) {
			names = append(names, x.World.Servers[i].Name())
		}
	}
	are := "are"
	if len(names) == 1 {
		are = "is"
	}
	return fmt.Sprintf("%s of %d nodes %s up, free and in reach", and(names), x.nodes, are)
}

func (x *inTheClear) lookAll() {
	for _, a := range x.open {
		x.look(a)
	}
}

func (x *inTheClear) keepAll() {
	for _, a := range x.open {
		x.keep(a)
	}
}

// lookAndKeep judges all acquires as they are up to now, and then takes what the nodes hold from now on.
func (x *inTheClear) lookAndKeep() {
	x.lookAll()
	x.keepAll()
}

// change has those who ask for some resource of a call looked at, and counted anew what they are alone with.
func (x *inTheClear) change(c *call, does func()) {
	about := func(f func(*ask)) {
		for _, a := range x.open {
			if meets(a.call, c) {
				f(a)
			}
		}
	}
	about(x.look)
	does()
	about(func(a *ask) {
		if a.alone = x.World.Kernel.Now(); x.isHad(a.call) {
			a.alone = kernel.Forever
		}
		x.keep(a)
	})
}

// speaks follows which commands are answered.
func (x *inTheClear) speaks(a *redis.Asked) {
	by := reaching{a.Client, a.Server}
	e, has := x.spoken[by]
	if !has {
		e.answered = -1
	}
	if a.At == redis.Sent {
		e.sent = a.Sent
	} else {
		e.answered = max(e.answered, a.Sent)
	}
	x.spoken[by] = e
}

// silent says of each node whether it has left a client without an answer.
func (x *inTheClear) silent(client string) []bool {
	all := make([]bool, x.nodes)
	for i := range all {
		e := x.spoken[reaching{x.calm.of(client).Process, x.World.Servers[i]}]
		all[i] = e.sent > e.answered
	}
	return all
}

// called takes a call that begins.
func (x *inTheClear) called(c *call) {
	switch c.Func {
	case protocols.CloseCall, protocols.NewClientCall:
		x.lookAll()
	case protocols.AcquireCall:
		x.change(c, func() {
			x.open = append(x.open, &ask{call: c, client: x.calm.of(c.Client), lasts: x.lasts(c.TTL), keys: slices.Sorted(slices.Values(c.Resources)),
				changes: x.calm.changes, free: make([]kernel.True, x.nodes), silent: x.silent(c.Client)})
		})
	}
}

// returned takes what an acquire returned.
func (x *inTheClear) returned(c *call, err error) {
	i := slices.IndexFunc(x.open, func(a *ask) bool { return a.call == c })
	if i < 0 {
		return // another call, or of a client that has crashed
	}
	a := x.open[i]
	if err != nil && !a.Waits && !a.isGivenUp() && !errors.Is(err, redlock.ErrInvalid) {
		x.refused(a)
	}
	x.change(c, func() {
		x.open = slices.Delete(x.open, i, i+1)
		x.spend(a)
		if err != nil && (a.Waits || a.isGivenUp()) {
			x.gaveUp[a.client.Process] = x.World.Kernel.Now()
		}
	})
}

// spend notes that the votes of an acquire are for none of those any more who still ask.
func (x *inTheClear) spend(a *ask) {
	for _, e := range a.votes {
		x.spent[e] = true
	}
}

// saw takes a crash, which ends acquires, and a fault.
func (x *inTheClear) saw(e *history.Event) {
	switch {
	case e.Kind == history.Crash:
		for i := len(x.open) - 1; i >= 0; i-- {
			if a := x.open[i]; a.Client == e.Process {
				x.change(a.call, func() { x.open = slices.Delete(x.open, i, i+1) })
			}
		}
	case e.Kind == history.Fault && e.Name == "overwrite": // no request has changed the keys
		x.lookAndKeep()
	}
}

// forThose has something done with those who ask for a key that changes on a node.
func (x *inTheClear) forThose(a *redis.Applied, does func(*ask)) {
	if slices.Index(x.World.Servers, a.Server) >= x.nodes {
		return
	}
	for _, w := range x.open {
		if slices.Contains(w.keys, a.Key) {
			does(w)
		}
	}
}

// rivals are the acquires that ask for any of the keys of one, with itself: good until it is called again.
func (x *inTheClear) rivals(a *ask) []*ask {
	x.rivalry = x.rivalry[:0]
	for _, b := range x.open {
		if meets(a.call, b.call) {
			x.rivalry = append(x.rivalry, b)
		}
	}
	return x.rivalry
}

// contenders counts those who ask the nodes for themselves: acquires in one queue of the library are one.
func (x *inTheClear) contenders(rivals []*ask) (n int) {
	for i, a := range rivals {
		if !x.queues || !slices.ContainsFunc(rivals[:i], a.queuesWith) {
			n++
		}
	}
	return n
}

// trip is how long messages and their answers take on the ways of those who ask, at the most.
func (x *inTheClear) trip(rivals []*ask) (trip time.Duration) {
	for _, a := range rivals {
		trip = max(trip, tripOn(a.client.ways[:x.nodes]))
	}
	return trip
}
