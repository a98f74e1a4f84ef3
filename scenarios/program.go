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
	case SleepStep:
		p.host.Sleep(context.Background(), s.For)
		return true
	case PrepareStep:
		return p.prepare()
	case CloseStep:
		return p.close()
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
		l.extend(s.For)
	case RenewStep:
		l.renew(s.For)
	case UnlockStep:
		l.unlock()
	}
	return true
}

// about is the lock that a step is about.
func (p *program) about(s *Step) *held {
	if s.Resource == nil {
		return p.locks[len(p.locks)-1]
	}
	var on [][]string
	for _, l := range p.locks {
		on = append(on, l.acquisition.resources())
	}
	return p.locks[s.among(on)]
}

// prepare prepares the nodes, for a protocol that needs it.
func (p *program) prepare() bool {
	preparer, ok := p.locker.(protocols.Preparer)
	if !ok {
		return false
	}
	p.acquires++
	a := &acquisition{acquire: p.acquires, grants: []Grant{{Resource: p.resources[0]}}} // no grant, but every event is on a resource
	e := history.Event{Kind: history.Step, Name: faults.Prepared, Resource: a.name()}
	if err := preparer.Prepare(a.in(context.Background())); err != nil {
		e.Name, e.Detail = faults.NotPrepared, protocols.Reason(err)
	}
	p.record(e)
	return e.Name == faults.Prepared
}

// close closes the client, for a protocol that can.
func (p *program) close() bool {
	c, ok := p.locker.(protocols.Closer)
	if !ok {
		return false
	}
	p.acquires++
	a := &acquisition{acquire: p.acquires, grants: []Grant{{Resource: p.resources[0]}}} // as for prepare
	e := history.Event{Kind: history.Step, Name: faults.Closed, Resource: a.name()}
	asked := &protocols.Call{Func: protocols.CloseCall, Client: p.host.Name()}
	p.witness.Called(asked)
	err := c.Close(a.in(context.Background()))
	p.witness.Returned(asked, err)
	if err != nil {
		e.Detail = protocols.Reason(err)
	}
	p.record(e)
	return true
}

// acquire takes the lock that a step asks for. If it is not granted the others are released.
func (p *program) acquire(ctx context.Context, s *Step) bool {
	p.acquires++
	a := &acquisition{acquire: p.acquires, thread: p.thread}
	var ops []int
	for _, name := range p.item.taken(s, p.resources) {
		ops = append(ops, p.host.NewOp())
		a.grants = append(a.grants, Grant{ops[len(ops)-1], name})
	}
	a.op = ops[0]
	ctx = a.in(ctx)
	p.attempt(ctx, 1)
	p.record(a.each(history.Event{Kind: history.Call, Func: history.Acquire}, ops)...)
	asked := &protocols.Call{Client: p.host.Name(), Grants: ops, Resources: a.resources(), TTL: p.ttl}
	p.witness.Called(asked)
	lease, err := p.lock(ctx, s, a.resources())
	if err == nil {
		asked.Lease = lease
	}
	p.witness.Returned(asked, err)
	if err != nil {
		p.record(a.each(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.Failed, Detail: protocols.Reason(err)}, ops)...)
		for i := len(p.locks) - 1; i >= 0; i-- {
			p.locks[i].unlock()
		}
		return false
	}
	p.locks = append(p.locks, &held{program: p, lease: lease, acquisition: a})
	token, _ := lease.Token()
	p.record(a.each(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Token: token}, ops)...)
	return true
}

// lock asks the protocol for the lock.
func (p *program) lock(ctx context.Context, s *Step, names []string) (protocols.Lease, error) {
	all, several := p.locker.(protocols.AllLocker)
	switch {
	case len(names) == 1 && s.Kind == LockStep:
		return p.locker.Lock(ctx, names[0], p.ttl)
	case len(names) == 1:
		return p.locker.TryLock(ctx, names[0], p.ttl)
	case !several:
		return nil, errSeveral
	case s.Kind == LockStep:
		return all.LockAll(ctx, names, p.ttl)
	}
	return all.TryLockAll(ctx, names, p.ttl)
}

// errSeveral is why a lock on several resources is not granted by a Locker of the caller's own.
var errSeveral = errors.New("this lock cannot take several resources at once")
