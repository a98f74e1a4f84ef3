package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// reasons compares the error of a call with what came to pass while it was under way, for locks that are not the library's:
// what became of the messages, what the nodes or the service have, and how late it is. For the library failures does that.
type reasons struct {
	run     *Run
	quorum  int
	open    []*explained
	ttls    map[protocols.Lease]time.Duration // that leases were granted with
	isPlain bool                              // on nodes of which it is known what they do for a lease
	// forgives says that a release may succeed although nothing is there to release.
	forgives bool
}

// explained is a call that has not returned.
type explained struct {
	*protocols.Call
	client *kernel.Process
	began  kernel.True
	reads  time.Time // then; that of an acquire is of its last attempt, if it tells of that
	name   string    // by which nodes and service know the lease; empty if they do not
	// silent are the messages of its client since, and broken counts those that were refused or broken off.
	silent inFlight
	broken int
	// asked counts the commands to set a key that came to a node, and met those which found one there, or a node that refuses.
	asked, met int
	// did has the nodes that have taken the lock off for it, or set its time anew.
	did []*redis.Server
	// wasServed says that the service had what the lease is known by when the call began.
	wasServed bool
	// wasOver says that the context of its lease had ended when it began.
	wasOver bool
	// isStarved says that its client had no random bytes for some of the time.
	isStarved bool
}

func watchReasons(r *Run) {
	if r.Foreign || r.isLibrary() {
		return
	}
	quorum, votes := r.Lock.Votes(len(r.World.Servers))
	if !votes {
		quorum = 1
	}
	x := &reasons{run: r, quorum: quorum, ttls: map[protocols.Lease]time.Duration{},
		isPlain: r.Lock.Capabilities().Service == "" && len(r.World.Replicas) == 0, forgives: r.Lock.Capabilities().Forgives}
	r.onCall(x.called)
	r.onReturn(x.returned)
	r.onEvent(x.saw)
	r.onCrash(func(client string) {
		x.open = slices.DeleteFunc(x.open, func(c *explained) bool { return c.Client == client })
	})
	r.onRequest(x.sent)
	r.onHeard(x.heard)
	if x.isPlain {
		r.onCommand(x.commanded, redis.Arrived)
		r.onApplied(x.applied)
	}
	r.onChange(func() {
		for _, c := range x.open {
			c.isStarved = c.isStarved || c.client.Starved()
		}
	})
}

func (x *reasons) called(c *protocols.Call) {
	if _, isCommitted := c.Lease.(protocols.Transaction); len(c.Resources) == 0 || isCommitted && c.Func == protocols.ReleaseCall {
		return // it is about the client, or tells what came of a commit that was before
	}
	client := x.run.World.Client(c.Client)
	x.open = append(x.open, &explained{Call: c, client: client, began: x.run.World.Kernel.Now(), reads: client.ProgramClock().Now(),
		name: holderOf(c.Lease), wasOver: c.Lease != nil && c.Lease.Context().Err() != nil, wasServed: x.run.isServed(holderOf(c.Lease)), isStarved: client.Starved()})
}

// holderOf is the name by which nodes or a service know a lease; empty if they do not.
func holderOf(l protocols.Lease) string {
	switch l := l.(type) {
	case protocols.Voted:
		return l.Value()
	case protocols.Standing:
		return l.Holder()
	}
	return ""
}

// saw has the time of an acquire count from its last attempt.
func (x *reasons) saw(e *history.Event) {
	if e.Kind != history.Step || e.Name != observe.AttemptStarted.String() {
		return
	}
	for _, c := range x.open {
		if c.Func == protocols.AcquireCall && len(c.Grants) > 0 && c.Grants[0] == e.Op {
			c.reads = c.client.ProgramClock().Now()
		}
	}
}

func (x *reasons) sent(m network.Sent) {
	for _, c := range x.open {
		if c.client == m.From() {
			c.silent.sent(m.Exchange)
		}
	}
}

func (x *reasons) heard(m network.Ended) {
	for _, c := range x.open {
		if c.silent.ends(m.Exchange) && m.Kind == network.RefusalMessage {
			c.broken++
		}
	}
}

