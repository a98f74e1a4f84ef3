package rules

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// leftover looks for keys that outlive the lock that they stood for: on a node that its client could reach all the time, a key
// is gone soon after the client has let go of it, and it never has a longer time to live than was asked for.
type leftover struct {
	*watch
	// grace is how long after its client has let go a key may still stand: the release waits for a batch and arrives within a
	// node timeout, and so does a second one, which takes back a vote that the first one came too early for.
	grace time.Duration
	// isMany says that the lock is one of several, each of which it lets go of by itself, under one owner, and first takes for
	// longer than was asked for.
	isMany bool
	// isReentrant says that an owner may take the lock several times.
	isReentrant bool
	votes       byVote[owned]
	nodes       slab[ownedNode]
	early       map[vote]bool // of which the client has let go before a node had them
	clients     map[asking]*owner
	last        asking // of clients, and what that has: a round is about one
	its         *owner
	links       []*traffic // by the numbers of the links
	due         []overdue  // in the order of their times, but for some of clients whose clock is slow
}

// foreignGrace is what somebody's lock is given beyond what its messages take.
const foreignGrace = time.Second

// owned is a vote of a client.
type owned struct {
	vote
	client *kernel.Process
	letGo  kernel.True // when its client did; negative if it has not
	nodes  []ownedNode // in the order of the Servers
}

type ownedNode struct {
	isSet     bool
	since     kernel.True // when the first command was sent that set it; negative if there was none
	expiresAt int64       // as in redis.Record
	ends      kernel.True // when that is, by the node's clock as it went when it was set
}

// asking is a client that asks for a resource, and owner what it has of it.
type asking struct{ client, key string }

type owner struct {
	open   []*protocols.Call // acquires that have not returned
	leases []protocols.Lease // that it has not released
	kept   []*owned          // of which it has not let go
	ttl    time.Duration     // the longest that it has ever asked for
}

// traffic is what became of the messages on a link.
type traffic struct {
	open   []exchanged // not answered yet
	missed kernel.True // when the last message was sent that was not answered in time; negative if there was none
}

type exchanged struct {
	*network.Exchange
	sent     kernel.True
	deadline time.Time // the earliest of its commands; zero if they have none
}

// overdue is when it is looked whether a key is still there.
type overdue struct {
	*owned
	since kernel.True // the grace counts from here
	reads time.Time   // what the client's lock clock read then
	letGo kernel.True // when the client let go of the key that is looked for; negative if one without a time to live is
}

func watchLeftover(r *watch) {
	if r.Foreign && !r.Declared || len(r.World.Replicas) > 0 {
		return // nobody knows the keys of the lock, or votes may be on a replica that was promoted
	}
	l := &leftover{watch: r, votes: votesOf[owned](r.Run), isMany: protocols.Has[protocols.RedissonMultiSettings](r.Lock), isReentrant: r.Lock.Capabilities().Reentrant,
		early: map[vote]bool{}, clients: map[asking]*owner{}}
	const batchWaits = 4 // a part of the node timeout; see redlock.WithBatching
	switch timeout, nodes := r.Lock.NodeTimeout, time.Duration(len(r.World.Servers)); {
	case r.Foreign:
		l.grace = programGrace(r.Run)
	case protocols.Has[protocols.RedlockSettings](r.Lock):
		l.grace = 2 * (timeout/batchWaits + timeout)
	default:
		l.grace = (nodes + 2) * timeout // one node after the other, and one more
	}
	// A round sends to one node after the other: the release, and whatever it waits for behind a mutex or in a queue.
	l.grace += time.Duration(8*len(r.World.Servers)) * r.StepTime
	r.onRequest(l.sent)
	trace.On(r.World.Events, l.ended) // which is told before what is made of the message
	r.onEvent(l.saw)
	r.onCommand(l.asked, redis.Sent)
	r.onApplied(l.applied)
	r.onStep(l.observed, observe.Denied, observe.ReleaseStarted)
	r.onCall(l.called)
	r.onReturn(l.returned)
	r.onCrash(l.crashed)
	r.onEnd = append(r.onEnd, l.check)
}

