package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// failures compares the errors that calls return, each a *redlock.Error, with what the nodes were asked and answered.
type failures struct {
	run    *Run
	quorum int
	calls  []*calling
	memory slab[asked] // for what the calls ask
	// reports has the clients that report attempts: a lock of one's own may have nobody told.
	reports map[string]bool
	// latest is when a command was sent last to do something with a lease.
	latest    map[doing]kernel.True
	isGuarded bool    // nodes have records of the restart guard
	isUsedUp  bool    // a counter has, or had, no token above it
	last      request // that was sent
	joined    *asked  // what was asked with it; nil if nobody waits for that
}

// calling is a call that has not returned.
type calling struct {
	*protocols.Call
	name  string // of its resources, as the library's steps have it
	began kernel.True
	// isAlone says that no other call of the client for one of the resources was under way at the same time: what the client
	// asks for them is asked by this one.
	isAlone bool
	made    int // the number of its client in the process; see clients
	// isStarved says that its client had no random bytes for some of the time.
	isStarved bool
	// values counts the values with which it has asked for votes, and value is the last.
	values int
	value  string
	due    time.Time // when its client stops waiting for answers to what it asks now, by its clock
	asked  []asked   // with that value, in the order of the Servers
	// isEnded says that the call's context has ended the last attempt, before the nodes had decided it, and refused is why the
	// last one failed that they had decided.
	isEnded bool
	refused error
}

// asked is what became of the last command for a node.
type asked struct {
	times int         // that it was sent
	sent  kernel.True // the last time
	// isCarriedOut says that the node did what was asked, for all keys. It has changed so many of them.
	isCarriedOut bool
	changed      int
	// isAnswered says that the client can have read the answer while it waited for it, and isTimely that it must have: where
	// code takes time, an answer near the deadline may be either.
	isAnswered, isTimely bool
	// isJoint says that it went with others in one request, whose answer may be held up by theirs.
	isJoint bool
	// isOfEarlier says that a further round of the attempt has begun since: its command may have waited for others to the node
	// until its time was up, and never have left.
	isOfEarlier bool
	// maxTTL is the largest TTL in the node's record of the restart guard when the command was there.
	maxTTL time.Duration
}

// doing is to extend, or to delete, what a lease has.
type doing struct {
	value string
	redis.Intent
}

// request is what a client sends to a node at one time.
type request struct {
	client *kernel.Process
	server *redis.Server
	sent   kernel.True
}

func watchFailures(r *Run) {
	quorum, votes := r.Lock.Votes(len(r.World.Servers))
	if !votes || len(r.World.Replicas) > 0 || !protocols.Has[protocols.RedlockSettings](r.Lock) {
		return
	}
	x := &failures{run: r, quorum: quorum, isGuarded: isGuarded(r), reports: map[string]bool{}, latest: map[doing]kernel.True{}}
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onCrash(func(client string) {
		x.calls = slices.DeleteFunc(x.calls, func(c *calling) bool { return c.Client == client })
	})
	r.onStep(x.stepped, observe.AttemptStarted, observe.TokenRaised, observe.Denied)
	r.onCommand(x.commanded, redis.Sent, redis.Arrived, redis.Answered)
	r.onApplied(x.applied)
	fenced := isFenced(r)
	r.onChange(func() {
		x.isUsedUp = x.isUsedUp || fenced && r.isUsedUp()
		for _, c := range x.calls {
			c.starves(r)
		}
	})
}

// starves notes whether the client has random bytes now.
func (c *calling) starves(r *Run) { c.isStarved = c.isStarved || r.World.Client(c.Client).Starved() }

func (x *failures) called(c *protocols.Call) {
	if len(c.Resources) == 0 {
		return // it is about the client
	}
	this := &calling{Call: c, name: nameOf(c), began: x.run.World.Kernel.Now(), isAlone: !c.Renewal, made: x.run.clients.numberOf(c)}
	this.starves(x.run)
	if lease, voted := c.Lease.(protocols.Voted); voted {
		x.ask(this, lease.Value())
		if at, sent := x.latest[doing{lease.Value(), this.intent()}]; sent && at == this.began {
			this.isAlone = false // what it sends is not to be told from what the call before has sent at this very moment
		}
	}
	for _, other := range x.calls {
		if other.Client == c.Client && slices.ContainsFunc(other.Resources, func(name string) bool { return slices.Contains(c.Resources, name) }) {
			this.isAlone, other.isAlone = false, false
		}
	}
	x.calls = append(x.calls, this)
}

