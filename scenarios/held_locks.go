package scenarios

import (
	"context"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// held is a lock that a program has, and the grants.
type held struct {
	*program
	// refused: it was not granted, and the program goes on without it. There is no lease then.
	refused     bool
	lease       protocols.Lease
	ttl         time.Duration // that it was granted with
	acquisition *acquisition
}

// about is the lock that a step is about.
func (p *program) about(s *Step) *held {
	locks := p.locks
	if s.Released {
		locks = p.released
	}
	var on [][]string
	for _, l := range locks {
		on = append(on, l.acquisition.asked())
	}
	return locks[s.among(on)]
}

// hold works under the lock for a while, as long as the lease lasts.
func (l *held) hold(s *Step) { l.host.Sleep(l.lasts(), s.For) }

func (l *held) extend(s *Step) {
	if l.refused {
		return
	}
	c := l.call(history.Extend, s.For)
	l.begins(c)
	defer l.in(c, s)()
	l.returned(c, l.lease.Extend(c.Context, s.For))
}

// twice makes a call a second time, beside the first, if the step says so.
func twice(do func(*held, *Step)) func(*held, *Step) {
	return func(l *held, s *Step) {
		if s.Twice == 0 {
			do(l, s)
			return
		}
		tasks, isDone := l.host.Tasks(), false
		waiter := tasks.NewWaiter()
		tasks.Start(func() {
			l.host.Sleep(l.life, s.Twice)
			do(l, s)
			isDone = true
			waiter.Wake()
		})
		do(l, s)
		for !isDone {
			waiter.Wait(l.life)
		}
	}
}

// unlock releases the lock.
func (l *held) unlock(s *Step) {
	if l.refused {
		l.gone()
		return
	}
	if tx, ok := l.lease.(protocols.Transaction); ok {
		tx.Commit(l.ctx())
	}
	c := l.call(history.Release, 0)
	l.begins(c)
	l.acquisition.disbelieve()
	defer l.in(c, s)()
	l.returned(c, l.lease.Unlock(c.Context))
	l.gone()
}

// gone notes that the lock is no longer held.
func (l *held) gone() {
	before := len(l.locks)
	l.locks = slices.DeleteFunc(l.locks, func(other *held) bool { return other == l })
	if len(l.locks) < before {
		l.released = append(l.released, l)
	}
}

// context is the context of a step's call that is about the lock held.
func (l *held) context(s *Step) (ctx context.Context, done func()) {
	ctx = l.ctx()
	if s.LeaseContext {
		ctx = l.lease.Context()
	}
	return s.in(ctx, l.clock)
}

// lasts is a context that ends with the lease, or with the program if there is none.
func (l *held) lasts() context.Context {
	if l.refused {
		return l.life
	}
	return l.lease.Context()
}

// ctx is the context for calls that are about the lock held.
func (l *held) ctx() context.Context { return l.acquisition.in(l.life) }

// called is a call that is about the lock held, with its operations, one for each resource.
type called struct {
	protocols.Call
	f   history.Func
	ops []int
}

// call is one that is about the lock.
func (l *held) call(f history.Func, ttl time.Duration) *called {
	a := l.acquisition
	c := &called{f: f, Call: protocols.Call{Func: protocols.ExtendCall, Client: l.host.Name(), Resources: a.resources(), TTL: ttl, Lease: l.lease}}
	if f == history.Release {
		c.Func = protocols.ReleaseCall
	}
	for _, g := range a.grants {
		c.ops, c.Grants = append(c.ops, l.host.NewOp()), append(c.Grants, g.Op)
	}
	return c
}

// begins writes down that a call begins.
func (l *held) begins(c *called) {
	l.recordEach(l.acquisition, history.Event{Kind: history.Call, Func: c.f}, c.ops)
	l.acquisition.op = c.ops[0]
}

// in gives a call the context that its step says, and tells the witness of it. The caller must call done after the call.
func (l *held) in(c *called, s *Step) (done func()) {
	c.Context, done = l.context(s)
	trace.Tell(l.events, protocols.Called{Call: &c.Call})
	return done
}

// returned writes down what came of such a call.
func (l *held) returned(c *called, err error) {
	trace.Tell(l.events, protocols.Returned{Call: &c.Call, Err: err})
	if c.f == history.Extend && err == nil && !l.acquisition.believes {
		err = redlock.ErrLost // it was over before it returned, as after a pause
	}
	e := history.Event{Kind: history.Return, Func: c.f}
	e.Outcome, e.Detail = protocols.Outcome(err)
	l.recordEach(l.acquisition, e, c.ops)
}
