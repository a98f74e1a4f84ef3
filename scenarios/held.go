package scenarios

import (
	"context"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/scenarios/protocols"
)

// held is a lock that a program has, and the grants.
type held struct {
	*program
	lease       protocols.Lease
	ttl         time.Duration // that it was granted with
	acquisition *acquisition
}

func (l *held) extend(s *Step) {
	c := l.call(history.Extend, s.For)
	ctx, done := l.context(s)
	defer done()
	c.Context = ctx
	l.returned(c, l.lease.Extend(ctx, s.For))
}

// unlock releases the lock.
func (l *held) unlock(s *Step) {
	if tx, ok := l.lease.(protocols.Transaction); ok {
		tx.Commit(l.ctx())
	}
	c := l.call(history.Release, 0)
	l.acquisition.disbelieve()
	ctx, done := l.context(s)
	defer done()
	c.Context = ctx
	l.returned(c, l.lease.Unlock(ctx))
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

// ctx is the context for calls that are about the lock held.
func (l *held) ctx() context.Context { return l.acquisition.in(context.Background()) }

// called is a call that is about the lock held, with its operations, one for each resource.
type called struct {
	protocols.Call
	f   history.Func
	ops []int
}

// call writes down that a call begins which is about the lock.
func (l *held) call(f history.Func, ttl time.Duration) *called {
	a := l.acquisition
	c := &called{f: f, Call: protocols.Call{Func: protocols.ExtendCall, Client: l.host.Name(), Resources: a.resources(), TTL: ttl, Lease: l.lease}}
	if f == history.Release {
		c.Func = protocols.ReleaseCall
	}
	for _, g := range a.grants {
		c.ops, c.Grants = append(c.ops, l.host.NewOp()), append(c.Grants, g.Op)
	}
	l.witness.Called(&c.Call)
	l.recordEach(a, history.Event{Kind: history.Call, Func: f}, c.ops)
	a.op = c.ops[0]
	return c
}

// returned writes down what came of such a call.
func (l *held) returned(c *called, err error) {
	l.witness.Returned(&c.Call, err)
	e := history.Event{Kind: history.Return, Func: c.f}
	e.Outcome, e.Detail = protocols.Outcome(err)
	l.recordEach(l.acquisition, e, c.ops)
}
