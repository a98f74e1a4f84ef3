package scenarios

import (
	"context"
	"math"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
)

// Resource is the name of what the clients of a scenario contend for.
const Resource = "R"

// Host is what a client process offers to its programs: a process of the simulator, or one of the operating system.
type Host interface {
	protocols.Host
	// NewOp numbers an operation. No two of a run have the same number.
	NewOp() int
	// Record writes an event of this process down. If the timeline pauses or ends the process at it, the program stops there.
	Record(e history.Event)
	// Believe has the end of the believed window of a grant recorded when the lock clock first reads until. over is called
	// then by a host that knows of it at that moment; stop, if not nil, takes it back. A window that the host is told of
	// replaces the one before.
	Believe(grant int, until time.Time, over func()) (stop func())
	// Attempt says which attempt of which acquire of this process comes next: random bytes are drawn for it.
	Attempt(acquire, number int)
	// Access sends a request to the storage, the number-th under this acquire, and waits for the answer.
	Access(acquire, number int, e history.Event) history.Event
	// Stuck says that work under a lock does not end.
	Stuck() bool
	// Dead says that the process has crashed, for what goes on all the same until it waits next.
	Dead() bool
}

// Session is a client process with a protocol in it, in the simulator or outside of it. It writes down what it asks and is
// told.
type Session struct {
	host   Host
	clock  redlock.Clock
	locker protocols.Locker
	ttl    time.Duration
	// renewals is how often a lock is renewed at the most; 0 is without a limit.
	renewals int
	// guard is how long before the end of its lease the client stops sending effects: the worst pause and delay that
	// the budget allows between the check and the effect, and the time that messages take anyway.
	guard    time.Duration
	storage  sim.StorageKind
	acquires int
	threads  int
}

// NewSession makes the session of a process with the settings of a scenario. newLocker, if not nil, makes its lock instead of
// the scenario's protocol.
func NewSession(h Host, s *Scenario, newLocker func(protocols.Env) (protocols.Locker, error)) (*Session, error) {
	x := &Session{host: h, clock: h.LockClock(), ttl: s.Lock.TTL, renewals: s.Lock.Renewals, guard: s.Budget.Pause + s.Budget.Suspend + s.Budget.Delay + s.Network.Latency.Max(),
		storage: s.Storage.StorageKind}
	if newLocker == nil {
		protocol, _ := protocols.Find(string(s.Lock.Protocol))
		newLocker = protocol.New
	}
	var err error
	x.locker, err = newLocker(protocols.Env{Host: h, Settings: s.Lock, Step: x.step, Believe: x.believe, Disbelieve: x.disbelieve, Attempt: x.attempt, Thread: x.thread})
	return x, err
}

// record writes an event of this client down.
func (x *Session) record(e history.Event) {
	e.Process = x.host.Name()
	if e.Resource == "" {
		e.Resource = Resource
	}
	x.host.Record(e)
}

// under is the grant that calls of a protocol are made for; it travels in their context.
type under struct {
	grant   int // the Op of the acquire
	op      int // the operation under way
	acquire int // the number of the acquire in this client
	thread  int // the number of the program in this client
	// believes: its window has not ended. stop ends the watch for the end.
	believes bool
	stop     func()
}

type underKey struct{}

func grantOf(ctx context.Context) *under { return ctx.Value(underKey{}).(*under) }

// thread is the number of the program that ctx belongs to.
func (x *Session) thread(ctx context.Context) int { return grantOf(ctx).thread }

// attempt sets what random bytes are drawn for from now on.
func (x *Session) attempt(ctx context.Context, number int) {
	u := grantOf(ctx)
	x.host.Attempt(u.acquire, number)
}

// step writes a step of the protocol down.
func (x *Session) step(ctx context.Context, s protocols.Step) {
	u := grantOf(ctx)
	e := history.Event{Kind: history.Step, Name: s.Name, Op: u.op, Grant: u.grant, Node: s.Node, Number: int64(s.Attempt),
		Span: int64(s.Span), Detail: s.Detail}
	if s.Late {
		e.Op = 0
	}
	x.record(e)
}

// believe has the end of the believed window recorded when the lock clock first reads until; never if that is zero.
func (x *Session) believe(ctx context.Context, until time.Time) {
	u := grantOf(ctx)
	u.disbelieve()
	u.believes = true
	if !until.IsZero() {
		u.stop = x.host.Believe(u.grant, until, func() {
			u.stop = nil
			x.disbelieve(ctx, "")
		})
	}
}