func (l *leftover) saw(e *history.Event) {
	l.check()
	if e.Kind == history.Fault && (e.Name == "evict" || e.Name == "overwrite") {
		l.lostFrom(slices.IndexFunc(l.World.Servers, func(s *redis.Server) bool { return s.Name() == e.Node }))
	}
}

// lostFrom notes which keys a node has lost although no request has removed them.
func (l *leftover) lostFrom(node int) {
	s := l.World.Servers[node]
	for x := range l.votes.each {
		if n := &x.nodes[node]; n.isSet && s.RunsOut(n.expiresAt) > l.World.Kernel.Now() {
			if r, _, there := s.Observable().Peek(x.key); !there || ownerOf(r.Value) != x.value {
				n.isSet = false
			}
		}
	}
}

func (l *leftover) applied(a *redis.Applied) {
	l.check()
	resource, is := l.World.LockOf(a.Key)
	if !is {
		return
	}
	node := slices.Index(l.World.Servers, a.Server)
	before, after := ownerOf(a.Before.Value), ownerOf(a.After.Value)
	isNew := after != before
	if was := l.votes.of(vote{a.Key, before}); was != nil && (a.Removed() || isNew) {
		was.nodes[node].isSet = false
	}
	if a.Removed() || !redis.IsString(after) {
		return
	}
	x := l.of(a)
	n, o := &x.nodes[node], l.owner(a.Client.Name(), resource)
	if isNew {
		if x.letGo >= 0 && a.Sent > x.letGo { // a value that is used again
			x.letGo = -1
			o.kept = append(o.kept, x)
		}
		if n.since < 0 {
			n.since = a.Sent
		}
		n.isSet = true
	}
	n.expiresAt, n.ends = a.After.ExpiresAt, a.Server.RunsOut(a.After.ExpiresAt)
	if isNew || a.After.ExpiresAt != a.Before.ExpiresAt { // otherwise a step of the clock may have given it more time
		l.lasts(x, a)
	}
	l.settle(o)
}

// of is the vote that a request has set.
func (l *leftover) of(a *redis.Applied) *owned {
	v := vote{a.Key, ownerOf(a.After.Value)}
	x := l.votes.of(v)
	if x != nil {
		return x
	}
	x = l.votes.add(v)
	*x = owned{vote: v, client: a.Client, letGo: -1, nodes: l.nodes.take(len(l.World.Servers))}
	for i := range x.nodes {
		x.nodes[i].since = -1
	}
	o := l.owner(a.Client.Name(), l.resource(a.Key))
	o.kept = append(o.kept, x)
	if l.early[v] {
		delete(l.early, v)
		l.letsGo(x)
	}
	return x
}

func (l *leftover) owner(client, key string) *owner {
	of := (asking{client, key})
	if l.its != nil && l.last == of {
		return l.its
	}
	o := l.clients[of]
	if o == nil {
		o = &owner{}
		l.clients[of] = o
	}
	l.last, l.its = of, o
	return o
}

// lasts looks at the time to live that a key was just given.
func (l *leftover) lasts(x *owned, a *redis.Applied) {
	if a.After.ExpiresAt == 0 {
		l.due = append(l.due, overdue{x, l.World.Kernel.Now(), x.client.ProgramClock().Now(), -1})
		return
	}
	left := time.Duration(a.After.ExpiresAt)*time.Millisecond - time.Duration(a.Server.Clock().Wall())
	ttl := l.owner(x.client.Name(), l.resource(x.key)).ttl
	longest := ttl + rounding
	if l.Foreign { // it may tell the node when the key ends, by a clock of its own
		longest += foreignGrace
	}
	if ttl > 0 && left > longest && !l.isMany {
		l.broken(l.resource(x.key), "%s's key on %s has a time to live of %v, and %v is the longest that was asked for",
			x.client.Name(), a.Server.Name(), left.Round(time.Millisecond), ttl)
	}
}

// letsGo notes that a client has let go of a vote.
func (l *leftover) letsGo(x *owned) {
	if x.letGo >= 0 {
		return
	}
	x.letGo = l.World.Kernel.Now()
	l.due = append(l.due, overdue{x, x.letGo, x.client.ProgramClock().Now(), x.letGo})
	o := l.owner(x.client.Name(), l.resource(x.key))
	o.kept = slices.DeleteFunc(o.kept, func(k *owned) bool { return k == x })
}