// ask begins to follow the commands with another value.
func (x *failures) ask(c *calling, value string) {
	c.value, c.asked = value, x.memory.take(len(x.run.World.Servers))
	c.values++
	c.begins(x.run)
}

// begins notes that a round begins. A command of it that waits for others to the node may be sent late, and then be answered in
// its own time and not in that of the round.
func (c *calling) begins(r *Run) { c.due = r.clock(c.Client).Add(r.Lock.NodeTimeout) }

// intent is what the commands of a call are to do.
func (c *calling) intent() redis.Intent {
	switch c.Func {
	case protocols.ExtendCall:
		return redis.Extends
	case protocols.ReleaseCall:
		return redis.Deletes
	}
	return redis.Sets
}

// stepped has a call's attempts, which the library reports, followed by their values, and takes why they are denied.
func (x *failures) stepped(client string, e *observe.Event) {
	switch e.Step {
	case observe.AttemptStarted:
	case observe.Denied:
		for _, c := range x.calls {
			if c.Client == client && c.value == e.Value {
				c.fails(e.Err)
			}
		}
		return
	case observe.TokenRaised:
		for _, c := range x.calls {
			if c.Client == client && c.value == e.Value {
				c.begins(x.run)
				for i := range c.asked {
					c.asked[i].isOfEarlier = true
				}
			}
		}
		return
	default:
		return
	}
	x.reports[client] = true
	for _, c := range x.calls {
		if c.Client == client && c.Func == protocols.AcquireCall && c.name == e.Resource {
			x.ask(c, e.Value)
		}
	}
}

// fails takes why an attempt is denied.
func (c *calling) fails(err error) {
	told := (*redlock.Error)(nil)
	if !errors.As(err, &told) {
		return
	}
	c.isEnded = told.Reason == nil && isContextEnd(told.Cause)
	if !c.isEnded {
		c.refused = told.Reason
	}
}

func (x *failures) commanded(at redis.Passage, a *redis.Asked) {
	isJoint := false
	if at == redis.Sent {
		this := request{a.Client, a.Server, a.Sent}
		if isJoint = this == x.last; isJoint && x.joined != nil {
			x.joined.isJoint = true
		}
		x.last, x.joined = this, nil
	}
	node := slices.Index(x.run.World.Servers, a.Server)
	for _, c := range x.calls {
		if c.value == "" || c.Client != a.Client.Name() || c.intent() != a.Intent || a.Sent < c.began || !a.Carries(c.value) {
			continue
		}
		switch of := &c.asked[node]; {
		case at == redis.Sent:
			if c.Lease != nil {
				x.latest[doing{c.value, a.Intent}] = a.Sent
			}
			*of = asked{times: of.times + 1, sent: a.Sent, isJoint: isJoint || len(a.Keys) > len(c.Resources)}
			x.joined = of
		case a.Sent != of.sent:
		case at == redis.Arrived && a.Intent == redis.Extends && x.has(a.Server, c):
			of.isCarriedOut = true // also where the keys last for longer already, and nothing changes
		case at == redis.Arrived && x.isGuarded:
			of.maxTTL = guardRecordOf(a.Server).maxTTL
		case at == redis.Answered:
			of.isAnswered, of.isTimely = x.run.hears(a)
			_, inTime := x.run.reads(a.Client, c.due)
			switch isFailed := a.Answer == driver.Failed; {
			case !inTime, isFailed && a.Server.Forbidden() != "":
				of.isTimely = false // a client may ask what a node has instead, until its time is up
			case isFailed && !x.run.clock(c.Client).Before(a.Deadline):
				of.isTimely = false // or whether it knows the whole script, for which there is no time left
			}
		}
	}
}

// has says whether a node has all keys of a call's value, and none of them has run out.
func (x *failures) has(s *redis.Server, c *calling) bool {
	return !slices.ContainsFunc(c.Resources, func(key string) bool {
		record, ends, there := s.Observable().Peek(key)
		return !there || record.Value != c.value || ends <= x.run.World.Kernel.Now()
	})
}

func (x *failures) applied(a *redis.Applied) {
	for _, c := range x.calls {
		if c.value == "" || c.Client != a.Client.Name() || a.Before.Value != c.value && a.After.Value != c.value {
			continue
		}
		if of := &c.asked[slices.Index(x.run.World.Servers, a.Server)]; of.times > 0 && a.Sent == of.sent {
			if of.changed++; of.changed == len(c.Resources) {
				of.isCarriedOut = true
			}
		}
	}
}

