package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// programs compares what somebody's lock answers with the keys that stand for it. All that is known of it is which keys these
// are, what docs/lock-programs.md has it promise, and that its holder needs a majority: of the nodes, or on one node of its
// keys.
type programs struct {
	*watch
	stakes  *stakes
	left    forgotten
	lockers []*locker
	refused []refusedWith
}

// refusedWith are enough votes of a client for the lock that it was refused at a moment.
type refusedWith struct {
	votes []stake
	at    kernel.True
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
	// held says that the client believed in its lease when it began, and had the keys for it, and removed how many keys it has
	// removed since.
	held    bool
	removed int
}

func watchPrograms(r *watch) {
	if r.Foreign {
		r.onEvent(func(e *history.Event) {
			if text := OverGrant(e); text != "" {
				r.broken(e.Resource, "%s", text)
			}
		}, history.Expire)
	}
	if !r.Declared || len(r.World.Replicas) > 0 {
		return // nobody knows the keys of the lock, or votes may be on a replica that was promoted
	}
	stakes := watchStakes(r.Run)
	x := &programs{watch: r, stakes: stakes, left: forgotten{watch: r, stakes: stakes}}
	r.onApplied(x.applied)
	r.onCommand(x.asks, redis.Sent, redis.Answered)
	r.onCall(x.called)
	r.onReturn(x.returned)
	look := func() { x.believed(); x.removed(); x.left.look() }
	r.onEvent(func(*history.Event) { look() })
	r.onEnd = append(r.onEnd, look)
	r.onCrash(func(client string) {
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

func (x *programs) applied(a *redis.Applied) {
	resource, is := x.World.LockOf(a.Key)
	if !is || a.Set() || !a.Removed() && a.After.Value == a.Before.Value {
		return
	}
	for _, c := range x.locker(a.Client.Name(), resource).open {
		if a.Sent < c.began {
			continue
		}
		if c.touched = true; a.Removed() {
			c.removed++
		}
	}
}

func (x *programs) asks(at redis.Passage, a *redis.Asked) {
	if a.Intent != redis.Deletes {
		return
	}
	for _, key := range a.Keys {
		resource, is := x.World.LockOf(key)
		if !is {
			continue
		}
		for _, c := range x.locker(a.Client.Name(), resource).open {
			switch {
			case a.Sent < c.began:
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
		p := &programCall{Call: c, began: x.World.Kernel.Now(), isAlone: len(l.open) == 0, had: len(l.leases)}
		if c.Lease != nil {
			p.until, p.held = c.Lease.Until(), x.holds(c, resource)
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
		case c.Func == protocols.AcquireCall && p.isAlone:
			x.left.fails(p.Client, resource, p.began)
			if errors.Is(err, redlock.ErrTaken) {
				x.refusedTo(p, resource)
			}
		case c.Func == protocols.ExtendCall && (err == nil || c.Lease.Until().After(p.until)):
			x.bears(p, resource)
		case c.Func == protocols.ReleaseCall:
			l.leases = slices.DeleteFunc(l.leases, func(lease protocols.Lease) bool { return lease == c.Lease })
			switch {
			case !p.isAlone || p.had != 1:
			case err == nil:
				x.released(p, resource)
			case errors.Is(err, redlock.ErrLost):
				x.notReleased(p, resource)
			}
		}
	}
}

// bears compares the end of a lease with those of its keys. A key counts as it was when its deadline was set, as in promises.
func (x *programs) bears(c *programCall, resource string) {
	client, until := x.World.Client(c.Client), c.Lease.Until()
	if x.Renews || !client.ProgramClock().Now().Before(until) || c.Lease.Context().Err() != nil {
		return // it lasts for as long as it is renewed, or nobody believes in it
	}
	end := client.WhenReads(until)
	n := len(x.stakes.most(c.Client, resource, func(s *stake) bool { return s.until.Add(time.Millisecond) >= end }))
	of := x.stakes.quorum(resource)
	if n >= of {
		return
	}
	told := x.brokenWithin // clocks that go wrong may have made them end sooner
	if c.Func == protocols.ExtendCall && len(x.stakes.most(c.Client, resource, func(s *stake) bool { return s.lasts >= c.began })) < of {
		told = x.broken // nothing has extended them
	}
	told(resource, "%s is told that its lease lasts until %v, but only %d of the %d keys that it takes do",
		c.Client, time.Duration(end).Round(time.Microsecond), n, of)
}

// refusedTo notes if a client which is told that it has nothing has set what it takes, and not asked for its removal.
func (x *programs) refusedTo(c *programCall, resource string) {
	now := x.World.Kernel.Now()
	with := x.stakes.most(c.Client, resource, func(s *stake) bool { return s.cast >= c.began && !x.stakes.isAsked(s) && s.stands(now) })
	if len(with) >= x.stakes.quorum(resource) {
		x.refused = append(x.refused, refusedWith{with, now})
	}
}

// removed looks whether clients that were refused the lock have asked for the removal of what they had set, or tried to.
func (x *programs) removed() {
	now := x.World.Kernel.Now()
	x.refused = slices.DeleteFunc(x.refused, func(r refusedWith) bool {
		if now <= r.at.Add(foreignGrace) {
			return false
		}
		of := r.votes[0]
		n := 0
		for _, then := range r.votes {
			tried, has := x.tried[reaching{then.client, then.server}]
			if s := x.stakes.stakeOf(then.vote, then.server); s.cast == then.cast && !x.stakes.isAsked(s) && !(has && tried > s.cast) {
				n++
			}
		}
		if quorum := x.stakes.quorum(of.resource); n >= quorum && x.pauses.hasRun(of.client, r.at) {
			x.broken(of.resource,
				"%s was told at %v that it was refused the lock, but had set %s, of %d that it takes, and has asked nobody to remove them",
				of.client.Name(), time.Duration(r.at).Round(time.Microsecond), plural.Count(n, "key"), quorum)
		}
		return true
	})
}

// released looks whether the lock is gone of which a client is told that it has released it, and was there before. A lock that
// deletes whatever is there does not say what it was.
func (x *programs) released(c *programCall, resource string) {
	x.judged++
	now := x.World.Kernel.Now()
	n, of := len(x.stakes.most(c.Client, resource, func(s *stake) bool { return s.set < c.began && s.stands(now) })), x.stakes.quorum(resource)
	switch {
	case n >= of:
		x.broken(resource, "%s is told that it has released the lock, but %s of it still stand, and it takes %d",
			c.Client, plural.Count(n, "key"), of)
	case !c.touched && c.unheard <= 0 && !c.isPlain:
		x.broken(resource, "%s is told that it has released the lock, which it had no more: its release has removed no key", c.Client)
	}
}

// notReleased looks whether a client which is told that it has released nothing held the lock until it did.
func (x *programs) notReleased(c *programCall, resource string) {
	x.judged++
	left, of := len(x.standing(c.Client, resource)), x.stakes.quorum(resource)
	if c.held && c.unheard <= 0 && left < of && left+c.removed >= of {
		x.broken(resource, "%s is told that it has released nothing, but its release has removed %s of its lock, which takes %d",
			c.Client, plural.Count(c.removed, "key"), of)
	}
}

// holds says that a client believes in a lease, and has the keys for it.
func (x *programs) holds(c *protocols.Call, resource string) bool {
	isOver := c.Lease.Context().Err() != nil || !x.World.Client(c.Client).ProgramClock().Now().Before(c.Lease.Until())
	return !isOver && len(x.standing(c.Client, resource)) >= x.stakes.quorum(resource)
}

// standing are the keys of a client that stand, under the value of which most do.
func (x *programs) standing(client, resource string) []stake {
	now := x.World.Kernel.Now()
	return x.stakes.most(client, resource, func(s *stake) bool { return s.stands(now) })
}

// believed looks for clients that believe in a lease, which their lock renews, for longer than its keys last. Nobody can tell
// one that stands still.
func (x *programs) believed() {
	if !x.Renews {
		return
	}
	now := x.World.Kernel.Now()
	for _, l := range x.lockers {
		for _, lease := range l.leases {
			if lease.Context().Err() != nil || l.isShown[lease] {
				continue
			}
			end := x.lasts(l.asking)
			client := x.World.Client(l.client)
			if late := now.Sub(end) - x.Lock.NodeTimeout; late <= 0 || !x.pauses.hasRun(client, end) {
				continue
			}
			l.isShown[lease] = true
			x.brokenWithin(l.key, "%s is not told that its lease is over, although too few of its keys were renewed to last beyond %v",
				l.client, time.Duration(end).Round(time.Microsecond))
		}
	}
}

// lasts is until when a quorum of keys of a client last, as of when their deadlines were set.
func (x *programs) lasts(of asking) (end kernel.True) {
	untils := map[string][]kernel.True{}
	for _, s := range x.stakes.votes {
		if s.client.Name() == of.client && s.resource == of.key {
			untils[s.value] = append(untils[s.value], s.until)
		}
	}
	for _, all := range untils {
		if q := x.stakes.quorum(of.key); len(all) >= q {
			slices.Sort(all)
			end = max(end, all[len(all)-q])
		}
	}
	return end
}

// forgotten looks for keys of acquires that have failed, of which nobody has asked for the removal.
type forgotten struct {
	*watch
	stakes *stakes
	failed []leftBy
}

// leftBy is a key that a client had set in an acquire that failed, and had not asked to remove when that returned.
type leftBy struct {
	stake
	at kernel.True
}

// fails notes the keys that an acquire which failed has set, whether or not it has heard that it has.
func (x *forgotten) fails(client, resource string, began kernel.True) {
	now := x.World.Kernel.Now()
	for _, s := range x.stakes.votes {
		if s.client.Name() == client && s.resource == resource && s.cast >= began && !x.stakes.isAsked(s) && s.stands(now) {
			x.failed = append(x.failed, leftBy{*s, now})
		}
	}
}

// look looks whether clients whose acquire has failed have asked for the removal of each key that it had set, or have tried to
// reach the node, in the time that a release may take.
func (x *forgotten) look() {
	now, grace := x.World.Kernel.Now(), programGrace(x.Run)
	for len(x.failed) > 0 && now > x.failed[0].at.Add(grace) {
		left := x.failed[0]
		x.failed = x.failed[1:]
		to := reaching{left.client, left.server}
		tried, has := x.tried[to]
		set := x.stakes.set[askedOn{left.vote, to}] // which may have been again, over a new connection
		s := x.stakes.stakeOf(left.vote, left.server)
		if s.cast != left.cast || x.stakes.isAsked(s) || has && tried > set || s.until < left.at.Add(grace) {
			continue
		}
		if x.pauses.hasRun(left.client, left.at) {
			x.brokenOf(checker.Leftover, left.resource, "%s was told at %v that it does not have the lock, but had set its key on %s, and has asked nobody to remove it",
				left.client.Name(), time.Duration(left.at).Round(time.Microsecond), left.server.Name())
		}
	}
}

// programGrace is how long somebody's lock may take to release what it has: it may have to connect to each node first, and
// waits as it likes before it tries again.
func programGrace(r *Run) time.Duration {
	return foreignGrace + 2*time.Duration(len(r.World.Servers)+1)*r.Lock.NodeTimeout
}

// OverGrant says, in a sentence without its full stop, that an event is the end of a lease that a program has granted, extended
// or renewed when it was over, by what it says itself, whatever clocks do; empty if it is not.
func OverGrant(e *history.Event) string {
	done, is := protocols.IsOver(e.Detail)
	if e.Kind != history.Expire || !is {
		return ""
	}
	return fmt.Sprintf("%s's lease was already over when it was %s", e.Process, done)
}