// letsGoOf notes that a client has let go of votes by their value, those too that no node has yet.
func (l *leftover) letsGoOf(client string, keys []string, value string) {
	for _, key := range keys {
		v := vote{key, value}
		switch x := l.votes.of(v); {
		case x == nil:
			l.early[v] = true
		case x.client.Name() == client:
			l.letsGo(x)
		}
	}
}

// settle has a client let go of the votes for which it has neither a call under way nor a lease.
func (l *leftover) settle(o *owner) {
	if len(o.open) > 0 {
		return
	}
	for _, x := range slices.Clone(o.kept) {
		if !slices.ContainsFunc(o.leases, func(lease protocols.Lease) bool {
			voted, told := lease.(protocols.Voted)
			return !told || voted.Value() == x.value
		}) {
			l.letsGo(x)
		}
	}
}

func (l *leftover) called(c *protocols.Call) {
	voted, told := c.Lease.(protocols.Voted)
	for _, key := range c.Resources {
		o := l.owner(c.Client, key)
		switch c.Func {
		case protocols.AcquireCall:
			o.open = append(o.open, c)
			o.ttl = max(o.ttl, c.TTL)
		case protocols.ExtendCall:
			o.ttl = max(o.ttl, c.TTL)
		case protocols.ReleaseCall:
			if told {
				l.letsGoOf(c.Client, []string{key}, voted.Value())
			}
		}
	}
}

func (l *leftover) returned(c *protocols.Call, _ error) {
	for _, key := range c.Resources {
		o := l.owner(c.Client, key)
		switch c.Func {
		case protocols.AcquireCall:
			o.open = slices.DeleteFunc(o.open, func(open *protocols.Call) bool { return open == c })
			if c.Lease != nil {
				o.leases = append(o.leases, c.Lease)
			}
		case protocols.ReleaseCall:
			o.leases = slices.DeleteFunc(o.leases, func(lease protocols.Lease) bool { return lease == c.Lease })
		}
		l.settle(o)
	}
}

// crashed forgets what a client has: started again it has no call under way and no lease.
func (l *leftover) crashed(client string) {
	for of, o := range l.clients {
		if of.client == client { // what it asked for may still arrive
			*o = owner{ttl: o.ttl}
		}
	}
}

// observed takes a step with which a client lets go of its votes.
func (l *leftover) observed(client string, e *observe.Event) {
	l.letsGoOf(client, resourcesOf(e.Resource), e.Value)
}

func (l *leftover) sent(m network.Sent) {
	t := l.on(m.Link())
	t.forget(m.Exchange) // which is used again
	t.open = append(t.open, exchanged{Exchange: m.Exchange, sent: m.Exchange.Sent()})
}

func (l *leftover) ended(m network.Ended) {
	x := m.Exchange
	t := l.on(x.Link())
	i := slices.IndexFunc(t.open, func(o exchanged) bool { return o.Exchange == x })
	switch {
	case i < 0:
	case m.Fate != network.Arrived || m.Why != "" || m.Kind == network.RefusalMessage, m.Kind == network.RequestMessage && l.isInVain(x):
		t.forget(x)
	case m.Kind == network.ReplyMessage:
		if l.mustRead(x.From(), t.open[i].deadline) || t.open[i].deadline.IsZero() {
			t.open = slices.Delete(t.open, i, i+1)
		} else {
			t.forget(x)
		}
	}
}

// isInVain says whether a request has arrived at a node that carries out none.
func (l *leftover) isInVain(x *network.Exchange) bool {
	i := slices.IndexFunc(l.World.Servers, func(s *redis.Server) bool { return s.Process == x.Link().Server() })
	return i >= 0 && l.World.Servers[i].AnswersWrongly()
}

// on is the traffic on a link.
func (l *leftover) on(link *network.Link) *traffic {
	for len(l.links) <= link.Number() {
		l.links = append(l.links, &traffic{missed: -1})
	}
	return l.links[link.Number()]
}

