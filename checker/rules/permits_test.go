package rules

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

// seeking is a call for one of two permits of a semaphore, as a test makes it up.
type seeking struct {
	*actor
	*protocols.PermitCall
	attempts int
}

func (a *actor) seeks(waits bool) *seeking {
	s := &seeking{a, &protocols.PermitCall{Client: "c1", Semaphore: "s", Permits: 2, TTL: ttl, Waits: waits, Context: context.Background()}, 0}
	a.Wants(s.PermitCall)
	return s
}

// taken is the error of an attempt for a permit that another has, silent that of one that no node answers, and split that of
// one where a node is down and another has a vote of somebody else.
var (
	taken  = &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken}
	silent = &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrNoQuorum, Nodes: []observe.NodeOutcome{
		{Outcome: driver.TimedOut}, {Outcome: driver.TimedOut}, {Outcome: driver.TimedOut}}}
	split = &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrNoQuorum, Nodes: []observe.NodeOutcome{
		{Outcome: driver.TimedOut}, {Outcome: driver.Declined}, {Outcome: driver.Unanswered}}}
)

// tries makes an attempt, which takes no time.
func (s *seeking) tries(resource string, err error) *lease {
	s.attempts++
	call := &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{resource}, TTL: s.TTL, Permit: s.PermitCall}
	s.Called(call)
	var l *lease
	if err == nil {
		l = s.lease(resource, s.reads().Add(ttl))
		call.Lease = l
	}
	s.Returned(call, err)
	return l
}

// gets ends the call, with what its last attempt failed with, and why it ends.
func (s *seeking) gets(failed *redlock.Error, cause error) {
	if failed == nil {
		s.Gets(s.PermitCall, nil)
		return
	}
	e := *failed
	e.Resource, e.Attempts, e.Cause = "s", s.attempts, cause
	s.Gets(s.PermitCall, &e)
}

// gives gives a permit back.
func (a *actor) gives(l *lease) {
	call := &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Lease: l}
	a.Called(call)
	l.cancel(redlock.ErrReleased)
	a.Returned(call, nil)
}

// longestDelay is that of the settings.
const longestDelay = 150 * time.Millisecond

// losesOne has a client that has all permits lose one, and a call of it that waits look so much later.
func losesOne(a *actor, later time.Duration) {
	for i := range 2 {
		has := a.seeks(false)
		l := has.tries(protocols.PermitOf("s", i+1), nil)
		has.gets(nil, nil)
		if i == 0 {
			defer l.cancel(nil)
			continue
		}
		waits := a.seeks(true)
		a.sleeps(time.Second)
		l.cancel(redlock.ErrLost)
		a.Observed("c1", observe.Event{Step: observe.Lost, Resource: "s/2"})
		a.sleeps(later)
		waits.tries("s/2", nil)
		waits.gets(nil, nil)
	}
}

func TestPermits(t *testing.T) {
	const waits, once = true, false
	for _, c := range []struct {
		name string
		kind checker.Kind
		does func(*actor)
		want string
	}{
		{"granted", checker.Conduct, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/2", taken)
			s.tries("s/1", nil)
			s.gets(nil, nil)
		}, ""},
		{"a permit that there is not", checker.Conduct, func(a *actor) { a.seeks(once).tries("s/3", taken) }, `c1 asks for "s/3" for a call for permits of "s", and there is no such permit`},
		{"another TTL", checker.Conduct, func(a *actor) {
			s := a.seeks(once)
			s.TTL = 2 * ttl
			call := &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"s/1"}, TTL: ttl, Permit: s.PermitCall}
			s.Called(call)
		}, `c1 asks for "s/1" for a call for permits of "s", and it is to have it for 20s, and asks for 10s`},
		{"one more", checker.Conduct, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", nil)
			s.tries("s/2", taken)
		}, `c1 asks for "s/2" for a call for permits of "s", and it has got one`},
		{"looks in time", checker.NeedlesslyUnavailable, func(a *actor) { looksLater(a, 2*longestDelay) }, ""},
		{"looks too late", checker.NeedlesslyUnavailable, func(a *actor) { looksLater(a, time.Second) }, `c1 waits for a permit of "s", and has not looked for one for 1s`},
		{"never looks", checker.NeedlesslyUnavailable, func(a *actor) { a.seeks(waits) }, `c1 waits for a permit of "s", and has not looked for one for 59s`},
		{"never looks, behind one that does", checker.NeedlesslyUnavailable, func(a *actor) {
			first := a.seeks(waits)
			a.seeks(waits)
			first.tries("s/1", nil)
		}, ""},
		{"looks too late after a loss", checker.NeedlesslyUnavailable, func(a *actor) { losesOne(a, time.Second) },
			`c1 waits for a permit of "s", and has not looked for one for 1s`},
		{"looks in time after a loss", checker.NeedlesslyUnavailable, func(a *actor) { losesOne(a, longestDelay) }, ""},
		{"one not asked for", checker.NeedlesslyUnavailable, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", taken)
			s.gets(taken, nil)
		}, `c1 looks for a permit of "s" and finds none, and has not asked for "s/2"`},
		{"one not asked for that it holds", checker.NeedlesslyUnavailable, func(a *actor) {
			a.has("s/2")
			s := a.seeks(once)
			s.tries("s/1", taken)
			s.gets(taken, nil)
		}, ""},
		{"none asked for after one that no node answers", checker.NeedlesslyUnavailable, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", silent)
			s.gets(silent, nil)
		}, ""},
		{"one not asked for after one with votes of others", checker.NeedlesslyUnavailable, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", split)
			s.gets(split, nil)
		}, `c1 looks for a permit of "s" and finds none, and has not asked for "s/2"`},
		{"an ended look", checker.NeedlesslyUnavailable, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/1", taken)
			s.gets(taken, redlock.ErrClosed)
		}, ""},
		{"granted and refused", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", nil)
			s.gets(taken, nil)
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s\": held by another": an attempt was granted`},
		{"refused and granted", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", taken)
			s.gets(nil, nil)
		}, `c1 calls for permits of "s", and gets "success": it has not got that`},
		{"an error of the permit", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.Gets(s.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s/1", Reason: redlock.ErrTaken})
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s/1\": held by another": it is about something else`},
		{"no cause", checker.Contract, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/1", silent)
			s.gets(silent, nil)
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s\": no quorum of nodes`},
		{"another error", checker.Contract, func(a *actor) { s := a.seeks(once); s.Gets(s.PermitCall, errors.New("broken")) },
			`c1 calls for permits of "s", and gets "broken": that is no error of the library`},
		{"asked for what it has", checker.Conduct, func(a *actor) {
			a.has("s/1")
			a.seeks(once).tries("s/1", taken)
		}, `c1 asks for "s/1" for a call for permits of "s", and it has that itself`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("permits")
			r.goes("c1", time.Second, c.does)
			r.finds(t, c.kind, c.want)
		})
	}
}

// looksLater makes two looks of one call, with a time between.
func looksLater(a *actor, between time.Duration) {
	s := a.seeks(true)
	s.tries("s/1", taken)
	s.tries("s/2", taken)
	a.sleeps(between)
	s.tries("s/1", nil)
	s.gets(nil, nil)
}

// has has the client hold a permit.
func (a *actor) has(resource string) *lease {
	s := a.seeks(false)
	l := s.tries(resource, nil)
	s.gets(nil, nil)
	return l
}
