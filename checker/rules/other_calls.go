package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

var otherCallsRule = Rule{
	Name:  "other-calls",
	Kind:  checker.Contract,
	Needs: "what a call of another lock returned, and what the nodes did",
	Doc: `
A successful extend has set the key's time anew on as many nodes as the lock needs, or the service still has the lease. What is
released was there before, unless a message was not answered. A lost lease is on too few nodes, or not with the service, unless
it has run out; if a release reports the loss, it has removed the key from too few. Only an acquire finds a lock taken, and a
context is the reason only if it has ended. (All locks but *redlock*.)`,
	New: watchOtherCalls,
}

// otherCalls compares what a call returned with what the nodes or the service have done for it, for locks that are not the
// library's.
type otherCalls struct {
	*watch
	quorum int
	open   []*explained
	// isPlain says that the lock is on nodes of which it is known what they do for a lease, and isService that it is not.
	isPlain, isService bool
}

// explained is a call that has not returned.
type explained struct {
	*call
	name string // by which nodes and service know the lease; empty if they do not
	// silent are the messages of its client since, and isBroken says that one was refused or broken off.
	silent   []*network.Exchange
	isBroken bool
	// did has the nodes that have taken the lock off for it, or set its time anew.
	did []*redis.Server
	// wasServed says that the service had what the lease is known by when the call began, and wasOver that the context of the
	// lease had ended.
	wasServed, wasOver bool
}

func watchOtherCalls(r *watch) {
	if r.Foreign || r.isLibrary() {
		return
	}
	quorum, votes := r.Lock.Votes(len(r.World.Servers))
	if !votes {
		quorum = 1
	}
	isService := r.Lock.Capabilities().Service != ""
	x := &otherCalls{watch: r, quorum: quorum, isService: isService, isPlain: !isService && !r.FailsOver}
	follow(r.Run, &x.open, x.called, x.returned)
	r.onRequest(x.sent)
	r.onHeard(x.heard)
	if x.isPlain {
		r.onApplied(x.applied)
	}
}

func (o *otherCalls) called(c *call) *explained {
	if _, isCommitted := c.Lease.(protocols.Transaction); len(c.Resources) == 0 || isCommitted && c.Func == protocols.ReleaseCall {
		return nil // it is about the client, or tells what came of a commit that was before
	}
	name := holderOf(c.Lease)
	return &explained{call: c, name: name, wasOver: c.Lease != nil && c.Lease.Context().Err() != nil, wasServed: o.isServed(name)}
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

func (o *otherCalls) sent(m network.Sent) {
	for _, c := range o.open {
		if c.client == m.From() {
			c.silent = append(c.silent, m.Exchange)
		}
	}
}

func (o *otherCalls) heard(m network.Ended) {
	for _, c := range o.open {
		if i := slices.Index(c.silent, m.Exchange); i >= 0 {
			c.silent = slices.Delete(c.silent, i, i+1)
			c.isBroken = c.isBroken || m.Kind == network.RefusalMessage
		}
	}
}

// isHeard says whether all of the client's messages were answered: then the call knows what every node did.
func (c *explained) isHeard() bool { return len(c.silent) == 0 && !c.isBroken }

// applied takes what a node has done for an extend or a release.
func (o *otherCalls) applied(a *redis.Applied) {
	for _, c := range o.open {
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

func (o *otherCalls) returned(c *explained, err error) {
	o.judged++
	wrong := ""
	switch {
	case err == nil && c.Func == protocols.AcquireCall:
	case err == nil:
		wrong = o.untrue(c)
	case errors.Is(err, redlock.ErrTaken) && c.Func != protocols.AcquireCall:
		wrong = "and callers take that for a refused acquire"
	case errors.Is(err, redlock.ErrLost):
		wrong = o.isNotLost(c)
	case isContextEnd(err) && c.Context != nil && c.Context.Err() == nil:
		wrong = "and its context has not ended"
	}
	if wrong != "" {
		how := "succeeds"
		if err != nil {
			how = fmt.Sprintf("ends with %q", text(err))
		}
		o.broken(c.Resources[0], "%s's %s %s, %s", c.Client, callNames[c.Func], how, wrong)
	}
}

// untrue says what is not true of the success of an extend or a release; empty if nothing is known to be.
func (o *otherCalls) untrue(c *explained) string {
	switch isRelease := c.Func == protocols.ReleaseCall; {
	case c.name == "":
	case isRelease && o.isService && !c.wasServed && c.isHeard():
		return "and the service did not have it any more before"
	case isRelease && o.isPlain && !o.Lock.Capabilities().Forgives && c.isHeard() && len(c.did) == 0:
		return "and no node had it any more"
	case !isRelease && o.isService && !o.isServed(c.name) && !o.isOver(c):
		return "and the service does not have it"
	case !isRelease && o.isPlain && o.extended(c) < o.quorum:
		return fmt.Sprintf("and only %d of the %d nodes that it takes have set its time anew", o.extended(c), o.quorum)
	}
	return ""
}

// extended counts the nodes that have set the time of a lock anew for a call, or have it for as long as that asks for anyway.
func (o *otherCalls) extended(c *explained) (n int) {
	for _, s := range o.World.Servers {
		record, ends, there := s.Memory().Peek(c.Resources[0])
		if slices.Contains(c.did, s) || there && holds(record.Value, c.name) && ends > c.began.Add(c.TTL) {
			n++
		}
	}
	return n
}

// isNotLost says why a lease is not lost; empty if it may be. It is also when it has run out by itself.
func (o *otherCalls) isNotLost(c *explained) string {
	switch {
	case c.name == "" || o.isOver(c):
	case c.Func == protocols.ReleaseCall && c.isHeard() && len(c.did) >= o.quorum:
		return "and the lock was taken off for it"
	case !o.isPlain && !o.FailsOver && o.isServed(c.name):
		return "and the service still has it"
	case c.Func == protocols.ExtendCall && o.isPlain && o.standsOn(c.Resources[0], c.name) >= o.quorum:
		return "and as many nodes still have it as it takes"
	}
	return ""
}

// isOver says whether a call has ended by itself: with its context, with its lease, or with its time.
func (o *otherCalls) isOver(c *explained) bool {
	now := c.client.ProgramClock().Now()
	took := now.Sub(c.reads)
	switch {
	case c.Context != nil && c.Context.Err() != nil:
		return true
	case c.Lease == nil:
		return took >= c.TTL
	case took >= o.leases.of[c.Lease].by.TTL:
		return true
	}
	until := c.Lease.Until()
	return c.wasOver || c.Func == protocols.ExtendCall && c.Lease.Context().Err() != nil || !until.IsZero() && !now.Before(until)
}

// isContextEnd says whether an error is that of a context that has ended.
func isContextEnd(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