// commanded takes a command to set a key, as a node is about to carry it out.
func (x *reasons) commanded(_ redis.Passage, a *redis.Asked) {
	if a.Intent != redis.Sets {
		return
	}
	for _, c := range x.open {
		if c.Func != protocols.AcquireCall || c.client != a.Client || a.Sent < c.began || !slices.Contains(a.Keys, c.Resources[0]) {
			continue
		}
		c.asked++
		if slices.ContainsFunc(x.run.Lock.KeysOf(c.Resources[0]), func(key string) bool {
			_, _, there := a.Server.Observable().Peek(key)
			return there
		}) || a.Server.Forbidden() != "" || a.Server.AnswersWrongly() {
			c.met++
		}
	}
}

// applied takes what a node has done for an extend or a release.
func (x *reasons) applied(a *redis.Applied) {
	for _, c := range x.open {
		if c.client != a.Client || a.Sent < c.began || a.Key != c.Resources[0] || c.name == "" || slices.Contains(c.did, a.Server) {
			continue
		}
		isOff := holds(a.Before.Value, c.name) && (a.Removed() || a.After.Value != a.Before.Value)
		isOn := !a.Removed() && holds(a.After.Value, c.name)
		if c.Func == protocols.ReleaseCall && isOff || c.Func == protocols.ExtendCall && isOn {
			c.did = append(c.did, a.Server)
		}
	}
}

func (x *reasons) returned(call *protocols.Call, err error) {
	i := slices.IndexFunc(x.open, func(c *explained) bool { return c.Call == call })
	if i < 0 {
		return
	}
	x.run.Judged[checker.JudgeReasons]++
	c := x.open[i]
	x.open = slices.Delete(x.open, i, i+1)
	if err == nil {
		if c.Func == protocols.AcquireCall {
			x.ttls[c.Lease] = c.TTL
		}
		if wrong := x.untrue(c); wrong != "" {
			x.run.broken(checker.Contract, call.Resources[0], "%s's %s succeeds, %s", c.Client, callNames[c.Func], wrong)
		}
		return
	}
	if wrong := x.wrong(c, err); wrong != "" {
		x.run.broken(checker.Contract, call.Resources[0], "%s's %s ends with %q, and %s", c.Client, callNames[c.Func], err, wrong)
	}
}

// wrong says what is not true of the error that a call returns; empty if nothing is known to be.
func (x *reasons) wrong(c *explained, err error) string {
	var known bool
	for _, r := range []struct {
		err error
		why func(*explained) string
	}{
		{context.Canceled, x.goesOn}, {context.DeadlineExceeded, x.goesOn}, {rediscmd.ErrTimeout, x.unanswered}, {rediscmd.ErrReset, x.reset},
		{redlock.ErrTaken, x.taken}, {redlock.ErrTooLate, x.tooLate}, {redlock.ErrNoQuorum, x.noQuorum}, {redlock.ErrLost, x.lost},
	} {
		if errors.Is(err, r.err) {
			known = true
			if wrong := r.why(c); wrong != "" {
				return wrong
			}
		}
	}
	if _, is := errors.AsType[rediscmd.ServerError](err); !known && !is && !c.isStarved {
		return "that is none of the errors that say why"
	}
	return ""
}

// untrue says what is not true of a success; empty if nothing is known to be.
func (x *reasons) untrue(c *explained) string {
	isServed := x.run.Lock.Capabilities().Service != ""
	switch {
	case c.name == "":
	case c.Func == protocols.ReleaseCall && isServed && !c.wasServed && c.isHeard():
		return "and the service did not have it any more before"
	case c.Func == protocols.ReleaseCall && x.isPlain && !x.forgives && c.isHeard() && len(c.did) == 0:
		return "and no node had it any more"
	case c.Func == protocols.ExtendCall && isServed && !x.run.isServed(c.name) && !x.isOver(c):
		return "and the service does not have it"
	case c.Func == protocols.ExtendCall && x.isPlain && x.extended(c) < x.quorum:
		return fmt.Sprintf("and only %d of the %d nodes that it takes have set its time anew", x.extended(c), x.quorum)
	}
	return ""
}

