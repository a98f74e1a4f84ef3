package monitor

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

func (a *actor) seeks(waits bool) *seeking { return a.seeksFor(waits, 0) }

// seeksFor is seeks for so long at the most.
func (a *actor) seeksFor(waits bool, most time.Duration) *seeking {
	s := &seeking{a, &protocols.PermitCall{Client: "c1", Semaphore: "s", Permits: 2, TTL: ttl, Waits: waits,
		Renewal: protocols.Renewal{Wait: most}, Context: context.Background()}, 0}
	a.Wants(s.PermitCall)
	return s
}

// taken is the error of an attempt for a permit that another has, worn that of one for a permit without fencing tokens, silent
// that of one that no node answers, and split that of one where a node is down and another has a vote of somebody else.
var (
	taken  = &redlock.Error{Op: driver.OpAcquire, Reason: redlock.ErrTaken}
	worn   = &redlock.Error{Op: driver.OpAcquire, Cause: redlock.ErrTokensUsedUp}
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

// cut is the error of an attempt during which the context ends of the call.
var cut = &redlock.Error{Op: driver.OpAcquire, Cause: context.Canceled}

// endsAsking has the context of a call end during its second attempt, for which it gets an error.
func endsAsking(a *actor, first, got *redlock.Error) {
	s := a.seeks(true)
	ctx, cancel := context.WithCancel(context.Background())
	s.Context = ctx
	s.tries("s/1", first)
	s.tries("s/2", cut)
	cancel()
	s.gets(got, context.Canceled)
}

// gives gives a permit back.
func (a *actor) gives(l *lease) {
	call := &protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Lease: l}
	a.Called(call)
	l.cancel(redlock.ErrReleased)
	a.Returned(call, nil)
}