// disbelieve records the end of the believed window now, if it has not ended yet.
func (x *Session) disbelieve(ctx context.Context, why string) {
	u := grantOf(ctx)
	if u.believes && !x.host.Dead() {
		x.host.Record(history.Event{Kind: history.Expire, Process: x.host.Name(), Resource: Resource, Grant: u.grant, Detail: why})
	}
	u.disbelieve()
}

// disbelieve ends the watch for the end of the believed window.
func (u *under) disbelieve() {
	u.believes = false
	if u.stop != nil {
		u.stop()
		u.stop = nil
	}
}

// Run does the steps repeat times. When a lock is not granted the rest of the steps are left out.
func (x *Session) Run(steps []Step, repeat int) {
	x.threads++
	thread := x.threads
	for range repeat {
		hold := &tenure{Session: x, thread: thread}
		for _, step := range steps {
			if !hold.do(step) {
				break
			}
		}
	}
}

// tenure is one pass through the steps of a program.
type tenure struct {
	*Session
	thread   int
	lease    protocols.Lease // nil if none is held
	under    *under
	outer    []held // what was held already when the lock was taken again, outermost first
	accesses int    // requests to the storage so far
	number   int64  // what was read last
	hasRead  bool   // and whether that succeeded
}

// held is a lock that a program has, and the grant.
type held struct {
	lease protocols.Lease
	under *under
}

func (t *tenure) do(s Step) (goOn bool) {
	switch s.Kind {
	case LockStep:
		ctx, cancel := t.clock.WithDeadline(context.Background(), t.clock.Now().Add(s.For))
		defer cancel()
		return t.acquire(ctx, t.locker.Lock)
	case TryLockStep:
		return t.acquire(context.Background(), t.locker.TryLock)
	case HoldStep:
		t.host.Sleep(t.lease.Context(), s.For)
	case SleepStep:
		t.host.Sleep(context.Background(), s.For)
	case WriteStep:
		t.access(history.Write, func(op int) int64 { return int64(op) })
	case WriteUncheckedStep:
		t.send(history.Write, func(op int) int64 { return int64(op) })
	case UpdateStep:
		t.read()
		t.writeBack()
	case ReadStep:
		t.read()
	case WriteBackStep:
		t.writeBack()
	case MarkStep:
		t.access(history.Mark, func(int) int64 { return int64(t.under.grant) })
	case ExtendStep:
		t.extend(s.For)
	case RenewStep:
		t.renew(s.For)
	case PrepareStep:
		return t.prepare()
	case UnlockStep:
		if tx, ok := t.lease.(protocols.Transaction); ok {
			tx.Commit(t.ctx())
		}
		op := t.call(history.Release)
		t.under.op = op
		t.under.disbelieve()
		t.returned(op, history.Release, t.lease.Unlock(t.ctx()))
		t.lease = nil
		if n := len(t.outer) - 1; n >= 0 {
			t.lease, t.under, t.outer = t.outer[n].lease, t.outer[n].under, t.outer[:n]
		}
	}
	return true
}

// prepare prepares the nodes, for a protocol that needs it.
func (t *tenure) prepare() bool {
	p, ok := t.locker.(protocols.Preparer)
	if !ok {
		return false
	}
	t.acquires++
	t.under = &under{acquire: t.acquires}
	e := history.Event{Kind: history.Step, Name: faults.Prepared}
	if err := p.Prepare(t.ctx()); err != nil {
		e.Name, e.Detail = faults.NotPrepared, protocols.Reason(err)
	}
	t.record(e)
	return e.Name == faults.Prepared
}

func (t *tenure) extend(ttl time.Duration) {
	op := t.call(history.Extend)
	t.under.op = op
	t.returned(op, history.Extend, t.lease.Extend(t.ctx(), ttl))
}

// renew works under the lock for d, which is extended every third of its TTL: the period of Redisson's watchdog. The
// shipped library does so by itself.
func (t *tenure) renew(d time.Duration) {
	if lease, ok := t.lease.(protocols.Renewer); ok {
		lease.Renew(t.ctx(), t.renewal(), func(ctx context.Context) {
			t.host.Sleep(ctx, d)
			for t.host.Stuck() && ctx.Err() == nil {
				t.host.Sleep(ctx, math.MaxInt64)
			}
		})
		return
	}
	end := t.clock.Now().Add(d)
	for n := 0; ; n++ {
		left := end.Sub(t.clock.Now())
		if t.host.Stuck() {
			left = math.MaxInt64
		}
		if left <= 0 || t.lease.Context().Err() != nil {
			return
		}
		if t.renewals > 0 && n >= t.renewals {
			t.host.Sleep(t.lease.Context(), left)
			return
		}
		t.host.Sleep(t.lease.Context(), min(left, t.ttl/3))
		if (t.clock.Now().Before(end) || t.host.Stuck()) && t.lease.Context().Err() == nil {
			t.extend(t.ttl)
		}
	}
}

