package scenarios

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// Host is what a client process offers to its programs: a process of the simulator, or one of the operating system.
type Host interface {
	protocols.Host
	// NewOp numbers an operation. No two of a run have the same number.
	NewOp() int
	// Record writes an event of this process down. If the timeline pauses or ends the process at it, the program stops there.
	Record(e history.Event)
	// RecordAll is Record for one or more events that happen at the same time.
	RecordAll(events []history.Event)
	// Believe has the end of the believed windows of grants, which one call was given, recorded when the lock clock first
	// reads until. over is called then by a host that knows of it at that moment; stop, if not nil, takes it back. A window
	// that the host is told of replaces the one before.
	Believe(grants []Grant, until time.Time, over func()) (stop func())
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
	host      Host
	clock     driver.Clock
	locker    protocols.Locker
	newLocker func() (protocols.Locker, error)
	events    *trace.Stream // nil outside of the simulator
	scenario  *Scenario
	acquires  int
	threads   int
}

// NewSession makes the session of a process with the settings of a scenario. foreign, if not nil, is the lock in the place of
// the scenario's protocol, and events, if not nil, are those of the run.
func NewSession(h Host, s *Scenario, foreign *Foreign, events *trace.Stream) (*Session, error) {
	x := &Session{host: h, events: events, clock: h.LockClock(), scenario: s}
	protocol, _ := protocols.Find(s.Lock.Protocol)
	newLocker := protocol.New
	if foreign != nil {
		newLocker = foreign.New
	}
	x.newLocker = func() (protocols.Locker, error) {
		return newLocker(protocols.Env{Host: h, Settings: s.Lock, FirstNode: s.FirstNode(), Events: events, Step: x.step, Believe: x.believe,
			Disbelieve: x.disbelieve, Attempt: x.attempt, Thread: x.thread})
	}
	return x, x.begin()
}

// begin makes a lock of the session's own, in the place of the one before.
func (x *Session) begin() (err error) {
	x.locker, err = x.newLocker()
	return err
}

// record writes an event of this client down.
func (x *Session) record(e history.Event) {
	e.Process = x.host.Name()
	x.host.Record(e)
}

// recordEach writes an event down for every grant. ops are the operations, if the event belongs to a call.
func (x *Session) recordEach(a *acquisition, e history.Event, ops []int) {
	e.Process = x.host.Name()
	if len(a.grants) == 1 { // as nearly always: a slice would be on the heap
		x.host.Record(a.event(0, e, ops))
		return
	}
	all := make([]history.Event, len(a.grants))
	for i := range all {
		all[i] = a.event(i, e, ops)
	}
	x.host.RecordAll(all)
}

// thread is the number of the program that ctx belongs to.
func (x *Session) thread(ctx context.Context) int { return acquisitionOf(ctx).thread }

// attempt sets what random bytes are drawn for from now on.
func (x *Session) attempt(ctx context.Context, number int) {
	a := acquisitionOf(ctx)
	x.host.Attempt(a.acquire, number)
}

// step writes a step of the protocol down.
func (x *Session) step(ctx context.Context, s protocols.Step) {
	a := acquisitionOf(ctx)
	e := history.Event{Kind: history.Step, Name: s.Name, Op: a.op, Resource: a.name(), Grant: a.grant(), Node: s.Node, Number: int64(s.Attempt),
		Span: int64(s.Span), Detail: s.Detail}
	if s.Late {
		e.Op = 0
	}
	x.record(e)
}

// believe has the end of the believed window recorded when the lock clock first reads until; never if that is zero.
func (x *Session) believe(ctx context.Context, until time.Time) {
	a := acquisitionOf(ctx)
	a.disbelieve()
	a.believes = true
	if !until.IsZero() {
		a.stop = x.host.Believe(a.grants, until, func() {
			a.stop = nil
			x.disbelieve(ctx, "")
		})
	}
}

// disbelieve records the end of the believed window now, if it has not ended yet.
func (x *Session) disbelieve(ctx context.Context, why string) {
	a := acquisitionOf(ctx)
	if a.believes && !x.host.Dead() {
		x.recordEach(a, history.Event{Kind: history.Expire, Detail: why}, nil)
	}
	a.disbelieve()
}