// delay is one that the settings allow, and longestDelay the longest.
const (
	delay        = 100 * time.Millisecond
	longestDelay = 150 * time.Millisecond
)

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
	over := context.DeadlineExceeded
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
		{"a permit that there is not", checker.Conduct, func(a *actor) { a.seeks(once).tries("s/3", taken) }, `c1 asks for the lock on "s/3" for a permit of "s", which has 2`},
		{"another TTL", checker.Conduct, func(a *actor) {
			s := a.seeks(once)
			s.TTL = 2 * ttl
			call := &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{"s/1"}, TTL: ttl, Permit: s.PermitCall}
			s.Called(call)
		}, `c1 asks for a permit of "s" for 10s, and is to have it for 20s`},
		{"one more", checker.Conduct, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", nil)
			s.tries("s/2", taken)
		}, `c1 goes on to look for a permit of "s", and has got one`},
		{"again after the delay", checker.Conduct, func(a *actor) { looksTwice(a, delay) }, ""},
		{"again too soon", checker.Conduct, func(a *actor) { looksTwice(a, 10*time.Millisecond) }, `c1 looks for a permit of "s" again 10ms after the look before, and is to wait for 50ms at least`},
		{"again too late", checker.NeedlesslyUnavailable, func(a *actor) { looksTwice(a, time.Second) }, `c1 is to look for a permit of "s", and does not for 850ms`},
		{"after a loss", checker.NeedlesslyUnavailable, func(a *actor) { losesOne(a, longestDelay) }, ""},
		{"too late after a loss", checker.NeedlesslyUnavailable, func(a *actor) { losesOne(a, time.Second) },
			`c1 is to look for a permit of "s", and does not for 850ms`},
		{"the next too soon, after one has given up", checker.Conduct, func(a *actor) {
			first, next := a.seeks(waits), a.seeks(waits)
			first.tries("s/1", taken)
			first.tries("s/2", taken)
			a.sleeps(10 * time.Millisecond)
			first.gets(taken, over)
			next.tries("s/1", taken)
		}, `c1 looks for a permit of "s" again 10ms after`},
		{"once, as it does not wait", checker.Conduct, func(a *actor) {
			for range 2 {
				s := a.seeks(once)
				s.tries("s/1", taken)
				s.tries("s/2", taken)
				s.gets(taken, nil)
			}
		}, ""},
		{"not at once", checker.NeedlesslyUnavailable, func(a *actor) {
			s := a.seeks(waits)
			a.sleeps(delay)
			s.tries("s/1", nil)
		}, `c1 is to look for a permit of "s", and does not for 100ms`},
		{"not at all", checker.NeedlesslyUnavailable, func(a *actor) { a.seeks(waits) }, `c1 is to look for a permit of "s", and does not for 59s`},
		{"not told of what is given back", checker.NeedlesslyUnavailable, func(a *actor) {
			held := a.has("s/1")
			s := a.seeks(waits)
			s.tries("s/2", taken)
			a.gives(held)
			a.sleeps(delay)
			s.tries("s/1", nil)
			s.gets(nil, nil)
		}, `c1 is to look for a permit of "s", and does not for 100ms`},
		{"told of what is given back", checker.Conduct, func(a *actor) {
			held := a.has("s/1")
			s := a.seeks(waits)
			s.tries("s/2", taken)
			a.gives(held)
			s.tries("s/1", nil)
			s.gets(nil, nil)
		}, ""},
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
		{"handed on too often", checker.Conduct, func(a *actor) {
			a.has("s/2")
			handsOn(a, 17, 0)
		}, `c1 looks for a permit of "s" after 16 were handed on in a row, and other processes had no turn`},
		{"handed on with a pause", checker.Conduct, func(a *actor) { a.has("s/2"); handsOn(a, 17, longestDelay) }, ""},
		{"handed on with too short a pause", checker.Conduct, func(a *actor) { a.has("s/2"); handsOn(a, 17, delay) }, `c1 looks for a permit of "s" after 16 were handed on in a row, and other processes had no turn`},
		{"handed on too often, beside another process", checker.Conduct, func(a *actor) {
			a.seeks(once).tries("s/2", taken)
			handsOn(a, 17, 0)
		}, `c1 looks for a permit of "s" after 16 were handed on in a row, and other processes had no turn`},
		{"handed on beside a permit that others can have", checker.Conduct, func(a *actor) { handsOn(a, 17, 0) }, ""},
		{"handed on often enough", checker.Conduct, func(a *actor) { a.has("s/2"); handsOn(a, 16, 0) }, ""},
		{"granted and refused", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", nil)
			s.gets(taken, nil)
		}, `c1 asks for a permit of "s", and gets redlock: acquire "s": held by another: an attempt was granted`},
		{"refused and granted", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", taken)
			s.gets(nil, nil)
		}, `c1 asks for a permit of "s", and gets it: no attempt was granted`},
		{"an error of the permit", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.Gets(s.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s/1", Reason: redlock.ErrTaken})
		}, `c1 asks for a permit of "s", and gets redlock: acquire "s/1": held by another: it is about something else`},
		{"a wrong count", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", taken)
			s.attempts++
			s.gets(taken, nil)
		}, `c1 asks for a permit of "s", and gets redlock: acquire "s": held by another after 2 attempts: that is not how often it has asked`},
		{"taken, where no node answered", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.tries("s/1", silent)
			s.gets(taken, nil)
		}, `c1 asks for a permit of "s", and gets redlock: acquire "s": held by another: the last attempt ended otherwise`},
		{"taken before its context ended", checker.Contract, func(a *actor) { endsAsking(a, taken, taken) }, ""},
		{"taken, which its end hides", checker.Contract, func(a *actor) { endsAsking(a, taken, cut) },
			`c1 asks for a permit of "s", and gets redlock: acquire "s": context canceled after 2 attempts: the attempt before its context ended was refused otherwise`},
		{"taken, where no node answered before its end", checker.Contract, func(a *actor) { endsAsking(a, split, taken) },
			`c1 asks for a permit of "s", and gets redlock: acquire "s": held by another: context canceled after 2 attempts: the attempt before its context ended was refused otherwise`},
		{"no token before its context ended", checker.Contract, func(a *actor) { endsAsking(a, worn, taken) }, ""},
		{"no tokens", checker.Contract, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/1", worn)
			s.tries("s/2", worn)
			s.gets(worn, redlock.ErrTokensUsedUp)
		}, ""},
		{"no tokens, and on", checker.Conduct, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/1", worn)
			s.tries("s/2", worn)
			a.sleeps(delay)
			s.tries("s/1", worn)
		}, `c1 goes on to look for a permit of "s", and none has a fencing token left`},
		{"no tokens for one", checker.Contract, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/1", taken)
			s.tries("s/2", worn)
			s.gets(worn, redlock.ErrTokensUsedUp)
		}, `c1 asks for a permit of "s", and gets redlock: acquire "s": redlock: no fencing token is left above the counters after 2 attempts: another permit may be given back`},
		{"no cause", checker.Contract, func(a *actor) {
			s := a.seeks(waits)
			s.tries("s/1", silent)
			s.gets(silent, nil)
		}, `c1 asks for a permit of "s", and gets redlock: acquire "s": no quorum of nodes`},
		{"another error", checker.Contract, func(a *actor) { s := a.seeks(once); s.Gets(s.PermitCall, errors.New("broken")) },
			`c1 asks for a permit of "s", and gets broken: that is no error of the library`},
		{"given up in time", checker.Contract, func(a *actor) { givesUp(a, time.Second) }, ""},
		{"given up too early", checker.Contract, func(a *actor) { givesUp(a, 999*time.Millisecond) },
			`c1 asks for a permit of "s", and gets redlock: acquire "s": held by another: context deadline exceeded after 2 attempts: its time is not over`},
		{"given up too late", checker.Contract, func(a *actor) { givesUp(a, 1100*time.Millisecond) },
			`c1 asks for a permit of "s", and gives up 100ms too late`},
		{"not given up", checker.Conduct, func(a *actor) {
			s := a.seeksFor(waits, delay)
			a.sleeps(delay + time.Millisecond)
			s.tries("s/1", nil)
		}, `c1 looks for a permit of "s", although its call is to give up`},
		{"not given up, in a context that has ended", checker.Conduct, func(a *actor) {
			s := a.seeks(waits)
			ctx, cancel := context.WithCancel(context.Background())
			s.Context = ctx
			cancel()
			s.tries("s/1", nil)
		}, `c1 looks for a permit of "s", although its call is to give up`},
		{"asked for what it has", checker.Conduct, func(a *actor) {
			a.has("s/1")
			a.seeks(once).tries("s/1", taken)
		}, `c1 looks for a permit of "s" and asks for "s/1", which it has itself`},
		{"a context left behind", checker.Contract, func(a *actor) {
			s := a.seeks(once)
			s.Context, _ = a.client.WorkClock().WithCancel(context.Background())
			_, _ = a.client.WorkClock().WithCancel(s.Context)
			s.tries("s/1", nil)
			s.gets(nil, nil)
		}, `c1's call for a permit of "s" has returned, and leaves contexts behind that hang on its own: 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchPermits)
			r.goes("c1", time.Second, c.does)
			r.finds(t, c.kind, c.want)
		})
	}
}

// givesUp makes a look of a call that waits for a second at the most, and gives up when so much time has passed.
func givesUp(a *actor, after time.Duration) {
	s := a.seeksFor(true, time.Second)
	s.tries("s/1", taken)
	s.tries("s/2", taken)
	a.sleeps(after)
	s.gets(taken, context.DeadlineExceeded)
}

// looksTwice makes two looks of one call, with a time between.
func looksTwice(a *actor, between time.Duration) {
	s := a.seeks(true)
	for i := range 2 {
		if i > 0 {
			a.sleeps(between)
		}
		s.tries("s/1", taken)
		s.tries("s/2", taken)
	}
	s.gets(taken, context.DeadlineExceeded)
}

// has has the client hold a permit.
func (a *actor) has(resource string) *lease {
	s := a.seeks(false)
	l := s.tries(resource, nil)
	s.gets(nil, nil)
	return l
}

// handsOn hands the first permit on to a call that waits for it, so many times, and pauses before the last one looks.
func handsOn(a *actor, times int, pause time.Duration) {
	held := a.has("s/1")
	for i := range times {
		s := a.seeks(true)
		a.sleeps(time.Second)
		a.gives(held)
		if i == times-1 {
			a.sleeps(pause)
		}
		held = s.tries("s/1", nil)
		s.gets(nil, nil)
	}
}