func (x *failures) returned(call *protocols.Call, err error) {
	i := slices.IndexFunc(x.calls, func(c *calling) bool { return c.Call == call })
	if i < 0 {
		return
	}
	c := x.calls[i]
	x.calls = slices.Delete(x.calls, i, i+1)
	if e := (*redlock.Error)(nil); errors.As(err, &e) {
		x.run.Judged[checker.JudgeFailures]++
		for _, wrong := range []string{x.kind(c, err, e), x.cause(c, e), x.nodes(c, e), x.reason(c, e), x.answers(c, err, e)} {
			if wrong != "" {
				x.run.broken(checker.Contract, call.Resources[0], "%s gets an error that is not true, as %s: %v", call.Client, wrong, e)
				return
			}
		}
	}
}

// kind says what is wrong with what the error is about; empty if nothing is.
func (x *failures) kind(c *calling, err error, e *redlock.Error) string {
	of := map[protocols.CallFunc]driver.Op{protocols.AcquireCall: driver.OpAcquire, protocols.ExtendCall: driver.OpExtend, protocols.ReleaseCall: driver.OpRelease}
	switch {
	case e.Op != of[c.Func]:
		return "that is not what it called"
	case e.Resource != c.name:
		return fmt.Sprintf("it is about %q", c.name)
	case c.Func == protocols.AcquireCall && !errors.Is(err, redlock.ErrNotAcquired):
		return "it does not match ErrNotAcquired"
	case e.Reason == nil && e.Cause == nil:
		return "that says neither a reason nor a cause"
	case c.Func == protocols.AcquireCall && c.Waits && e.Cause == nil && x.run.isLibrary():
		return "it waited, and that does not say why it gave up"
	case c.isAlone && c.Func == protocols.AcquireCall && x.reports[c.Client] && e.Attempts != c.values && !(c.isUnsent(e) && e.Attempts == c.values+1):
		return fmt.Sprintf("it asked with %d values", c.values)
	}
	return ""
}

// isUnsent says whether the last attempt may have ended before anything was sent: for want of random bytes, or of a token.
func (c *calling) isUnsent(e *redlock.Error) bool {
	return len(e.Nodes) == 0 && (c.isStarved || errors.Is(e.Cause, redlock.ErrTokensUsedUp))
}

// cause says what is wrong with the cause, or with an end of the lease.
func (x *failures) cause(c *calling, e *redlock.Error) string {
	isEnd := isContextEnd(e.Cause)
	switch {
	case isEnd && c.Func == protocols.ReleaseCall && c.Context != nil && x.goesOn(c):
		return "nothing but the end of the lease has ended the context it was called in, which was that of the lease"
	case errors.Is(e, redlock.ErrClosed) && !x.isClosed(c):
		return "nobody closed the client"
	case isEnd && c.Context != nil && c.Context.Err() == nil && c.Wait == 0:
		return "its context has not ended"
	case errors.Is(e.Cause, redlock.ErrTokensUsedUp) && !x.isUsedUp:
		return "no node has the largest token"
	case e.Cause == nil, isEnd, errors.Is(e.Cause, redlock.ErrClosed), errors.Is(e.Cause, redlock.ErrTokensUsedUp):
		return ""
	case !c.isStarved:
		return "nothing failed that it needs"
	}
	return ""
}

// isContextEnd says whether an error is that of a context that has ended.
func isContextEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// goesOn says whether a release in the context of its own lease goes on: nothing but the end of the lease has ended that.
func (x *failures) goesOn(c *calling) bool {
	why := context.Cause(c.Context)
	if why != redlock.ErrReleased && why != redlock.ErrLost {
		return false
	}
	deadline, ok := c.Context.Deadline()
	return !ok || x.run.clock(c.Client).Before(deadline)
}

// isClosed says whether the client of a call is closed, or may be: a lease may be of one before.
func (x *failures) isClosed(c *calling) bool {
	if c.Lease != nil {
		return x.run.clients.anyClosed(c.Client)
	}
	return x.run.clients.isClosed(c.Client, c.made)
}

// nodes says what is wrong with what the error tells of the nodes.
func (x *failures) nodes(c *calling, e *redlock.Error) string {
	if len(e.Nodes) == 0 {
		return ""
	}
	if len(e.Nodes) != len(x.run.World.Servers) {
		return fmt.Sprintf("there are %d nodes", len(x.run.World.Servers))
	}
	for i, node := range e.Nodes {
		name := x.run.World.Servers[i].Name()
		if node.Node != name {
			return "the nodes are in another order"
		}
		if !c.isAlone || c.value == "" {
			continue
		}
		if wrong := c.asked[i].unlike(node.Outcome); wrong != "" {
			return name + " " + wrong
		}
	}
	return ""
}