// forget gives an exchange up, if it is open: its answer was not read in time.
func (t *traffic) forget(x *network.Exchange) {
	t.open = slices.DeleteFunc(t.open, func(o exchanged) bool {
		if o.Exchange == x {
			t.missed = max(t.missed, o.sent)
		}
		return o.Exchange == x
	})
}

// isFlowing says whether all messages that were sent in a stretch of true time have been answered in time.
func (t *traffic) isFlowing(from, to kernel.True) bool {
	return t.missed < from && !slices.ContainsFunc(t.open, func(o exchanged) bool { return from <= o.sent && o.sent < to })
}

// asked takes a command that a client sends.
func (l *leftover) asked(_ redis.Passage, a *redis.Asked) {
	if t := l.on(a.Link); len(t.open) > 0 {
		deadline := a.Deadline
		switch {
		case a.Latest:
			deadline = a.Client.ProgramClock().Now() // which no answer meets
		case deadline.IsZero() && l.Foreign: // it does not tell for how long it waits
			deadline = a.Client.ProgramClock().Now().Add(l.Lock.NodeTimeout)
		}
		if o := &t.open[len(t.open)-1]; o.deadline.IsZero() || deadline.Before(o.deadline) {
			o.deadline = deadline
		}
	}
	if a.Intent != redis.Deletes {
		return
	}
	for _, key := range a.Keys {
		if _, is := l.World.LockOf(key); !is {
			continue
		}
		l.deletes(a, key, a.Value)
		for _, value := range a.More {
			l.deletes(a, key, value)
		}
	}
}

// deletes takes a command to delete a key, if it has that value. One that counts is not let go of before the last release.
func (l *leftover) deletes(a *redis.Asked, key, value string) {
	x := l.votes.of(vote{key, value})
	if x == nil || x.client != a.Client || l.isMany {
		return
	}
	if o := l.owner(a.Client.Name(), l.resource(key)); l.isReentrant && len(o.leases) > 1 {
		return
	}
	l.letsGo(x)
}

// check looks at the keys of which it is time.
func (l *leftover) check() {
	now := l.World.Kernel.Now()
	for len(l.due) > 0 && l.due[0].since.Add(l.grace) < now {
		d := l.due[0]
		l.due = l.due[1:]
		if left := l.grace - d.client.ProgramClock().Now().Sub(d.reads); left >= 0 {
			if !d.client.Dead() { // its clock is slow
				l.due = append(l.due, overdue{d.owned, now.Add(left - l.grace), d.reads, d.letGo})
			}
			continue
		}
		l.look(&d)
	}
}

// look looks for a key that should be gone by now, or for one without a time to live.
func (l *leftover) look(d *overdue) {
	isTimed := d.letGo >= 0
	if isTimed && d.owned.letGo != d.letGo {
		return // the value was used again
	}
	l.judged++
	at, now := d.since.Add(l.grace), l.World.Kernel.Now()
	for i, s := range l.World.Servers {
		n := &d.nodes[i]
		ends, after := s.RunsOut(n.expiresAt), at
		there := n.isSet
		// If the clock has changed since, it does not say when a key ran out before, nor whether it was removed then.
		if ends != n.ends {
			r, _, kept := s.Observable().Peek(d.key)
			after, there = now, there && kept && ownerOf(r.Value) == d.value
		}
		if !there || ends <= after || !isTimed && n.expiresAt != 0 {
			continue
		}
		t := l.on(l.World.Network.Link(d.client.Name(), s.Name()))
		if !l.pauses.hasRun(d.client, n.since) || !l.pauses.hasRun(s.Process, n.since) || isTimed && !t.isFlowing(n.since, at) {
			continue
		}
		what := fmt.Sprintf("has let go of the lock for %v, but its key still stands on %s", l.grace, s.Name())
		if !isTimed {
			what = fmt.Sprintf("has set its key on %s for %v, and the key has no time to live", s.Name(), l.grace)
		}
		until := min(ends, now)
		from := l.seqAt(at)
		l.found(checker.Finding{Kind: checker.Leftover, Resource: l.resource(d.key), FromSeq: from, From: checker.Instant(at),
			ToSeq: l.seqAt(until), To: checker.Instant(until), Seqs: []int{from}, Text: d.client.Name() + " " + what + "."})
		return
	}
}
