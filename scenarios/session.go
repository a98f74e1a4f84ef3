package scenarios

import (
	"context"
	"errors"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/redlock"
	"redlocksim/sim"
)

// resource is the name of what the clients of a scenario contend for.
const resource = "R"

// session is a client process with the library in it. It writes down what it asks and is told.
type session struct {
	world   *sim.World
	process *sim.Process
	client  *redlock.Client
	ttl     time.Duration
	// guard is how long before the end of its lease the client stops sending effects: the worst pause and delay that
	// the budget allows between the check and the effect.
	guard    time.Duration
	acquires int
}

func newSession(w *sim.World, p *sim.Process, s *Scenario) (*session, error) {
	x := &session{world: w, process: p, ttl: s.Lock.TTL, guard: s.Budget.Pause + s.Budget.Delay}
	opts := append(s.Lock.options(),
		redlock.WithClock(p.LockClock()), redlock.WithTasks(p.Tasks()), redlock.WithRand(p.Rand()), redlock.WithObserver(x))
	var err error
	x.client, err = redlock.New(w.Nodes(p), opts...)
	return x, err
}

// record writes an event of this client down. If the event is where the timeline pauses or ends the process, the
// program stops here.
func (x *session) record(e history.Event) {
	e.Process = x.process.Name()
	if e.Resource == "" {
		e.Resource = resource
	}
	x.world.Record(e)
	x.process.Settle()
}

// under is the grant that calls of the library are made for; it travels in their context.
type under struct {
	grant   int // the Op of the acquire
	op      int // the operation under way
	acquire int // the number of the acquire in this client
	stop    func()
}

type underKey struct{}

// purpose is what random choices of an attempt are for.
func (x *session) purpose(acquire, attempt int) sim.Key {
	return x.world.Kernel.Draw("attempt").WithString(x.process.Name()).With(uint64(acquire)).With(uint64(attempt))
}

// Observe writes the library's steps down, and notes when belief in a grant begins and ends.
func (x *session) Observe(ctx context.Context, e redlock.Event) {
	u := ctx.Value(underKey{}).(*under)
	event := history.Event{Kind: history.Step, Name: e.Step.String(), Op: u.op, Grant: u.grant, Number: int64(e.Attempt), Span: int64(e.Validity)}
	switch e.Step {
	case redlock.Granted, redlock.Extended:
		x.believeUntil(u, e.Until)
	case redlock.NodeAnswered, redlock.Joined, redlock.TakenBack:
		event.Node, event.Detail = e.Node.Node, e.Node.Outcome.Of(e.Op)
		if e.Late || e.Step != redlock.NodeAnswered {
			event.Op = 0
		}
	case redlock.Lost:
		event.Op = 0
	case redlock.Retrying:
		event.Span = int64(e.Delay)
		x.process.Purpose(x.purpose(u.acquire, e.Attempt+1))
	case redlock.Denied:
		x.process.Purpose(x.purpose(u.acquire, e.Attempt).With(1))
	}
	if e.Err != nil {
		event.Detail = reason(e.Err)
	}
	x.record(event)
}

// believeUntil has the end of the believed window recorded when the lock clock first reads until.
func (x *session) believeUntil(u *under, until time.Time) {
	if u.stop != nil {
		u.stop()
	}
	u.stop = x.world.WhenBeliefEnds(x.process, until, func() {
		u.stop = nil
		if !x.process.Dead() {
			x.world.Record(history.Event{Kind: history.Expire, Process: x.process.Name(), Resource: resource, Grant: u.grant})
		}
	})
}

// reason is why a call of the library failed, in words that do not depend on the tier.
func reason(err error) string {
	var e *redlock.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	switch {
	case e.Reason != nil && e.Cause != nil:
		return e.Reason.Error() + ", " + e.Cause.Error()
	case e.Reason != nil:
		return e.Reason.Error()
	}
	return e.Cause.Error()
}

// run does the steps repeat times. When a lock is not granted the rest of the steps are left out.
func (x *session) run(steps []Step, repeat int) {
	for range repeat {
		hold := &tenure{session: x}
		for _, step := range steps {
			if !hold.do(step) {
				break
			}
		}
	}
}

