package scenarios

import (
	"context"
	"errors"
	"math"
	"time"

	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// renew works under the lock for as long as a step says, which is extended every third of its TTL: the period of Redisson's
// watchdog. The shipped library does so in a call, and a lock that renews itself is left alone.
func (l *held) renew(s *Step) {
	if l.refused {
		l.works(l.life, s.For)
		return
	}
	if lease, ok := l.lease.(protocols.Renewer); ok {
		ctx, done := l.context(s)
		defer done()
		l.renewed(ctx, lease, s, func(own context.Context) {
			if s.Meanwhile > 0 {
				l.renewed(ctx, lease, &Step{Calling: Calling{MaxTime: 1}}, func(own context.Context) { l.works(own, s.Meanwhile) })
			}
			l.works(own, s.For)
		})
		return
	}
	if lease, ok := l.lease.(protocols.SelfRenewing); ok && lease.RenewsItself() {
		l.works(l.lease.Context(), s.For)
		return
	}
	l.renewByHand(s.For)
}

// renewed does work in one call that renews the lease, as a step says.
func (l *held) renewed(ctx context.Context, lease protocols.Renewer, s *Step, work func(own context.Context)) {
	r := l.watched(s)
	w := l.work(ctx, r)
	w.Panics = s.Panics
	err := w.Catch(func() error {
		return lease.Renew(ctx, r, func(own context.Context) error {
			work(own)
			return l.worked(own, ctx, w)
		})
	})
	trace.Tell(l.events, protocols.WorkReturned{Work: w, Err: err})
}

// works lets time pass until ctx ends, and without an end if the work is stuck.
func (p *program) works(ctx context.Context, d time.Duration) {
	p.host.Sleep(ctx, d)
	for p.host.Stuck() && ctx.Err() == nil {
		p.host.Sleep(ctx, math.MaxInt64)
	}
}

// work is work that begins under the lock, in a call with ctx, while the lock is renewed.
func (l *held) work(ctx context.Context, r protocols.Renewal) *protocols.Work {
	return &protocols.Work{Client: l.host.Name(), Resource: l.acquisition.resources()[0], Lease: l.lease, Context: ctx, TTL: l.ttl,
		Period: r.Period, Jitter: r.Jitter, Limit: r.Limit, MaxTime: r.MaxTime}
}

// worked ends work: with an error if its own context has ended. caller is that of the call that it is done in.
func (l *held) worked(own, caller context.Context, w *protocols.Work) error {
	lease := l.lease.Context()
	w.Ended = true
	w.Lost = context.Cause(lease) == redlock.ErrLost
	w.Unaware = lease.Err() != nil && own.Err() == nil
	w.Deaf = caller.Err() != nil && own.Err() == nil
	w.Misled = own.Err() != nil && lease.Err() == nil && caller.Err() == nil
	w.Bare = own.Value(acquisitionKey{}) != caller.Value(acquisitionKey{})
	if own.Err() != nil {
		w.Err = errStopped
	}
	trace.Tell(l.events, protocols.WorkDone{Work: w})
	w.Panic()
	return w.Err
}

// errStopped is the error of work whose context has ended.
var errStopped = errors.New("the work was stopped")

// renewByHand is renew for a protocol that does not renew its locks.
func (l *held) renewByHand(d time.Duration) {
	end := l.clock.Now().Add(d)
	for n := 0; ; n++ {
		left := end.Sub(l.clock.Now())
		if l.host.Stuck() {
			left = math.MaxInt64
		}
		if left <= 0 || l.lease.Context().Err() != nil {
			return
		}
		if l.scenario.Lock.Renewals > 0 && n >= l.scenario.Lock.Renewals {
			l.host.Sleep(l.lease.Context(), left)
			return
		}
		l.host.Sleep(l.lease.Context(), min(left, l.ttl/3))
		if (l.clock.Now().Before(end) || l.host.Stuck()) && l.lease.Context().Err() == nil {
			l.extend(&Step{For: l.ttl})
		}
	}
}

// renewal is a step's.
func (p *program) renewal(s *Step) protocols.Renewal {
	r := protocols.Renewal{Wait: s.Wait, Period: s.Period, Jitter: s.Jitter, Limit: s.Limit, MaxTime: s.MaxTime}
	if r.Limit == 0 {
		r.Limit = p.scenario.Lock.Renewals
	}
	return r
}

// watched is a step's renewal, and has every extend of a protocol's own written down as one of this program, unless the client
// crashed at a step of it, or it began before the program knew of its lease.
func (l *held) watched(s *Step) protocols.Renewal {
	var c *called
	r := l.renewal(s)
	r.Begins = func() {
		c = l.call(history.Extend, l.ttl)
		c.Renewal = true
		trace.Tell(l.events, protocols.Called{Call: &c.Call})
		l.begins(c)
	}
	r.Ends = func(err error) {
		if c != nil && !l.host.Dead() {
			l.returned(c, err)
		}
	}
	return r
}

// withLock takes a lock, works under it and releases it in one call of the protocol.
func (p *program) withLock(s *Step) bool {
	holder, ok := p.locker.(protocols.Holder)
	if !ok {
		return false
	}
	x := p.asks(s)
	ctx, done := s.in(x.in(p.life), p.clock)
	defer done()
	x.call.Context, x.call.Wait = ctx, s.Wait
	one := &oneCall{step: s, caller: ctx}
	one.takes(p.held(x))
	trace.Tell(p.events, protocols.Called{Call: &x.call})
	err := one.Catch(func() error {
		return holder.Hold(ctx, x.call.Resources[0], x.call.TTL, one.renewal, func(own context.Context, lease protocols.Lease) error {
			one.granted(x, lease)
			return one.does(own)
		})
	})
	if !one.begun {
		p.refused(x, err)
		return false
	}
	trace.Tell(p.events, protocols.WorkReturned{Work: &one.Work, Err: err})
	one.gone()
	return true
}

// oneCall is a call that takes a lock, works under it and releases it.
type oneCall struct {
	*held
	protocols.Work
	step      *Step
	caller    context.Context
	renewal   protocols.Renewal
	releasing context.Context // that the work releases the lock in, if it does
	begun     bool            // the work has
}

// takes says which lock it takes.
func (x *oneCall) takes(l *held) {
	x.held, x.renewal = l, l.watched(x.step)
	l.releases(&x.renewal, func() context.Context { return x.releasing })
	x.Work = *l.work(x.caller, x.renewal)
	x.Releases, x.Panics = true, x.step.Panics
}

// does does the work, under the lock that was granted.
func (x *oneCall) does(own context.Context) error {
	x.begun, x.Lease = true, x.lease
	x.update(x.acquisition.grants[0])
	x.works(own, x.step.For)
	x.update(x.acquisition.grants[0])
	var unlocked error
	if x.step.Unlocks {
		if x.step.Within == nil && x.step.Cancel == nil { // else it may end for more than the end of the lease
			x.releasing = own
		}
		x.renewal.Releases()
		unlocked = x.lease.Unlock(own)
	}
	return errors.Join(x.worked(own, x.caller, &x.Work), unlocked)
}

// releases has the release of a renewal written down as one of this program, in a context that is known when it begins. Its
// work may make it, too.
func (l *held) releases(r *protocols.Renewal, in func() context.Context) {
	var c *called
	r.Releases = func() {
		if c != nil {
			return // the work does
		}
		c = l.call(history.Release, 0)
		c.Context = in()
		trace.Tell(l.events, protocols.Called{Call: &c.Call})
		l.begins(c)
		l.acquisition.disbelieve()
	}
	r.Released = func(err error) {
		if !l.host.Dead() {
			l.returned(c, err)
		}
	}
}
