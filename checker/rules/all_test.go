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

// writing is a call of an actor for all permits of a semaphore "s", which has two.
type writing struct {
	*actor
	*protocols.PermitCall
	end context.CancelFunc // of the call
}

func (a *actor) writes() *writing {
	ctx, end := context.WithCancel(context.Background())
	w := &writing{a, &protocols.PermitCall{Client: "c1", Semaphore: "s", Permits: 2, TTL: ttl, Context: ctx,
		All: true, Work: func(context.Context) error { return nil }}, end}
	a.Wants(w.PermitCall)
	return w
}

// asks asks for one lock, and takes returns it granted.
func (w *writing) asks(resource string, within time.Duration) *protocols.Call {
	call := &protocols.Call{Func: protocols.AcquireCall, Client: "c1", Resources: []string{resource}, TTL: within, Waits: true, Permit: w.PermitCall}
	w.Called(call)
	return call
}

func (w *writing) takes(resource string) *lease {
	call := w.asks(resource, ttl)
	l := w.lease(resource, w.reads().Add(ttl))
	call.Lease = l
	w.Returned(call, nil)
	return l
}

// all takes everything, and begins the work in the context that it returns.
func (w *writing) all() (leases []*lease, stop context.CancelCauseFunc) {
	for _, resource := range []string{"s/all", "s/1", "s/2"} {
		leases = append(leases, w.takes(resource))
	}
	ctx, stop := context.WithCancelCause(w.Context)
	w.Begins(w.PermitCall, ctx)
	return leases, stop
}

// loses has a lease end with its loss.
func (w *writing) loses(l *lease) {
	l.cancel(redlock.ErrLost)
	w.Observed("c1", observe.Event{Step: observe.Lost})
}

// done ends the work with err, gives everything back and returns the same.
func (w *writing) done(leases []*lease, err error) {
	w.Ends(w.PermitCall, err)
	for _, l := range leases {
		w.gives(l)
	}
	w.Gets(w.PermitCall, err)
}