// extended counts the nodes that have set the time of a lock anew for a call, or have it for as long as that asks for anyway.
func (x *reasons) extended(c *explained) (n int) {
	for _, s := range x.run.World.Servers {
		record, ends, there := s.Observable().Peek(c.Resources[0])
		if slices.Contains(c.did, s) || there && holds(record.Value, c.name) && ends > c.began.Add(c.TTL) {
			n++
		}
	}
	return n
}

func (x *reasons) goesOn(c *explained) string {
	if c.Context != nil && c.Context.Err() == nil {
		return "its context has not ended"
	}
	return ""
}

func (x *reasons) unanswered(c *explained) string {
	if len(c.silent) == 0 && !x.isOver(c) && x.run.pauses.hasRun(c.client, c.began) {
		return "all of its messages were answered"
	}
	return ""
}

func (x *reasons) reset(c *explained) string {
	if c.broken == 0 {
		return "no connection broke"
	}
	return ""
}

// taken is about the lock of nodes that have told the client so.
func (x *reasons) taken(c *explained) string {
	switch {
	case c.Func != protocols.AcquireCall:
		return "callers take that for a refused acquire"
	case x.isFree(c):
		return "no node had a key of the lock when it was asked"
	}
	return ""
}

// noQuorum is about nodes that did not answer, or not what is asked for; an extend or release that is answered says what it
// was.
func (x *reasons) noQuorum(c *explained) string {
	switch {
	case c.Func != protocols.AcquireCall && c.isHeard() && !x.isOver(c):
		return "all nodes that it asked have answered"
	// Some give up when a part of the TTL is over.
	case c.Func == protocols.AcquireCall && x.quorum <= len(x.run.World.Servers) && x.isFree(c) && c.took() < c.TTL/4:
		return "no node had a key of the lock when it was asked, and all have answered"
	}
	return ""
}

func (x *reasons) tooLate(c *explained) string {
	if took := c.took(); x.run.Lock.Clock == kernel.Monotonic && took < x.lasts(c) {
		return "it has taken " + took.String() + ", for which the lease would have lasted"
	}
	return ""
}

// lost is about what nodes or service have still. The lease is lost also when it has run out by itself.
func (x *reasons) lost(c *explained) string {
	switch {
	case c.name == "" || x.isOver(c):
	case c.Func == protocols.ReleaseCall && c.isHeard() && len(c.did) >= x.quorum:
		return "the lock was taken off for it"
	case !x.isPlain && len(x.run.World.Replicas) == 0 && x.run.isServed(c.name):
		return "the service still has it"
	case c.Func == protocols.ExtendCall && x.isPlain && x.run.standsOn(c.Resources[0], c.name) >= x.quorum:
		return "as many nodes still have it as it takes"
	}
	return ""
}

// isHeard says whether all of the client's messages were answered: then the call knows what every node did.
func (c *explained) isHeard() bool { return len(c.silent) == 0 && c.broken == 0 }

// took is how long a call, or the last attempt of an acquire, has been under way by the client's clock.
func (c *explained) took() time.Duration { return c.client.ProgramClock().Now().Sub(c.reads) }

// isFree says whether an acquire met no key of the lock and no node that refuses commands, and all have answered.
func (x *reasons) isFree(c *explained) bool {
	return x.isPlain && c.isHeard() && c.asked > 0 && c.met == 0
}

// isOver says whether a call has ended by itself: with its context, with its lease, or with its time.
func (x *reasons) isOver(c *explained) bool {
	switch {
	case c.Context != nil && c.Context.Err() != nil:
		return true
	case c.Lease == nil:
		return c.took() >= c.TTL
	case c.took() >= x.ttls[c.Lease]:
		return true
	}
	until := c.Lease.Until()
	return c.wasOver || c.Func == protocols.ExtendCall && c.Lease.Context().Err() != nil || !until.IsZero() && !c.client.ProgramClock().Now().Before(until)
}

// lasts is for how long a lease lasts from the beginning of the attempt or extend that it comes of, as the client counts, less
// a reading in the unit that it counts in.
func (x *reasons) lasts(c *explained) time.Duration {
	lock := x.run.Lock
	return c.TTL - allowance(protocols.Of[protocols.DriftSettings](lock).Drift, c.TTL) - protocols.Of[protocols.RedlockPlainSettings](lock).Resolution - rounding
}