// tenure is one pass through the steps of a program.
type tenure struct {
	*session
	lease *redlock.Lease
	under *under
}

func (t *tenure) do(s Step) (goOn bool) {
	switch s.Kind {
	case LockStep:
		clock := t.process.LockClock()
		ctx, cancel := clock.WithDeadline(context.Background(), clock.Now().Add(s.For))
		defer cancel()
		return t.acquire(ctx, t.client.Lock)
	case TryLockStep:
		return t.acquire(context.Background(), t.client.TryLock)
	case HoldStep:
		t.process.Sleep(t.lease.Context(), s.For)
	case SleepStep:
		t.process.Sleep(context.Background(), s.For)
	case WriteStep:
		t.write(func(op int) int64 { return int64(op) })
	case UpdateStep:
		if number, ok := t.read(); ok {
			t.write(func(int) int64 { return number + 1 })
		}
	case ExtendStep:
		op := t.call(history.Extend)
		t.under.op = op
		t.returned(op, history.Extend, t.lease.Extend(context.Background(), s.For))
	case UnlockStep:
		op := t.call(history.Release)
		t.under.op = op
		if t.under.stop != nil {
			t.under.stop()
			t.under.stop = nil
		}
		t.returned(op, history.Release, t.lease.Unlock(context.Background()))
	}
	return true
}

func (t *tenure) acquire(ctx context.Context, lock func(context.Context, string, time.Duration) (*redlock.Lease, error)) bool {
	t.acquires++
	u := &under{acquire: t.acquires}
	t.under = u
	t.process.Purpose(t.purpose(u.acquire, 1))
	op := t.world.NewOp()
	u.op, u.grant = op, op
	t.record(history.Event{Kind: history.Call, Func: history.Acquire, Op: op})
	lease, err := lock(context.WithValue(ctx, underKey{}, u), resource, t.ttl)
	if err != nil {
		t.record(history.Event{Kind: history.Return, Func: history.Acquire, Op: op, Outcome: history.Failed, Detail: reason(err)})
		return false
	}
	t.lease = lease
	t.record(history.Event{Kind: history.Return, Func: history.Acquire, Op: op, Outcome: history.OK, Grant: op})
	return true
}

func (t *tenure) call(f history.Func) int {
	op := t.world.NewOp()
	t.record(history.Event{Kind: history.Call, Func: f, Op: op, Grant: t.under.grant})
	return op
}

func (t *tenure) returned(op int, f history.Func, err error) {
	e := history.Event{Kind: history.Return, Func: f, Op: op, Grant: t.under.grant, Outcome: history.OK}
	switch {
	case errors.Is(err, redlock.ErrLost) || errors.Is(err, redlock.ErrReleased):
		e.Outcome, e.Detail = history.Failed, reason(err)
	case err != nil:
		e.Outcome, e.Detail = history.Unknown, reason(err)
	}
	t.record(e)
}

// sure makes sure of the lease, as a careful client does before each effect.
func (t *tenure) sure() bool {
	left := t.lease.Until().Sub(t.process.LockClock().Now())
	e := history.Event{Kind: history.Step, Name: faults.Checked, Grant: t.under.grant, Span: int64(left)}
	ok := t.lease.Context().Err() == nil && left > t.guard
	if !ok {
		e.Name = faults.Stopped
	}
	t.record(e)
	return ok
}

func (t *tenure) read() (int64, bool) {
	if !t.sure() {
		return 0, false
	}
	op := t.call(history.Read)
	number, outcome := t.world.Storage.Read(t.process, op, t.under.grant, resource)
	t.record(history.Event{Kind: history.Return, Func: history.Read, Op: op, Grant: t.under.grant, Outcome: outcome, Number: number})
	return number, outcome == history.OK
}

func (t *tenure) write(number func(op int) int64) {
	if !t.sure() {
		return
	}
	op := t.world.NewOp()
	n := number(op)
	t.record(history.Event{Kind: history.Call, Func: history.Write, Op: op, Grant: t.under.grant, Number: n})
	outcome := t.world.Storage.Write(t.process, op, t.under.grant, resource, n)
	t.record(history.Event{Kind: history.Return, Func: history.Write, Op: op, Grant: t.under.grant, Outcome: outcome, Number: n})
}
