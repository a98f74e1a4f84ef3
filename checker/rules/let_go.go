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

var letGoRule = Rule{
	Name:  "let-go",
	Kind:  checker.Leftover,
	Needs: "a vote of which its client had let go, when it should be gone",
	Doc: `
A key is gone soon after its client has let go of it: when an attempt has failed, a release has begun, or the client has
neither a call under way for the resource nor a lease with this value. Soon is 2.5 node timeouts with *redlock*, and a node
timeout for each node and two more for others. By then at the latest it has a time to live, and never a longer one than was
asked for. Judged are keys whose client and node were up all the time, and whose messages were answered in time. (Unless a
replica takes the place of a node; for a lock of your own, if it declares its keys.)`,
	Holds: "%s of clients that had let go were gone soon, or out of their reach",
	Each:  "vote",
	Idle:  "no client let go of a lock long before the end, or nobody looked",
	New:   watchLetGo,
}

// letGo looks for keys that outlive the lock that they stood for: on a node that its client could reach all the time, a key
// is gone soon after the client has let go of it, and it never has a longer time to live than was asked for.
type letGo struct {
	*watch
	// grace is how long after its client has let go a key may still stand: the release waits for a batch and arrives within a
	// node timeout, and so does a second one, which takes back a vote that the first one came too early for.
	grace time.Duration
	// isMany says that the lock is one of several, each of which it lets go of by itself, under one owner, and first takes for
	// longer than was asked for.
	isMany bool
	// isReentrant says that an owner may take the lock several times.
	isReentrant bool
	clients     map[claim]*owner
	links       []*traffic // by the numbers of the links
	due         []overdue  // in the order of their times, but for some of clients whose clock is slow
}

// foreignGrace is what somebody's lock is given beyond what its messages take.
const foreignGrace = time.Second

// owner is a client that asks for a resource.
type owner struct {
	kept []*entry      // of which it has not let go
	ttl  time.Duration // the longest that it has ever asked for
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
	*entry
	since kernel.True // the grace counts from here
	reads time.Time   // what the client's lock clock read then
	letGo kernel.True // when the client let go of the key that is looked for; negative if one without a time to live is
}

func watchLetGo(r *watch) {
	if r.Foreign && !r.Declared || r.FailsOver {
		return // nobody knows the keys of the lock, or votes may be on a replica that was promoted
	}
	l := &letGo{watch: r, isMany: protocols.Has[protocols.RedissonMultiSettings](r.Lock), isReentrant: r.Lock.Capabilities().Reentrant,
		clients: map[claim]*owner{}}
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
	r.onApplied(func(*redis.Applied) { l.check() })
	r.onChanged(l.changed)
	r.onStep(func(client string, e *observe.Event) { l.letsGoOf(client, resourcesOf(e.Resource), e.Value) }, observe.Denied, observe.ReleaseStarted)
	r.onCall(l.called)
	r.onReturn(l.returned)
	r.onCrash(l.crashed)
	r.onEnd = append(r.onEnd, l.check)
}

func (l *letGo) saw(e *history.Event) {
	l.check()
	if e.Kind == history.Fault && (e.Name == "evict" || e.Name == "overwrite") {
		l.lostFrom(slices.IndexFunc(l.World.Servers, func(s *redis.Server) bool { return s.Name() == e.Node }))
	}
}

// lostFrom notes which keys a node has lost although no request has removed them. It may be a replica, which is negative.
func (l *letGo) lostFrom(node int) {
	if node < 0 {
		return
	}
	s := l.World.Servers[node]
	for _, e := range l.ledger.all {
		if n := &e.nodes[node]; n.isThere && s.RunsOut(n.expiresAt) > l.World.Kernel.Now() {
			if r, _, there := s.Memory().Peek(e.key); !there || ownerOf(r.Value) != e.value {
				n.isLost = true
			}
		}
	}
}

func (l *letGo) changed(a *change) {
	e := a.entry
	if e == nil || !redis.IsString(e.value) {
		return
	}
	o := l.owner(a.Client.Name(), a.resource)
	if a.isFirst {
		o.kept = append(o.kept, e)
		if e.isEarly {
			l.letsGo(e)
		}
	}
	if a.isNew && e.letGo >= 0 && a.Sent > e.letGo { // a value that is used again
		e.letGo = -1
		o.kept = append(o.kept, e)
	}
	if a.isNew || a.After.ExpiresAt != a.Before.ExpiresAt { // otherwise a step of the clock may have given it more time
		l.lasts(e, a)
	}
	l.settle(claim{a.Client.Name(), a.resource})
}

func (l *letGo) owner(client, resource string) *owner {
	of := claim{client, resource}
	o := l.clients[of]
	if o == nil {
		o = &owner{}
		l.clients[of] = o
	}
	return o
}

// lasts looks at the time to live that a key was just given.
func (l *letGo) lasts(e *entry, a *change) {
	if a.After.ExpiresAt == 0 {
		l.due = append(l.due, overdue{e, l.World.Kernel.Now(), e.client.ProgramClock().Now(), -1})
		return
	}
	left := time.Duration(a.After.ExpiresAt)*time.Millisecond - time.Duration(a.Server.Clock().Wall())
	ttl := l.owner(e.client.Name(), e.resource).ttl
	longest := ttl + rounding
	if l.Foreign { // it may tell the node when the key ends, by a clock of its own
		longest += foreignGrace
	}
	if ttl > 0 && left > longest && !l.isMany {
		l.broken(e.resource, "%s's key on %s has a time to live of %v, and %v is the longest that was asked for",
			e.client.Name(), a.Server.Name(), left.Round(time.Millisecond), ttl)
	}
}

