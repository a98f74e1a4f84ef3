package monitor

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

// renewing is a client that works under a lease of 10 s, which was granted when its clock read 0.
type renewing struct {
	*actor
	lease *lease
	work  *protocols.Work
	from  time.Time
}

// renews has the lease renewed at a reading of the client's clock.
func (x *renewing) renews(at time.Duration, err error) {
	x.sleeps(x.from.Add(at).Sub(x.reads()))
	c := &protocols.Call{Func: protocols.ExtendCall, Client: "c1", Resources: []string{"r"}, TTL: ttl, Lease: x.lease, Renewal: true}
	x.Called(c)
	if err == nil {
		x.lease.until = x.reads().Add(ttl)
	}
	x.Returned(c, err)
}

func TestRenewalsInTime(t *testing.T) {
	const second = time.Second
	failed := errors.New("no quorum")
	period := func(x *renewing) { x.work.Period = 4 * second }
	for _, c := range []struct {
		name   string
		before func(*renewing) // the work
		does   func(*renewing)
		worked time.Duration // until then, by the client's clock
		want   string
	}{
		{"in time", period, func(x *renewing) { x.renews(4*second, nil); x.renews(8*second, nil) }, 11 * second, ""},
		{"by default", nil, func(x *renewing) { x.renews(ttl/3, nil); x.renews(2*(ttl/3), nil) }, 9 * second, ""},
		{"by default, late", nil, func(x *renewing) { x.renews(ttl/3+second, nil) }, 5 * second, "c1 renews its lease 1s after that was due."},
		{"early", period, func(x *renewing) { x.renews(4*second, nil); x.renews(7*second, nil) }, 8 * second, "c1 renews its lease 1s before that is due."},
		{"sooner at first", period, func(x *renewing) { x.renews(3*second, nil) }, 5 * second, ""},
		{"too soon at first", period, func(x *renewing) { x.renews(2*second, nil) }, 5 * second, "c1 renews its lease 500ms before that is due."},
		{"late", period, func(x *renewing) { x.renews(4*second, nil); x.renews(9*second, nil) }, 10 * second, "c1 renews its lease 1s after that was due."},
		{"late after a pause", period, func(x *renewing) {
			x.sleeps(second)
			x.Kernel.After(8*second, x.client.Resume)
			x.client.Pause()
			x.renews(9*second, nil)
		}, 10 * second, ""},
		{"late after a renewal that a pause came before", period, func(x *renewing) {
			x.client.Pause()
			x.client.Resume()
			x.renews(4*second, nil)
			x.renews(9*second, nil)
		}, 10 * second, "c1 renews its lease 1s after that was due."},
		{"never after a renewal that a pause came before", period, func(x *renewing) {
			x.client.Pause()
			x.client.Resume()
			x.renews(4*second, nil)
		}, 9 * second, "c1 worked under its lease until 1s after a renewal was due, and has not renewed it."},
		{"early after a pause right before the work", func(x *renewing) {
			period(x)
			x.client.Pause()
			x.client.Resume()
		}, func(x *renewing) { x.renews(2*second, nil) }, 5 * second, ""},
		{"never", period, func(*renewing) {}, 6 * second, "c1 worked under its lease until 2s after a renewal was due, and has not renewed it."},
		{"never, and the lease ends", period, func(*renewing) {}, 15 * second, "c1 worked under its lease until 6s after a renewal was due, and has not renewed it."},
		{"never, as the call's context has ended", func(x *renewing) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			x.work.Period, x.work.Context = 4*second, ctx
		}, func(*renewing) {}, 6 * second, ""},
		{"never, as the client is closed", period, func(x *renewing) { x.Called(&protocols.Call{Func: protocols.CloseCall, Client: "c1"}) }, 6 * second, ""},
		{"after a failure", period, func(x *renewing) { x.renews(4*second, failed); x.renews(4050*time.Millisecond, nil) }, 5 * second, ""},
		{"too soon after a failure", period, func(x *renewing) { x.renews(4*second, failed); x.renews(4040*time.Millisecond, nil) }, 5 * second,
			"c1 renews its lease 10ms before that is due."},
		{"sooner after a failure, near the end", period, func(x *renewing) {
			x.lease.until = x.from.Add(4080 * time.Millisecond)
			x.renews(4*second, failed)
			x.renews(4020*time.Millisecond, nil)
		}, 5 * second, ""},
		{"of a lease that ends before a period", func(x *renewing) {
			period(x)
			x.lease.until = x.from.Add(2 * second)
		}, func(x *renewing) { x.renews(second, nil) }, 4 * second, ""},
		{"of a lease that ends before a period, never", func(x *renewing) {
			period(x)
			x.lease.until = x.from.Add(2 * second)
		}, func(*renewing) {}, 4 * second, "c1 worked under its lease until 500ms after a renewal was due, and has not renewed it."},
		{"late after a failure", period, func(x *renewing) { x.renews(4*second, failed); x.renews(5*second, nil) }, 6 * second, "c1 renews its lease 850ms after that was due."},
		{"never after the end of the context", period, func(x *renewing) { x.lease.lead = 7 * second }, 6 * second, ""},
		{"never before the end of the context", period, func(x *renewing) { x.lease.lead = 5 * second }, 6 * second,
			"c1 worked under its lease until 1s after a renewal was due, and has not renewed it."},
		{"never after the release", period, func(x *renewing) {
			x.sleeps(3 * second)
			x.Called(&protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{"r"}, Lease: x.lease})
		}, 6 * second, ""},
		{"never before the release", period, func(x *renewing) {
			x.sleeps(6 * second)
			x.Called(&protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{"r"}, Lease: x.lease})
		}, 7 * second, "c1 worked under its lease until 2s after a renewal was due, and has not renewed it."},
		{"never after the loss", period, func(x *renewing) { x.renews(4*second, redlock.ErrLost) }, 9 * second, ""},
		{"to the limit", func(x *renewing) { period(x); x.work.Limit = 1 }, func(x *renewing) { x.renews(4*second, nil) }, 9 * second, ""},
		{"beyond the limit", func(x *renewing) { period(x); x.work.Limit = 1 }, func(x *renewing) { x.renews(4*second, nil); x.renews(8*second, nil) }, 9 * second,
			"c1 renews its lease again, although the limit of renewals is 1."},
		{"not to the very longest time, by a clock that is fast", func(x *renewing) {
			period(x)
			x.work.MaxTime = 14 * second
			x.client.Clock().SetRate(1)
		}, func(*renewing) {}, 6 * second, ""},
		{"to the longest time", func(x *renewing) { period(x); x.work.MaxTime = 14 * second }, func(x *renewing) { x.renews(4*second, nil) }, 9 * second, ""},
		{"not to the longest time", func(x *renewing) { period(x); x.work.MaxTime = 14 * second }, func(*renewing) {}, 9 * second,
			"c1 worked under its lease until 5s after a renewal was due, and has not renewed it."},
		{"beyond the longest time", func(x *renewing) { period(x); x.work.MaxTime = 13 * second }, func(x *renewing) { x.renews(4*second, nil) }, 9 * second,
			"c1 renews its lease for 10s, although renewals may keep it for 9s more at the most."},
		{"by two at once", period, func(x *renewing) {
			other := *x.work
			x.Works(&other)
			x.renews(second, nil)
		}, 9 * second, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.onCall, r.onReturn, r.onWork, r.onStop, r.onWorked, r.onEvent, r.onEnd = nil, nil, nil, nil, nil, nil, nil
			watchRenewals(r.Run)
			r.clients = watchClients(r.Run)
			r.goes("c1", 0, func(a *actor) {
				l := a.lease("v", a.reads().Add(ttl))
				x := &renewing{a, l, &protocols.Work{Client: "c1", Resource: "r", Lease: l, Context: context.Background(), TTL: ttl}, a.reads()}
				if c.before != nil {
					c.before(x)
				}
				a.Works(x.work)
				c.does(x)
				a.sleeps(x.from.Add(c.worked).Sub(a.reads()))
				a.Stops(x.work)
			})
			want := c.want
			if want != "" {
				want += " (1)"
			}
			r.finds(t, checker.Contract, want)
		})
	}
}

// With code that takes time the moments are not known.
func TestRenewalsOfSlowCode(t *testing.T) {
	r := newRig(t)
	r.onWork, r.StepTime = nil, time.Microsecond
	if watchRenewals(r.Run); r.onWork != nil {
		t.Error("they are judged")
	}
}
