package scenarios

import (
	"context"
	"errors"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/scenarios/protocols"
)

// Run does the steps of an item, as often as it says. When a lock is not granted the rest of the steps are left out, and
// the locks that are held are released, the last first.
func (x *Session) Run(item *Item) {
	x.threads++
	thread := x.threads
	for range max(item.Repeat, 1) {
		p := &program{Session: x, item: item, thread: thread, numbers: map[string]seen{}}
		for i := range item.Do {
			if !p.do(&item.Do[i]) {
				break
			}
		}
	}
}

// program is one pass through the steps of an item.
type program struct {
	*Session
	item     *Item
	thread   int
	locks    []*held // in the order in which they were taken
	released []*held // in the order in which they were released
	accesses int     // requests to the storage so far
	// numbers is what was read last, by resource, where that succeeded.
	numbers map[string]seen
}

// seen is a number that was read.
type seen struct {
	number int64
	op     int // the read; 0 once a write builds on it
	grant  int
}

func (p *program) do(s *Step) (goOn bool) {
	switch s.Kind {
	case LockStep:
		ctx, cancel := p.clock.WithDeadline(context.Background(), p.clock.Now().Add(s.For))
		defer cancel()
		return p.acquire(ctx, s)
	case TryLockStep:
		return p.acquire(context.Background(), s)
	case WithLockStep:
		return p.withLock(s)
	case SleepStep:
		p.host.Sleep(context.Background(), s.For)
		return true
	case PrepareStep:
		return p.prepare(s)
	case CloseStep:
		return p.close(s)
	case NewClientStep:
		return p.newClient()
	}
	l := p.about(s)
	if s.isEffect() {
		l.reach(s)
		return true
	}
	switch s.Kind {
	case HoldStep:
		p.host.Sleep(l.lease.Context(), s.For)
	case LingerStep:
		l.linger()
	case ExtendStep:
		l.extend(s)
	case RenewStep:
		l.renew(s)
	case UnlockStep:
		l.unlock(s)
	}
	return true
}

// about is the lock that a step is about.
func (p *program) about(s *Step) *held {
	locks := p.locks
	if s.Released {
		locks = p.released
	}
	var on [][]string
	for _, l := range locks {
		on = append(on, l.acquisition.resources())
	}
	return locks[s.among(on)]
}

// ofClient is what a call is made for that is about the client. It is no grant, but every event is on a resource.
func (p *program) ofClient() *acquisition {
	p.acquires++
	return &acquisition{acquire: p.acquires, grants: []Grant{{Resource: p.resources[0]}}}
}

// prepare prepares the nodes, for a protocol that needs it.
func (p *program) prepare(s *Step) bool {
	preparer, ok := p.locker.(protocols.Preparer)
	if !ok {
		return false
	}
	a := p.ofClient()
	e := history.Event{Kind: history.Step, Name: faults.Prepared, Resource: a.name()}
	ctx, done := s.in(a.in(context.Background()), p.clock)
	defer done()
	if err := preparer.Prepare(ctx); err != nil {
		e.Name, e.Detail = faults.NotPrepared, protocols.Reason(err)
	}
	p.record(e)
	return e.Name == faults.Prepared
}

// close closes the client, for a protocol that can.
func (p *program) close(s *Step) bool {
	c, ok := p.locker.(protocols.Closer)
	if !ok {
		return false
	}
	a := p.ofClient()
	e := history.Event{Kind: history.Step, Name: faults.Closed, Resource: a.name()}
	ctx, done := s.in(a.in(context.Background()), p.clock)
	defer done()
	asked := &protocols.Call{Func: protocols.CloseCall, Client: p.host.Name()}
	p.witness.Called(asked)
	err := c.Close(ctx)
	p.witness.Returned(asked, err)
	if err != nil {
		e.Detail = protocols.Reason(err)
	}
	p.record(e)
	return true
}

// newClient makes another client in the place of the one before.
func (p *program) newClient() bool {
	asked := &protocols.Call{Func: protocols.NewClientCall, Client: p.host.Name()}
	p.witness.Called(asked)
	err := p.begin()
	p.witness.Returned(asked, err)
	if err != nil {
		return false // which it was not for the same settings before
	}
	p.record(history.Event{Kind: history.Step, Name: faults.NewClient, Resource: p.ofClient().name()})
	return true
}

// asking is an acquire that has begun.
type asking struct {
	*acquisition
	ops  []int
	call protocols.Call
}

// asks begins an acquire.
func (p *program) asks(s *Step) *asking {
	p.acquires++
	x := &asking{acquisition: &acquisition{acquire: p.acquires, thread: p.thread}}
	for _, name := range p.item.taken(s, p.resources) {
		x.ops = append(x.ops, p.host.NewOp())
		x.grants = append(x.grants, Grant{x.ops[len(x.ops)-1], name})
	}
	x.op = x.ops[0]
	p.attempt(x.in(context.Background()), 1)
	p.record(x.each(history.Event{Kind: history.Call, Func: history.Acquire}, x.ops)...)
	x.call = protocols.Call{Client: p.host.Name(), Grants: x.ops, Resources: x.resources(), TTL: s.TTL, Waits: s.Kind != TryLockStep}
	if s.TTL == 0 {
		x.call.TTL = p.ttl
	}
	p.witness.Called(&x.call)
	return x
}

// held is the lock that an acquire asks for.
func (p *program) held(x *asking) *held {
	return &held{program: p, ttl: x.call.TTL, acquisition: x.acquisition}
}

// granted ends an acquire that was granted.
func (l *held) granted(x *asking, lease protocols.Lease) {
	x.call.Lease, l.lease = lease, lease
	l.witness.Returned(&x.call, nil)
	l.locks = append(l.locks, l)
	token, _ := lease.Token()
	l.record(x.each(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Token: token}, x.ops)...)
}

// refused ends an acquire that was not granted. The locks that are held are released.
func (p *program) refused(x *asking, err error) {
	p.witness.Returned(&x.call, err)
	p.record(x.each(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.Failed, Detail: protocols.Reason(err)}, x.ops)...)
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
	lease, err := p.lock(ctx, s.Kind, &x.call)
	if err != nil {
		p.refused(x, err)
		return false
	}
	p.held(x).granted(x, lease)
	return true
}

// lock asks the protocol for the lock.
func (p *program) lock(ctx context.Context, kind StepKind, c *protocols.Call) (protocols.Lease, error) {
	all, several := p.locker.(protocols.AllLocker)
	switch {
	case len(c.Resources) == 1 && kind == LockStep:
		return p.locker.Lock(ctx, c.Resources[0], c.TTL)
	case len(c.Resources) == 1:
		return p.locker.TryLock(ctx, c.Resources[0], c.TTL)
	case !several:
		return nil, errSeveral
	case kind == LockStep:
		return all.LockAll(ctx, c.Resources, c.TTL)
	}
	return all.TryLockAll(ctx, c.Resources, c.TTL)
}

// errSeveral is why a lock on several resources is not granted by a Locker of the caller's own.
var errSeveral = errors.New("this lock cannot take several resources at once")