// unlike says why an outcome is not what became of a command.
func (a *asked) unlike(o driver.Outcome) string {
	if a.times > 1 {
		return "" // a release, and a vote that came late and was taken back during it: the error may tell of either
	}
	switch o {
	case redlock.Accepted:
		if !a.isCarriedOut || !a.isAnswered {
			return "did not, or did not say so in time"
		}
	case redlock.Declined, redlock.Quarantined, redlock.Behind:
		switch {
		case !a.isAnswered:
			return "has not answered in time"
		case a.isCarriedOut:
			return "did what was asked"
		}
	case redlock.TimedOut:
		if a.isTimely && !a.isJoint && !a.isOfEarlier {
			return "answered in time"
		}
	}
	return ""
}

// answers says why the error does not match what nodes answered that failed: that their largest TTL is another, or whatever it
// was.
func (x *failures) answers(c *calling, err error, e *redlock.Error) string {
	isOther := false
	for i, node := range e.Nodes {
		if node.Outcome != redlock.Failed || node.Err == nil {
			continue
		}
		if !errors.Is(err, node.Err) {
			return "it does not match what " + node.Node + " answered"
		}
		var other *driver.MaxTTLError
		if !errors.As(node.Err, &other) {
			continue
		}
		isOther = true
		own := protocols.Of[protocols.RedlockSettings](x.run.Lock).Guard
		if own != nil && (other.Client != own.MaxTTL || c.isAlone && c.value != "" && other.Node != c.asked[i].maxTTL) {
			return "that is not the largest TTL of " + node.Node + ", or not that of the client"
		}
	}
	switch is := errors.Is(err, redlock.ErrMaxTTL); {
	case is && !isOther:
		return "no node has another largest TTL"
	case !is && isOther:
		return "it does not match ErrMaxTTL"
	}
	return ""
}

// countNodes is how many nodes answered in one of these ways, by what an error tells.
func countNodes(e *redlock.Error, outcomes ...driver.Outcome) (n int) {
	for _, node := range e.Nodes {
		if slices.Contains(outcomes, node.Outcome) {
			n++
		}
	}
	return n
}

// isOfEarlier says whether the reason is, or may be, that of an earlier attempt than the one whose nodes the error tells of,
// because the call's context ended during that.
func (x *failures) isOfEarlier(c *calling, e *redlock.Error) bool {
	switch {
	case !isContextEnd(e.Cause) || e.Attempts < 2:
		return false
	case !x.reports[c.Client] || !c.isAlone:
		return true
	}
	return c.isEnded && e.Reason == c.refused
}

// reason says why the reason does not follow from what the nodes answered.
func (x *failures) reason(c *calling, e *redlock.Error) string {
	if len(e.Nodes) == 0 || x.isOfEarlier(c, e) {
		return ""
	}
	reasons := map[driver.Op][]error{
		driver.OpAcquire: {redlock.ErrTaken, redlock.ErrNoQuorum, redlock.ErrTooLate},
		driver.OpExtend:  {redlock.ErrReleased, redlock.ErrLost, redlock.ErrNoQuorum, redlock.ErrTooLate},
		driver.OpRelease: {redlock.ErrReleased, redlock.ErrLost, redlock.ErrNoQuorum},
	}[e.Op]
	accepted, declined := countNodes(e, redlock.Accepted), countNodes(e, redlock.Declined, redlock.Behind)
	hinders := declined > len(e.Nodes)-x.quorum
	switch {
	case e.Reason != nil && !slices.Contains(reasons, e.Reason):
		return "that is no reason for it"
	case e.Reason == redlock.ErrTaken && !hinders:
		return fmt.Sprintf("%d nodes declined, which leave a quorum", declined)
	case e.Reason == redlock.ErrNoQuorum && accepted >= x.quorum:
		return "a quorum accepted"
	case e.Reason == redlock.ErrNoQuorum && hinders && countNodes(e, redlock.Behind) == 0:
		return fmt.Sprintf("%d nodes declined, which leave no quorum", declined)
	case e.Reason == redlock.ErrTooLate && accepted < x.quorum:
		return fmt.Sprintf("%d nodes accepted, which are no quorum", accepted)
	}
	return ""
}