// renewal has every extend of a protocol's own written down as one of this program, unless the client crashed at a step
// of it.
func (t *tenure) renewal() protocols.Renewal {
	var op int
	return protocols.Renewal{
		Limit:  t.renewals,
		Begins: func() { op = t.call(history.Extend); t.under.op = op },
		Ends: func(err error) {
			if !t.host.Dead() {
				t.returned(op, history.Extend, err)
			}
		},
	}
}

func (t *tenure) acquire(ctx context.Context, lock func(context.Context, string, time.Duration) (protocols.Lease, error)) bool {
	t.acquires++
	u, around := &under{acquire: t.acquires, thread: t.thread}, held{t.lease, t.under}
	t.under = u
	op := t.host.NewOp()
	u.op, u.grant = op, op
	ctx = context.WithValue(ctx, underKey{}, u)
	t.attempt(ctx, 1)
	t.record(history.Event{Kind: history.Call, Func: history.Acquire, Op: op})
	lease, err := lock(ctx, Resource, t.ttl)
	if err != nil {
		t.record(history.Event{Kind: history.Return, Func: history.Acquire, Op: op, Outcome: history.Failed, Detail: protocols.Reason(err)})
		return false
	}
	if around.lease != nil {
		t.outer = append(t.outer, around)
	}
	t.lease = lease
	token, _ := lease.Token()
	t.record(history.Event{Kind: history.Return, Func: history.Acquire, Op: op, Outcome: history.OK, Grant: op, Token: token})
	return true
}

// ctx is the context for calls that are about the lock held.
func (t *tenure) ctx() context.Context {
	return context.WithValue(context.Background(), underKey{}, t.under)
}

func (t *tenure) call(f history.Func) int {
	op := t.host.NewOp()
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: t.under.grant})
	return op
}

func (t *tenure) returned(op int, f history.Func, err error) {
	e := history.Event{Kind: history.Return, Func: f, Op: op, Grant: t.under.grant}
	e.Outcome, e.Detail = protocols.Outcome(err)
	t.record(e)
}

// sure makes sure of the lease, as a careful client does before each effect.
func (t *tenure) sure() bool {
	left := time.Duration(math.MaxInt64)
	if until := t.lease.Until(); !until.IsZero() {
		left = until.Sub(t.clock.Now())
	}
	e := history.Event{Kind: history.Step, Name: faults.Checked, Grant: t.under.grant, Span: int64(left)}
	ok := t.lease.Context().Err() == nil && left > t.guard
	if !ok {
		e.Name = faults.Stopped
	}
	t.record(e)
	return ok
}

// access makes sure of the lease and then sends a request to the storage. It returns what the storage made of it; false
// if it was not sent, not answered, or turned down.
func (t *tenure) access(f history.Func, number func(op int) int64) (int64, bool) {
	if !t.sure() {
		return 0, false
	}
	return t.send(f, number)
}

func (t *tenure) read() { t.number, t.hasRead = t.access(history.Read, nil) }

// writeBack writes one more than was read; nothing if the read failed.
func (t *tenure) writeBack() {
	if t.hasRead {
		t.access(history.Write, func(int) int64 { return t.number + 1 })
	}
}

// carriesToken says whether the shared resource has a place for a fencing token in a request.
func (t *tenure) carriesToken(f history.Func) bool {
	switch t.storage {
	case sim.Fenced:
		return true
	case sim.FencedWrites, sim.Table:
		return f == history.Write
	}
	return false
}

// send is access without making sure.
func (t *tenure) send(f history.Func, number func(op int) int64) (int64, bool) {
	op := t.host.NewOp()
	e := history.Event{Func: f, Op: op, Grant: t.under.grant, Resource: Resource}
	if t.carriesToken(f) {
		e.Token, _ = t.lease.Token()
	}
	tx, transactional := t.lease.(protocols.Transaction)
	if transactional {
		e.Node = tx.Node()
	}
	if number != nil {
		e.Number = number(op)
	}
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: e.Grant, Number: e.Number, Node: e.Node})
	t.accesses++
	var done history.Event
	if transactional {
		done = tx.Access(t.ctx(), e)
	} else {
		done = t.host.Access(t.under.acquire, t.accesses, e)
	}
	t.record(history.Event{Kind: history.Return, Func: f, Op: op, Grant: e.Grant, Outcome: done.Outcome, Number: done.Number, Node: e.Node})
	return done.Number, done.Outcome == history.OK
}
