package scenarios

import (
	"context"
	"errors"
	"slices"
	"time"

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
		t := &tenure{Session: x, item: item, thread: thread, numbers: map[string]int64{}}
		for i := range item.Do {
			if !t.do(&item.Do[i]) {
				break
			}
		}
	}
}

// tenure is one pass through the steps of an item.
type tenure struct {
	*Session
	item     *Item
	thread   int
	locks    []*held // in the order in which they were taken
	accesses int     // requests to the storage so far
	// numbers is what was read last, by resource, where that succeeded.
	numbers map[string]int64
}

// held is a lock that a program has, and the grants.
type held struct {
	*tenure
	lease protocols.Lease
	under *under
}

func (t *tenure) do(s *Step) (goOn bool) {
	switch s.Kind {
	case LockStep:
		ctx, cancel := t.clock.WithDeadline(context.Background(), t.clock.Now().Add(s.For))
		defer cancel()
		return t.acquire(ctx, s)
	case TryLockStep:
		return t.acquire(context.Background(), s)
	case SleepStep:
		t.host.Sleep(context.Background(), s.For)
		return true
	case PrepareStep:
		return t.prepare()
	case CloseStep:
		return t.close()
	}
	l := t.about(s)
	if s.isEffect() {
		l.reach(s)
		return true
	}
	switch s.Kind {
	case HoldStep:
		t.host.Sleep(l.lease.Context(), s.For)
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
func (t *tenure) about(s *Step) *held {
	if s.Resource == nil {
		return t.locks[len(t.locks)-1]
	}
	var on [][]string
	for _, l := range t.locks {
		on = append(on, l.under.resources())
	}
	return t.locks[s.among(on)]
}

// unlock releases the lock.
func (l *held) unlock() {
	if tx, ok := l.lease.(protocols.Transaction); ok {
		tx.Commit(l.ctx())
	}
	ops := l.call(history.Release)
	l.under.disbelieve()
	l.returned(ops, history.Release, l.lease.Unlock(l.ctx()))
	l.locks = slices.DeleteFunc(l.locks, func(other *held) bool { return other == l })
}

// prepare prepares the nodes, for a protocol that needs it.
func (t *tenure) prepare() bool {
	p, ok := t.locker.(protocols.Preparer)
	if !ok {
		return false
	}
	t.acquires++
	u := &under{acquire: t.acquires, grants: []Grant{{Resource: t.resources[0]}}} // no grant, but every event is on a resource
	e := history.Event{Kind: history.Step, Name: faults.Prepared, Resource: u.name()}
	if err := p.Prepare(u.in(context.Background())); err != nil {
		e.Name, e.Detail = faults.NotPrepared, protocols.Reason(err)
	}
	t.record(e)
	return e.Name == faults.Prepared
}

// close closes the client, for a protocol that can.
func (t *tenure) close() bool {
	c, ok := t.locker.(protocols.Closer)
	if !ok {
		return false
	}
	t.acquires++
	u := &under{acquire: t.acquires, grants: []Grant{{Resource: t.resources[0]}}} // as for prepare
	e := history.Event{Kind: history.Step, Name: faults.Closed, Resource: u.name()}
	if err := c.Close(u.in(context.Background())); err != nil {
		e.Detail = protocols.Reason(err)
	}
	t.record(e)
	return true
}

func (l *held) extend(ttl time.Duration) {
	ops := l.call(history.Extend)
	l.returned(ops, history.Extend, l.lease.Extend(l.ctx(), ttl))
}

// acquire takes the lock that a step asks for. If it is not granted the others are released.
func (t *tenure) acquire(ctx context.Context, s *Step) bool {
	t.acquires++
	u := &under{acquire: t.acquires, thread: t.thread}
	var ops []int
	for _, name := range t.item.taken(s, t.resources) {
		ops = append(ops, t.host.NewOp())
		u.grants = append(u.grants, Grant{ops[len(ops)-1], name})
	}
	u.op = ops[0]
	ctx = u.in(ctx)
	t.attempt(ctx, 1)
	t.record(u.each(history.Event{Kind: history.Call, Func: history.Acquire}, ops)...)
	lease, err := t.lock(ctx, s, u.resources())
	if err != nil {
		t.record(u.each(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.Failed, Detail: protocols.Reason(err)}, ops)...)
		for i := len(t.locks) - 1; i >= 0; i-- {
			t.locks[i].unlock()
		}
		return false
	}
	t.locks = append(t.locks, &held{tenure: t, lease: lease, under: u})
	token, _ := lease.Token()
	t.record(u.each(history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Token: token}, ops)...)
	return true
}

// lock asks the protocol for the lock.
func (t *tenure) lock(ctx context.Context, s *Step, names []string) (protocols.Lease, error) {
	all, several := t.locker.(protocols.AllLocker)
	switch {
	case len(names) == 1 && s.Kind == LockStep:
		return t.locker.Lock(ctx, names[0], t.ttl)
	case len(names) == 1:
		return t.locker.TryLock(ctx, names[0], t.ttl)
	case !several:
		return nil, errSeveral
	case s.Kind == LockStep:
		return all.LockAll(ctx, names, t.ttl)
	}
	return all.TryLockAll(ctx, names, t.ttl)
}

// errSeveral is why a lock on several resources is not granted by a Locker of the caller's own.
var errSeveral = errors.New("this lock cannot take several resources at once")

// ctx is the context for calls that are about the lock held.
func (l *held) ctx() context.Context { return l.under.in(context.Background()) }

// call writes down that a call begins which is about the lock, and gives its operations, one for each resource.
func (l *held) call(f history.Func) []int {
	var ops []int
	for range l.under.grants {
		ops = append(ops, l.host.NewOp())
	}
	l.record(l.under.each(history.Event{Kind: history.Call, Func: f}, ops)...)
	l.under.op = ops[0]
	return ops
}

// returned writes down what came of such a call.
func (l *held) returned(ops []int, f history.Func, err error) {
	e := history.Event{Kind: history.Return, Func: f}
	e.Outcome, e.Detail = protocols.Outcome(err)
	l.record(l.under.each(e, ops)...)
}