func TestAll(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name string
		kind checker.Kind
		does func(*writing)
		want string
	}{
		{"everything", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.done(leases, nil)
		}, ""},
		{"work that fails", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.done(leases, failed)
		}, ""},
		{"something else", checker.Conduct, func(w *writing) { w.asks("s/3", ttl) }, `c1 asks for "s/3" for a call for permits of "s", and there is no such permit`},
		{"twice", checker.Conduct, func(w *writing) {
			w.takes("s/all")
			w.takes("s/1")
			w.asks("s/1", ttl)
		}, `c1 asks for "s/1" for a call for permits of "s", and it has asked for that already`},
		{"another TTL", checker.Conduct, func(w *writing) { w.asks("s/all", 2*ttl) }, `c1 asks for "s/all" for a call for permits of "s", and it is to have it for 10s, and asks for 20s`},
		{"a permit first", checker.Conduct, func(w *writing) { w.asks("s/1", ttl) },
			`c1 asks for "s/1" for a call for permits of "s", and another that wants all permits could have this one`},
		{"too little", checker.Contract, func(w *writing) {
			w.takes("s/all")
			w.takes("s/1")
			w.Begins(w.PermitCall, w.Context)
		}, `c1 works under all permits of "s", and has not got "s/2"`},
		{"a permit lost before the work", checker.Contract, func(w *writing) {
			w.takes("s/all")
			w.loses(w.takes("s/1"))
			w.sleeps(time.Millisecond)
			w.takes("s/2")
			w.Begins(w.PermitCall, w.Context)
		}, `c1 works under all permits of "s", and has not got "s/1"`},
		{"given back meanwhile", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.gives(leases[1])
		}, `c1 works under all permits of "s", and gives back "s/1" meanwhile`},
		{"a loss that is not told", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.loses(leases[2])
			w.sleeps(time.Millisecond)
			w.Ends(w.PermitCall, nil)
		}, `c1 works under all permits of "s", and is not told that it has lost s/2`},
		{"a loss in the moment in which the work ends", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.loses(leases[2])
			w.done(leases, redlock.ErrLost)
		}, ""},
		{"a loss that is told as something else", checker.Contract, func(w *writing) {
			leases, stop := w.all()
			w.loses(leases[2])
			w.sleeps(time.Millisecond)
			stop(nil)
			w.Ends(w.PermitCall, failed)
		}, `c1 works under all permits of "s", and is not told that it has lost s/2`},
		{"a call that ends", checker.Contract, func(w *writing) {
			for _, resource := range []string{"s/all", "s/1", "s/2"} {
				w.takes(resource)
			}
			w.Begins(w.PermitCall, context.Background())
			w.end()
			w.Ends(w.PermitCall, nil)
		}, `c1 works under all permits of "s", and is not told that its call is to end`},
		{"told for no reason", checker.Contract, func(w *writing) {
			_, stop := w.all()
			stop(nil)
			w.Ends(w.PermitCall, failed)
		}, `c1 works under all permits of "s", and is told to stop for no reason`},
		{"a permit that stays", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.done(leases[:2], nil)
		}, `c1's call for all permits of "s" has returned, and still has "s/2"`},
		{"another error", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.Ends(w.PermitCall, failed)
			for _, l := range leases {
				w.gives(l)
			}
			w.Gets(w.PermitCall, nil)
		}, `c1 calls for permits of "s", and gets "success": that is not what its work returned`},
		{"an error for nothing", checker.Contract, func(w *writing) {
			leases, _ := w.all()
			w.Ends(w.PermitCall, nil)
			for _, l := range leases {
				w.gives(l)
			}
			w.Gets(w.PermitCall, failed)
		}, `c1 calls for permits of "s", and gets "failed": the work was done, and everything was given back`},
		{"a loss without an error", checker.Contract, func(w *writing) {
			leases, stop := w.all()
			leases[1].cancel(redlock.ErrLost)
			stop(redlock.ErrLost)
			w.done(leases, nil)
		}, `c1 calls for permits of "s", and gets "success": that does not say that a permit was lost`},
		{"no work and no error", checker.Contract, func(w *writing) { w.Gets(w.PermitCall, nil) },
			`c1 calls for permits of "s", and gets "success": it has not got that`},
		{"no lock's error", checker.Contract, func(w *writing) { w.Gets(w.PermitCall, failed) },
			`c1 calls for permits of "s", and gets "failed": that is no error of the library`},
		{"an error without a reason", checker.Contract, func(w *writing) {
			w.Gets(w.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s"})
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s\": <nil>": that does not say why it gave up`},
		{"an error about a permit", checker.Contract, func(w *writing) {
			w.Gets(w.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s/1", Reason: redlock.ErrTaken})
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s/1\": held by another": it is about something else`},
		{"closed, and giving back fails", checker.Contract, func(w *writing) {
			w.call(protocols.CloseCall, nil, nil, nil)
			w.Gets(w.PermitCall, errors.Join(redlock.ErrClosed, &redlock.Error{Op: driver.OpRelease, Resource: "s/all", Reason: redlock.ErrNoQuorum}))
		}, ""},
		{"closed, and an error about a permit", checker.Contract, func(w *writing) {
			w.call(protocols.CloseCall, nil, nil, nil)
			w.Gets(w.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s/1", Cause: redlock.ErrClosed})
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s/1\": redlock: client closed": it is about something else`},
		{"renewed in the end", checker.Conduct, func(w *writing) {
			leases, stop := w.all()
			renews := func(l *lease) {
				w.Called(&protocols.Call{Func: protocols.ExtendCall, Client: "c1", Lease: l, Renewal: true})
			}
			renews(leases[1])
			stop(nil)
			renews(leases[0])
			renews(leases[1])
		}, `c1 goes on to renew "s/1", although its work under all permits of "s" is told to stop`},
		{"cancelled by nobody", checker.Contract, func(w *writing) {
			w.Gets(w.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s", Reason: redlock.ErrTaken, Cause: context.Canceled})
		}, `c1 calls for permits of "s", and gets "redlock: acquire \"s\": held by another: context canceled": nothing has ended it`},
		{"refused", checker.Contract, func(w *writing) {
			w.end()
			w.Gets(w.PermitCall, &redlock.Error{Op: driver.OpAcquire, Resource: "s", Reason: redlock.ErrTaken, Cause: context.Canceled})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("permits")
			r.goes("c1", time.Second, func(a *actor) { c.does(a.writes()) })
			r.finds(t, c.kind, c.want)
		})
	}
}
