package rules

import (
	"errors"
	"fmt"
	"iter"
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

var programReleasesRule = Rule{
	Name:  "program-releases",
	Kind:  checker.Contract,
	Needs: "what a lock program says of a release",
	Doc: `
What a [lock program](lock-programs.md) answers agrees with its keys, on a majority of all nodes, or on one. After a successful
release no key is left that was there before, and the release has removed one, unless an answer was missing. A release that is
refused has not removed the key itself, and an extend that finds the lease lost does not leave enough of its keys as they were.
A lease lasts no longer than its keys, as they were when their deadlines were set (that is excused); if the program renews it,
it reports the loss within a node timeout. An acquire that has waited for a second does not end with an unknown outcome before
its wait is over, unless a fault was injected before. A failed acquire has asked for the removal of every key that it set,
within two node timeouts for each node and one more, and a second (*leftover*). No lease is already over when it is granted,
extended or renewed, by what the program itself says, on any tier. (Unless a replica takes the place of a node.)`,
	New: watchProgramReleases,
}

// programReleases compares what somebody's lock answers with the keys that stand for it. All that is known of it is which
// keys these are, what docs/lock-programs.md has it promise, and that its holder needs a majority: of the nodes, or on one node
// of its keys.
type programReleases struct {
	*watch
	open    []*programCall    // for each resource of a call, in the order in which they began
	isShown map[*granted]bool // to be believed in for too long
	failed  []leftBy
	// isFaulty: a fault has been injected, or a client has crashed.
	isFaulty bool
	// asked is when something was sent last that may delete a key with a value, by whom and where; one that names no value is
	// kept under none.
	asked map[askedOn]kernel.True
}

// askedOn is a key with a value on a node, of a client that asks the node to remove it.
type askedOn struct {
	vote
	reaching
}

// stake is what its setter has done with a vote on a node, and when it was set by the time that one looks at.
type stake struct {
	*entry
	*onNode
	server *redis.Server
	cast   kernel.True
}

// leftBy is a key that a client had set in an acquire that failed, and had not asked to remove when that returned.
type leftBy struct {
	stake
	at kernel.True
}

// programCall is a call about a resource that has not returned.
type programCall struct {
	*call
	of      claim
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

func watchProgramReleases(r *watch) {
	if r.Foreign {
		r.onEvent(func(e *history.Event) {
			if text := OverGrant(e); text != "" {
				r.broken(e.Resource, "%s", text)
			}
		}, history.Expire)
	}
	if !r.Declared || r.FailsOver {
		return // nobody knows the keys of the lock, or votes may be on a replica that was promoted
	}
	x := &programReleases{watch: r, isShown: map[*granted]bool{}, asked: map[askedOn]kernel.True{}}
	r.onChanged(x.changed)
	r.onCommand(x.asks)
	r.onCommand(x.mayDelete)
	r.onVague(x.mayDelete)
	r.onCall(x.called)
	r.onReturn(x.returned)
	look := func() { x.believed(); x.forgotten() }
	r.onEvent(func(*history.Event) { look() })
	r.onEvent(func(*history.Event) { x.isFaulty = true }, history.Fault, history.Crash)
	r.onEnd = append(r.onEnd, look)
	r.onCrash(func(client string) {
		x.open = slices.DeleteFunc(x.open, func(c *programCall) bool { return c.Client == client })
	})
}

// during are the open calls of a client about a resource, which had begun by then.
func (x *programReleases) during(of claim, sent kernel.True) iter.Seq[*programCall] {
	return func(yield func(*programCall) bool) {
		for _, c := range x.open {
			if c.of == of && c.began <= sent && !yield(c) {
				return
			}
		}
	}
}

func (x *programReleases) changed(a *change) {
	if a.Set() || !a.Removed() && a.After.Value == a.Before.Value {
		return
	}
	for c := range x.during(claim{a.Client.Name(), a.resource}, a.Sent) {
		if c.touched = true; a.Removed() {
			c.removed++
		}
	}
}

func (x *programReleases) asks(a *redis.Asked) {
	if a.Intent != redis.Deletes {
		return
	}
	for _, key := range a.Keys {
		resource, is := x.World.LockOf(key)
		if !is {
			continue
		}
		for c := range x.during(claim{a.Client.Name(), resource}, a.Sent) {
			switch a.At {
			case redis.Sent:
				c.unheard++
				c.isPlain = c.isPlain || len(a.Args) == 0
			case redis.Answered:
				c.unheard--
			}
		}
	}
}

// mayDelete takes a command that may delete a key.
func (x *programReleases) mayDelete(a *redis.Asked) {
	by := reaching{a.Client, a.Server}
	for _, key := range a.Keys {
		if _, is := x.World.LockOf(key); !is || a.Intent == redis.Extends || a.Intent == redis.Sets {
			continue
		}
		for _, value := range a.Args {
			x.asked[askedOn{vote{key, value}, by}] = a.Sent
		}
		if a.Intent == redis.Deletes && len(a.Args) == 0 {
			x.asked[askedOn{vote{key, ""}, by}] = a.Sent
		}
	}
}

// quorum is how many keys with one value a holder needs of a resource, over all nodes.
func (x *programReleases) quorum(resource string) int {
	keys := map[string]bool{}
	for _, e := range x.ledger.all {
		if e.resource == resource && e.client != nil {
			keys[e.key] = true
		}
	}
	nodes := len(x.World.Servers)
	if x.OneNode {
		nodes = 1
	}
	return nodes*len(keys)/2 + 1
}

// stakes are what a client has done with the votes for a resource of which something is so.
func (x *programReleases) stakes(client, resource string, is func(*stake) bool) (all []stake) {
	for _, e := range x.ledger.all {
		if e.resource != resource {
			continue
		}
		for i := range e.nodes {
			n := &e.nodes[i]
			if s := (stake{e, n, x.World.Servers[i], n.sent}); n.setter != nil && n.setter.Name() == client && is(&s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// most are the stakes of which something is so under one value: as many as there are under any.
func (x *programReleases) most(client, resource string, is func(*stake) bool) (most []stake) {
	of := map[string][]stake{}
	for _, s := range x.stakes(client, resource, is) {
		of[s.value] = append(of[s.value], s)
		if len(of[s.value]) > len(most) {
			most = of[s.value]
		}
	}
	return most
}

// isAsked says that something was sent that may delete the key since the command that set it.
func (x *programReleases) isAsked(s *stake) bool {
	for _, value := range []string{s.value, ""} { // a DEL names none
		if at, is := x.asked[askedOn{vote{s.key, value}, s.by()}]; is && at >= s.sent {
			return true
		}
	}
	return false
}

func (s *stake) by() reaching { return reaching{s.setter, s.server} }

// mayStand says that a key is as it was set, and that its client neither has asked for its removal since nor has tried to reach
// the node after some moment.
func (x *programReleases) mayStand(s *stake, after kernel.True) bool {
	tried, has := x.tried[s.by()]
	return s.sent == s.cast && !x.isAsked(s) && !(has && tried > after)
}

// stands says whether the key is still there with the value.
func (s *stake) stands(now kernel.True) bool {
	r, _, there := s.server.Memory().Peek(s.key)
	return there && ownerOf(r.Value) == s.value && s.server.Up() && s.server.RunsOut(r.ExpiresAt) > now
}

func (x *programReleases) called(c *call) {
	for _, resource := range c.Resources {
		of := claim{c.Client, resource}
		p := &programCall{call: c, of: of, isAlone: true, had: x.leases.count(of)}
		if c.Lease != nil {
			p.until, p.held = c.Lease.Until(), x.holds(c, resource)
		}
		for other := range x.during(of, kernel.Forever) {
			other.isAlone, p.isAlone = false, false
		}
		x.open = append(x.open, p)
	}
}

func (x *programReleases) returned(c *call, err error) {
	for _, resource := range c.Resources {
		i := slices.IndexFunc(x.open, func(p *programCall) bool { return p.call == c && p.of.resource == resource })
		if i < 0 {
			continue
		}
		p := x.open[i]
		x.open = slices.Delete(x.open, i, i+1)
		switch {
		case c.Func == protocols.AcquireCall && err == nil:
			x.bears(p, resource)
		case c.Func == protocols.AcquireCall && p.isAlone:
			x.fails(p, resource)
			if !errors.Is(err, redlock.ErrTaken) {
				x.givesUp(p, resource)
			}
		case c.Func == protocols.ExtendCall && (err == nil || c.Lease.Until().After(p.until)):
			x.bears(p, resource)
		case c.Func == protocols.ExtendCall && p.isAlone && p.had == 1 && errors.Is(err, redlock.ErrLost):
			x.notLost(p, resource)
		case c.Func == protocols.ReleaseCall && p.isAlone && p.had == 1 && err == nil:
			x.released(p, resource)
		case c.Func == protocols.ReleaseCall && p.isAlone && p.had == 1 && errors.Is(err, redlock.ErrLost):
			x.notReleased(p, resource)
		}
	}
}

// givesUp looks whether an acquire that says nothing of its outcome was to wait for longer, in a run in which nothing has gone
// wrong yet. An error at once may have a reason that no fault shows.
func (x *programReleases) givesUp(c *programCall, resource string) {
	hasWaited := x.World.Kernel.Now() > c.began.Add(foreignGrace)
	if !c.Waits || c.Context == nil || c.Context.Err() != nil || x.isFaulty || !hasWaited {
		return
	}
	until, isLimited := c.Context.Deadline()
	if left := until.Sub(c.client.ProgramClock().Now()); isLimited && left > foreignGrace {
		x.broken(resource, "%s was to wait for the lock for %v more, and is told that it may or may not have it, although nothing has gone wrong",
			c.Client, left.Round(time.Millisecond))
	}
}

// bears compares the end of a lease with those of its keys. A key counts as it was when its deadline was set, as in promises.
func (x *programReleases) bears(c *programCall, resource string) {
	until := c.Lease.Until()
	if x.Renews || !c.client.ProgramClock().Now().Before(until) || c.Lease.Context().Err() != nil {
		return // it lasts for as long as it is renewed, or nobody believes in it
	}
	end := c.client.WhenReads(until)
	n := len(x.most(c.Client, resource, func(s *stake) bool { return s.until.Add(time.Millisecond) >= end }))
	of := x.quorum(resource)
	if n >= of {
		return
	}
	told := x.brokenWithin // clocks that go wrong may have made them end sooner
	if c.Func == protocols.ExtendCall && len(x.most(c.Client, resource, func(s *stake) bool { return s.lasts >= c.began })) < of {
		told = x.broken // nothing has extended them
	}
	told(resource, "%s is told that its lease lasts until %v, but only %d of the %d keys that it takes do",
		c.Client, time.Duration(end).Round(time.Microsecond), n, of)
}

// released looks whether the lock is gone of which a client is told that it has released it, and was there before. A lock that
// deletes whatever is there does not say what it was.
func (x *programReleases) released(c *programCall, resource string) {
	x.judged++
	now := x.World.Kernel.Now()
	n, of := len(x.most(c.Client, resource, func(s *stake) bool { return s.set < c.began && s.stands(now) })), x.quorum(resource)
	switch {
	case n >= of:
		x.broken(resource, "%s is told that it has released the lock, but %s of it still stand, and it takes %d",
			c.Client, plural.Count(n, "key"), of)
	case !c.touched && c.unheard <= 0 && !c.isPlain:
		x.broken(resource, "%s is told that it has released the lock, which it had no more: its release has removed no key", c.Client)
	}
}

// notReleased looks whether a client which is told that it has released nothing held the lock until it did.
func (x *programReleases) notReleased(c *programCall, resource string) {
	x.judged++
	left, of := len(x.standing(c.Client, resource)), x.quorum(resource)
	if c.held && c.unheard <= 0 && left < of && left+c.removed >= of {
		x.broken(resource, "%s is told that it has released nothing, but its release has removed %s of its lock, which takes %d",
			c.Client, plural.Count(c.removed, "key"), of)
	}
}

// notLost looks whether an extend which says that the lease is lost has found it so.
func (x *programReleases) notLost(c *programCall, resource string) {
	x.judged++
	left, of := len(x.standing(c.Client, resource)), x.quorum(resource)
	if c.held && left >= of && c.client.ProgramClock().Now().Before(c.until) {
		x.broken(resource, "%s is told that its lease is lost, but %s of it still stand, and it takes %d", c.Client, plural.Count(left, "key"), of)
	}
}

// holds says that a client believes in a lease, and has the keys for it.
func (x *programReleases) holds(c *call, resource string) bool {
	isOver := c.Lease.Context().Err() != nil || !c.client.ProgramClock().Now().Before(c.Lease.Until())
	return !isOver && len(x.standing(c.Client, resource)) >= x.quorum(resource)
}

// standing are the keys of a client that stand, under the value of which most do.
func (x *programReleases) standing(client, resource string) []stake {
	now := x.World.Kernel.Now()
	return x.most(client, resource, func(s *stake) bool { return s.stands(now) })
}

// believed looks for clients that believe in a lease, which their lock renews, for longer than its keys last. Nobody can tell
// one that stands still.
func (x *programReleases) believed() {
	if !x.Renews {
		return
	}
	now := x.World.Kernel.Now()
	for _, g := range x.leases.held {
		if g.Context().Err() != nil || x.isShown[g] {
			continue
		}
		for _, resource := range g.by.Resources {
			end := x.lasts(claim{g.by.Client, resource})
			if late := now.Sub(end) - x.Lock.NodeTimeout; late <= 0 || !x.standstills.hasRun(g.by.client, end) {
				continue
			}
			x.isShown[g] = true
			x.brokenWithin(resource, "%s is not told that its lease is over, although too few of its keys were renewed to last beyond %v",
				g.by.Client, time.Duration(end).Round(time.Microsecond))
		}
	}
}

// lasts is until when a quorum of keys of a client last, as of when their deadlines were set.
func (x *programReleases) lasts(of claim) (end kernel.True) {
	untils := map[string][]kernel.True{}
	for _, s := range x.stakes(of.client, of.resource, func(*stake) bool { return true }) {
		untils[s.value] = append(untils[s.value], s.until)
	}
	for _, all := range untils {
		if q := x.quorum(of.resource); len(all) >= q {
			slices.Sort(all)
			end = max(end, all[len(all)-q])
		}
	}
	return end
}

// fails notes the keys that an acquire which failed has set, whether or not it has heard that it has.
func (x *programReleases) fails(c *programCall, resource string) {
	now := x.World.Kernel.Now()
	for _, s := range x.stakes(c.Client, resource, func(s *stake) bool { return s.sent >= c.began && !x.isAsked(s) && s.stands(now) }) {
		x.failed = append(x.failed, leftBy{s, now})
	}
}

// forgotten looks whether clients whose acquire has failed have asked for the removal of each key that it had set, or have
// tried to reach the node, in the time that a release may take.
func (x *programReleases) forgotten() {
	now, grace := x.World.Kernel.Now(), programGrace(x.Run)
	for len(x.failed) > 0 && now > x.failed[0].at.Add(grace) {
		left := x.failed[0]
		x.failed = x.failed[1:]
		if !x.mayStand(&left.stake, left.cast) || left.until < left.at.Add(grace) {
			continue
		}
		if x.standstills.hasRun(left.setter, left.at) {
			x.brokenOf(checker.Leftover, left.resource, "%s was told at %v that it does not have the lock, but had set its key on %s, and has asked nobody to remove it",
				left.setter.Name(), time.Duration(left.at).Round(time.Microsecond), left.server.Name())
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
