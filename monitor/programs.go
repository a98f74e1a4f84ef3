package monitor

import (
	"errors"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/history"
	"redlocksim/internal/plural"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// programs compares what somebody's lock answers with the keys that stand for it. All that is known of it is which keys these
// are, what docs/lock-programs.md has it promise, and that its holder needs a majority: of the nodes, or on one node of its
// keys.
type programs struct {
	run     *Run
	votes   []*stake
	lockers []*locker
	refused []refusedWith
	// asked is when something was sent last that may delete a key; one that names no value is kept under none.
	asked map[askedOn]kernel.True
	// tried is when a client tried to reach a node the last time, without anything being sent.
	tried map[reaching]kernel.True
}

// refusedWith are enough votes of a client for the lock that it was refused at a moment.
type refusedWith struct {
	votes []stake
	at    kernel.True
}

// askedOn is a key with a value on a node, of a client that asks for its removal.
type askedOn struct {
	vote
	reaching
}

// stake is what a client has done with a key and a value on a node.
type stake struct {
	vote
	resource string
	server   *redis.Server
	client   *kernel.Process
	cast     kernel.True // when the command was sent that set it
	set      kernel.True // when that was carried out
	until    kernel.True // when the key runs out, as of when its deadline was set
}

// locker is what a client has of a resource.
type locker struct {
	asking
	open    []*programCall
	leases  []protocols.Lease
	isShown map[protocols.Lease]bool // to be believed in for too long
}

// programCall is a call that has not returned.
type programCall struct {
	*protocols.Call
	began   kernel.True
	isAlone bool      // no other call of the client about the resource was open meanwhile
	had     int       // leases on the resource when it began
	until   time.Time // of its lease when it began, if it is about one
	// touched says that a command of the client has removed or changed a key, unheard how many to delete one were sent and not
	// answered, and isPlain that one of them deletes the key whatever its value.
	touched bool
	unheard int
	isPlain bool
}

func watchPrograms(r *Run) {
	if !r.Declared || len(r.World.Replicas) > 0 {
		return // nobody knows the keys of the lock, or votes may be on a replica that was promoted
	}
	x := &programs{run: r, asked: map[askedOn]kernel.True{}, tried: map[reaching]kernel.True{}}
	r.World.OnTried(func(client *kernel.Process, s *redis.Server) { x.tried[reaching{client, s}] = r.World.Kernel.Now() })
	r.onApplied = append(r.onApplied, x.applied)
	r.onCommand = append(r.onCommand, x.asks)
	r.World.OnVague(x.asks)
	r.onCall = append(r.onCall, x.called)
	r.onReturn = append(r.onReturn, x.returned)
	look := func() { x.believed(); x.removed() }
	r.onEvent = append(r.onEvent, func(*history.Event) { look() })
	r.onEnd = append(r.onEnd, look)
	r.onCrash = append(r.onCrash, func(client string) {
		x.lockers = slices.DeleteFunc(x.lockers, func(l *locker) bool { return l.client == client })
	})
}

func (x *programs) locker(client, resource string) *locker {
	of := asking{client, resource}
	i := slices.IndexFunc(x.lockers, func(l *locker) bool { return l.asking == of })
	if i < 0 {
		i = len(x.lockers)
		x.lockers = append(x.lockers, &locker{asking: of, isShown: map[protocols.Lease]bool{}})
	}
	return x.lockers[i]
}

// quorum is how many keys with one value a holder needs of a resource, over all nodes.
func (x *programs) quorum(resource string) int {
	var keys []string
	for _, s := range x.votes {
		if s.resource == resource && !slices.Contains(keys, s.key) {
			keys = append(keys, s.key)
		}
	}
	nodes := len(x.run.World.Servers)
	if x.run.OneNode {
		nodes = 1
	}
	return nodes*len(keys)/2 + 1
}

// most are the keys of a resource that a client has under one value and of which something is so: as many as there are under
// any.
func (x *programs) most(client, resource string, is func(*stake) bool) (all []stake) {
	of := map[string][]stake{}
	for _, s := range x.votes {
		if s.client.Name() != client || s.resource != resource || !is(s) {
			continue
		}
		of[s.value] = append(of[s.value], *s)
		if len(of[s.value]) > len(all) {
			all = of[s.value]
		}
	}
	return all
}

// isAsked says that something was sent since the command that set the key that may delete it.
func (x *programs) isAsked(s *stake) bool {
	for _, value := range []string{s.value, ""} { // a DEL names none
		if at, is := x.asked[askedOn{vote{s.key, value}, reaching{s.client, s.server}}]; is && at >= s.cast {
			return true
		}
	}
	return false
}

// stands says whether the key is still there with the value.
func (s *stake) stands(now kernel.True) bool {
	r, _, there := s.server.Observable().Peek(s.key)
	return there && r.Value == s.value && s.server.Up() && s.server.RunsOut(r.ExpiresAt) > now
}

func (x *programs) applied(a *redis.Applied) {
	resource, is := x.run.World.LockOf(a.Key)
	if !is {
		return
	}
	if !a.Set() && (a.Removed() || a.After.Value != a.Before.Value) {
		for _, c := range x.locker(a.Client.Name(), resource).open {
			c.touched = c.touched || a.Sent >= c.began
		}
	}
	if a.Removed() {
		return
	}
	i := slices.IndexFunc(x.votes, func(s *stake) bool { return s.key == a.Key && s.value == a.After.Value && s.server == a.Server })
	if i < 0 {
		i = len(x.votes)
		x.votes = append(x.votes, &stake{vote: vote{a.Key, a.After.Value}, resource: resource, server: a.Server})
	}
	s := x.votes[i]
	if a.Set() || a.After.Value != a.Before.Value {
		s.client, s.cast, s.set = a.Client, a.Sent, x.run.World.Kernel.Now()
	}
	s.until = a.Server.RunsOut(a.After.ExpiresAt)
}

func (x *programs) asks(at redis.Passage, a *redis.Asked) {
	if a.Intent == redis.Sets || a.Intent == redis.Extends {
		return
	}
	for _, key := range a.Keys {
		resource, is := x.run.World.LockOf(key)
		if !is {
			continue
		}
		by := reaching{a.Client, a.Server}
		for _, value := range a.More {
			x.asked[askedOn{vote{key, value}, by}] = a.Sent
		}
		if a.Value != "" || a.Intent == redis.Deletes && len(a.More) == 0 {
			x.asked[askedOn{vote{key, a.Value}, by}] = a.Sent
		}
		for _, c := range x.locker(a.Client.Name(), resource).open {
			switch {
			case a.Sent < c.began || a.Intent != redis.Deletes:
			case at == redis.Sent:
				c.unheard++
				c.isPlain = c.isPlain || a.Value == "" && len(a.More) == 0
			case at == redis.Answered:
				c.unheard--
			}
		}
	}
}

func (x *programs) called(c *protocols.Call) {
	for _, resource := range c.Resources {
		l := x.locker(c.Client, resource)
		p := &programCall{Call: c, began: x.run.World.Kernel.Now(), isAlone: len(l.open) == 0, had: len(l.leases)}
		if c.Lease != nil {
			p.until = c.Lease.Until()
		}
		for _, other := range l.open {
			other.isAlone = false
		}
		l.open = append(l.open, p)
	}
}

func (x *programs) returned(c *protocols.Call, err error) {
	for _, resource := range c.Resources {
		l := x.locker(c.Client, resource)
		i := slices.IndexFunc(l.open, func(p *programCall) bool { return p.Call == c })
		if i < 0 {
			continue
		}
		p := l.open[i]
		l.open = slices.Delete(l.open, i, i+1)
		switch {
		case c.Func == protocols.AcquireCall && err == nil:
			l.leases = append(l.leases, c.Lease)
			x.bears(p, resource)
		case c.Func == protocols.AcquireCall && errors.Is(err, redlock.ErrTaken) && p.isAlone:
			x.refusedTo(p, resource)
		case c.Func == protocols.ExtendCall && (err == nil || c.Lease.Until().After(p.until)):
			x.bears(p, resource)
		case c.Func == protocols.ReleaseCall:
			l.leases = slices.DeleteFunc(l.leases, func(lease protocols.Lease) bool { return lease == c.Lease })
			if err == nil && p.isAlone && p.had == 1 {
				x.released(p, resource)
			}
		}
	}
}

// bears compares the end of a lease with those of its keys. A key counts as it was when its deadline was set, as in promises.
func (x *programs) bears(c *programCall, resource string) {
	client, until := x.run.World.Client(c.Client), c.Lease.Until()
	if x.run.Renews || !client.ProgramClock().Now().Before(until) || c.Lease.Context().Err() != nil {
		return // it lasts for as long as it is renewed, or nobody believes in it
	}
	end := client.WhenReads(until)
	n := len(x.most(c.Client, resource, func(s *stake) bool { return s.until.Add(time.Millisecond) >= end }))
	if of := x.quorum(resource); n < of {
		x.run.brokenWithin(checker.Contract, resource, "%s is told that its lease lasts until %v, but only %d of the %d keys that it takes do",
			c.Client, time.Duration(end).Round(time.Microsecond), n, of)
	}
}

// refusedTo notes if a client which is told that it has nothing has set what it takes, and not asked for its removal.
func (x *programs) refusedTo(c *programCall, resource string) {
	now := x.run.World.Kernel.Now()
	with := x.most(c.Client, resource, func(s *stake) bool { return s.cast >= c.began && !x.isAsked(s) && s.stands(now) })
	if len(with) >= x.quorum(resource) {
		x.refused = append(x.refused, refusedWith{with, now})
	}
}

// removed looks whether clients that were refused the lock have asked for the removal of what they had set, or tried to.
func (x *programs) removed() {
	now := x.run.World.Kernel.Now()
	x.refused = slices.DeleteFunc(x.refused, func(r refusedWith) bool {
		if now <= r.at.Add(foreignGrace) {
			return false
		}
		of := r.votes[0]
		n := 0
		for _, then := range r.votes {
			tried, has := x.tried[reaching{then.client, then.server}]
			i := slices.IndexFunc(x.votes, func(s *stake) bool { return s.vote == then.vote && s.server == then.server })
			if s := x.votes[i]; s.cast == then.cast && !x.isAsked(s) && !(has && tried > s.cast) {
				n++
			}
		}
		if quorum := x.quorum(of.resource); n >= quorum && x.run.pauses.hasRun(of.client, r.at) {
			x.run.broken(checker.Contract, of.resource,
				"%s was told at %v that it was refused the lock, but had set %s, of %d that it takes, and has asked nobody to remove them",
				of.client.Name(), time.Duration(r.at).Round(time.Microsecond), plural.Count(n, "key"), quorum)
		}
		return true
	})
}

// released looks whether the lock is gone of which a client is told that it has released it, and was there before. A lock that
// deletes whatever is there does not say what it was.
func (x *programs) released(c *programCall, resource string) {
	now := x.run.World.Kernel.Now()
	n, of := len(x.most(c.Client, resource, func(s *stake) bool { return s.set < c.began && s.stands(now) })), x.quorum(resource)
	switch {
	case n >= of:
		x.run.broken(checker.Contract, resource, "%s is told that it has released the lock, but %s of it still stand, and it takes %d",
			c.Client, plural.Count(n, "key"), of)
	case !c.touched && c.unheard <= 0 && !c.isPlain:
		x.run.broken(checker.Contract, resource, "%s is told that it has released the lock, which it had no more: its release has removed no key", c.Client)
	}
}

// believed looks for clients that believe in a lease, which their lock renews, for longer than its keys last. Nobody can tell
// one that stands still.
func (x *programs) believed() {
	if !x.run.Renews {
		return
	}
	now := x.run.World.Kernel.Now()
	for _, l := range x.lockers {
		for _, lease := range l.leases {
			if lease.Context().Err() != nil || l.isShown[lease] {
				continue
			}
			end := x.lasts(l.asking)
			client := x.run.World.Client(l.client)
			if late := now.Sub(end) - x.run.Lock.NodeTimeout; late <= 0 || !x.run.pauses.hasRun(client, end) {
				continue
			}
			l.isShown[lease] = true
			x.run.brokenWithin(checker.Contract, l.key, "%s is not told that its lease is over, although too few of its keys were renewed to last beyond %v",
				l.client, time.Duration(end).Round(time.Microsecond))
		}
	}
}

// lasts is until when a quorum of keys of a client last, as of when their deadlines were set.
func (x *programs) lasts(of asking) (end kernel.True) {
	untils := map[string][]kernel.True{}
	for _, s := range x.votes {
		if s.client.Name() == of.client && s.resource == of.key {
			untils[s.value] = append(untils[s.value], s.until)
		}
	}
	for _, all := range untils {
		if q := x.quorum(of.key); len(all) >= q {
			slices.Sort(all)
			end = max(end, all[len(all)-q])
		}
	}
	return end
}
