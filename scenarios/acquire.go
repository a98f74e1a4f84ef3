package scenarios

import (
	"cmp"
	"context"
	"errors"
	"time"

	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// asking is an acquire that has begun.
type asking struct {
	*acquisition
	ops  []int
	call protocols.Call
}

// asks begins the acquire of a step.
func (p *program) asks(s *Step) *asking {
	return p.asksFor(p.item.Taken(s, p.scenario.Resources), p.ttl(s), s.Kind != TryLockStep)
}

// ttl is what a step asks for a lock with.
func (p *program) ttl(s *Step) time.Duration { return cmp.Or(s.TTL, p.scenario.Lock.TTL) }

// asksFor begins an acquire, which is an event when its context is known.
func (p *program) asksFor(resources []string, ttl time.Duration, waits bool) *asking {
	p.acquires++
	x := &asking{acquisition: &acquisition{acquire: p.acquires, thread: p.thread}}
	for _, name := range resources {
		x.ops = append(x.ops, p.host.NewOp())
		x.grants = append(x.grants, Grant{x.ops[len(x.ops)-1], name})
	}
	x.op = x.ops[0]
	p.attempt(x.in(context.Background()), 1)
	p.recordEach(x.acquisition, history.Event{Kind: history.Call, Func: history.Acquire}, x.ops)
	x.call = protocols.Call{Client: p.host.Name(), Grants: x.ops, Resources: x.resources(), TTL: ttl, Waits: waits}
	return x
}

// held is the lock that an acquire asks for.
func (p *program) held(x *asking) *held {
	return &held{program: p, ttl: x.call.TTL, acquisition: x.acquisition}
}

// granted ends an acquire that was granted.
func (l *held) granted(x *asking, lease protocols.Lease) {
	x.call.Lease, l.lease = lease, lease
	x.call.Bare = lease.Context().Value(acquisitionKey{}) != x.acquisition
	trace.Tell(l.events, protocols.Returned{Call: &x.call})
	l.locks = append(l.locks, l)
	token, _ := lease.Token()
	l.recordEach(x.acquisition, history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Token: token}, x.ops)
}

// refused ends an acquire that was not granted. The locks that are held are released.
func (p *program) refused(x *asking, err error) {
	p.notGranted(x, err)
	p.releaseAll()
}

// notGranted writes down that an acquire was not granted.
func (p *program) notGranted(x *asking, err error) {
	trace.Tell(p.events, protocols.Returned{Call: &x.call, Err: err})
	e := history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.Failed, Detail: protocols.Reason(err)}
	if early, is := errors.AsType[*protocols.Early](err); is {
		e.Span = int64(early.Left)
	}
	p.recordEach(x.acquisition, e, x.ops)
}

// releaseAll releases the locks that are held, the last first.
func (p *program) releaseAll() {
	for i := len(p.locks) - 1; i >= 0; i-- {
		p.locks[i].unlock(&Step{})
	}
}

// acquire takes the lock that a step asks for.
func (p *program) acquire(ctx context.Context, s *Step) bool {
	x := p.asks(s)
	ctx, done := s.in(x.in(ctx), p.clock)
	defer done()
	x.call.Context = ctx
	trace.Tell(p.events, protocols.Called{Call: &x.call})
	lease, err := p.lock(ctx, s.Kind, x.call.Resources, x.call.TTL)
	if err != nil && s.Anyway {
		p.notGranted(x, err)
		l := p.held(x)
		l.refused = true
		p.locks = append(p.locks, l)
		return true
	}
	if err != nil {
		p.refused(x, err)
		return false
	}
	p.held(x).granted(x, lease)
	return true
}

// lock asks the protocol for the lock.
func (p *program) lock(ctx context.Context, kind StepKind, resources []string, ttl time.Duration) (protocols.Lease, error) {
	all, several := p.locker.(protocols.AllLocker)
	switch {
	case len(resources) == 1 && kind == LockStep:
		return p.locker.Lock(ctx, resources[0], ttl)
	case len(resources) == 1:
		return p.locker.TryLock(ctx, resources[0], ttl)
	case !several:
		return nil, errSeveral
	case kind == LockStep:
		return all.LockAll(ctx, resources, ttl)
	}
	return all.TryLockAll(ctx, resources, ttl)
}

// errSeveral is why a lock on several resources is not granted by a Locker of the caller's own.
var errSeveral = errors.New("this lock cannot take several resources at once")