// letsGo notes that a client has let go of a vote.
func (l *letGo) letsGo(e *entry) {
	if e.letGo >= 0 {
		return
	}
	e.letGo = l.World.Kernel.Now()
	l.due = append(l.due, overdue{e, e.letGo, e.client.ProgramClock().Now(), e.letGo})
	o := l.owner(e.client.Name(), e.resource)
	o.kept = slices.DeleteFunc(o.kept, func(k *entry) bool { return k == e })
}

// letsGoOf notes that a client has let go of votes by their value, those too that no node has yet.
func (l *letGo) letsGoOf(client string, keys []string, value string) {
	for _, key := range keys {
		switch e := l.ledger.entry(vote{key, value}); {
		case e.client == nil:
			e.isEarly = true
		case e.client.Name() == client:
			l.letsGo(e)
		}
	}
}

// settle has a client let go of the votes for which it has neither a call under way nor a lease.
func (l *letGo) settle(by claim) {
	if slices.ContainsFunc(l.calls.open, func(c *call) bool {
		return c.Func == protocols.AcquireCall && c.Client == by.client && slices.Contains(c.Resources, by.resource)
	}) {
		return
	}
	o := l.owner(by.client, by.resource)
	for _, e := range slices.Clone(o.kept) {
		if !slices.ContainsFunc(l.leases.held, func(g *granted) bool {
			voted, told := g.Lease.(protocols.Voted)
			return g.isOn(by) && (!told || voted.Value() == e.value)
		}) {
			l.letsGo(e)
		}
	}
}

func (l *letGo) called(c *call) {
	voted, told := c.Lease.(protocols.Voted)
	if told && c.Func == protocols.ReleaseCall {
		l.letsGoOf(c.Client, c.Resources, voted.Value())
	}
	for _, resource := range c.Resources {
		o := l.owner(c.Client, resource)
		o.ttl = max(o.ttl, c.TTL)
	}
}

func (l *letGo) returned(c *call, _ error) {
	for _, resource := range c.Resources {
		l.settle(claim{c.Client, resource})
	}
}

// crashed forgets what a client has: started again it has no call under way and no lease.
func (l *letGo) crashed(client string) {
	for of, o := range l.clients {
		if of.client == client { // what it asked for may still arrive
			*o = owner{ttl: o.ttl}
		}
	}
}

func (l *letGo) sent(m network.Sent) {
	t := l.on(m.Link())
	t.forget(m.Exchange) // which is used again
	t.open = append(t.open, exchanged{Exchange: m.Exchange, sent: m.Exchange.Sent()})
}

func (l *letGo) ended(m network.Ended) {
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
func (l *letGo) isInVain(x *network.Exchange) bool {
	i := slices.IndexFunc(l.World.Servers, func(s *redis.Server) bool { return s.Process == x.Link().Server() })
	return i >= 0 && l.World.Servers[i].AnswersWrongly()
}

// on is the traffic on a link.
func (l *letGo) on(link *network.Link) *traffic {
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
func (l *letGo) asked(a *redis.Asked) {
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
	if a.Intent != redis.Deletes || l.isMany {
		return
	}
	for _, key := range a.Keys {
		for _, value := range a.Args {
			e := l.ledger.of[vote{key, value}]
			if e == nil || e.client != a.Client {
				continue
			}
			// One that counts is not let go of before the last release.
			if !l.isReentrant || l.leases.count(claim{a.Client.Name(), e.resource}) <= 1 {
				l.letsGo(e)
			}
		}
	}
}

// check looks at the keys of which it is time.
func (l *letGo) check() {
	now := l.World.Kernel.Now()
	for len(l.due) > 0 && l.due[0].since.Add(l.grace) < now {
		d := l.due[0]
		l.due = l.due[1:]
		if left := l.grace - d.client.ProgramClock().Now().Sub(d.reads); left >= 0 {
			if !d.client.Dead() { // its clock is slow
				l.due = append(l.due, overdue{d.entry, now.Add(left - l.grace), d.reads, d.letGo})
			}
			continue
		}
		l.look(&d)
	}
}

// look looks for a key that should be gone by now, or for one without a time to live.
func (l *letGo) look(d *overdue) {
	isTimed := d.letGo >= 0
	if isTimed && d.entry.letGo != d.letGo {
		return // the value was used again
	}
	l.judged++
	at, now := d.since.Add(l.grace), l.World.Kernel.Now()
	for i, s := range l.World.Servers {
		n := &d.nodes[i]
		ends, after := s.RunsOut(n.expiresAt), at
		there := n.isThere && !n.isLost
		// If the clock has changed since, it does not say when a key ran out before, nor whether it was removed then.
		if ends != n.until {
			r, _, kept := s.Memory().Peek(d.key)
			after, there = now, there && kept && ownerOf(r.Value) == d.value
		}
		if !there || ends <= after || !isTimed && n.expiresAt != 0 {
			continue
		}
		t := l.on(l.World.Network.Link(d.client.Name(), s.Name()))
		if !l.standstills.hasRun(d.client, n.first) || !l.standstills.hasRun(s.Process, n.first) || isTimed && !t.isFlowing(n.first, at) {
			continue
		}
		what := fmt.Sprintf("has let go of the lock for %v, but its key still stands on %s", l.grace, s.Name())
		if !isTimed {
			what = fmt.Sprintf("has set its key on %s for %v, and the key has no time to live", s.Name(), l.grace)
		}
		until := min(ends, now)
		from := l.seqAt(at)
		l.found(checker.Finding{Kind: checker.Leftover, Resource: d.resource, FromSeq: from, From: checker.Instant(at),
			ToSeq: l.seqAt(until), To: checker.Instant(until), Seqs: []int{from}, Text: d.client.Name() + " " + what + "."})
		return
	}
}
