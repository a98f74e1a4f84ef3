package scenarios

import (
	"context"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// Run does the steps of an item, as often as it says. When a lock is not granted the rest of the steps are left out, and
// the locks that are held are released, the last first, unless the step says that the client goes on anyway.
func (x *Session) Run(item *Item) {
	x.threads++
	thread := x.threads
	for range max(item.Repeat, 1) {
		life, end := x.clock.WithCancel(context.Background())
		p := &program{Session: x, item: item, thread: thread, life: life, numbers: map[string]seen{}}
		for i := range item.Do {
			if s := &item.Do[i]; !s.Kind.shape().do(p, s) {
				break
			}
		}
		end(nil)
	}
}

// program is one pass through the steps of an item.
type program struct {
	*Session
	item *Item
	// life is the context that its calls are made in. As that of most programs it can end, and outlasts them.
	life     context.Context
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

// onLock is a step about a lock that is held, after which the client goes on.
func onLock(do func(*held, *Step)) func(*program, *Step) bool {
	return func(p *program, s *Step) bool {
		do(p.about(s), s)
		return true
	}
}

// reaching is one that has an effect on a resource.
func reaching(do func(*held, Grant)) func(*program, *Step) bool {
	return onLock(func(l *held, s *Step) { do(l, l.grantFor(s)) })
}

func (p *program) waits(s *Step) bool {
	ctx, cancel := p.clock.WithDeadline(p.life, p.clock.Now().Add(s.For))
	defer cancel()
	return p.take(ctx, s)
}

func (p *program) tries(s *Step) bool { return p.take(p.life, s) }

// takesInOneCall takes a lock or a permit, works under it and releases it in one call.
func (p *program) takesInOneCall(s *Step) bool {
	if semaphore := p.asksPermit(s); semaphore != "" {
		return p.withPermit(s, semaphore)
	}
	return p.withLock(s)
}

func (p *program) sleeps(s *Step) bool {
	p.host.Sleep(context.Background(), s.For)
	return true
}

// take takes what a step asks for: a lock, or a permit of a semaphore.
func (p *program) take(ctx context.Context, s *Step) bool {
	if semaphore := p.asksPermit(s); semaphore != "" {
		return p.permit(ctx, s, semaphore)
	}
	return p.acquire(ctx, s)
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
	asked := &protocols.Call{Func: protocols.PrepareCall, Client: p.host.Name(), Context: ctx}
	trace.Tell(p.events, protocols.Called{Call: asked})
	err := preparer.Prepare(ctx)
	trace.Tell(p.events, protocols.Returned{Call: asked, Err: err})
	if err != nil {
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
	asked := &protocols.Call{Func: protocols.CloseCall, Client: p.host.Name(), Context: ctx}
	trace.Tell(p.events, protocols.Called{Call: asked})
	err := c.Close(ctx)
	trace.Tell(p.events, protocols.Returned{Call: asked, Err: err})
	if err != nil {
		e.Detail = protocols.Reason(err)
	}
	p.record(e)
	return true
}

// newClient makes another client in the place of the one before.
func (p *program) newClient(*Step) bool {
	asked := &protocols.Call{Func: protocols.NewClientCall, Client: p.host.Name()}
	trace.Tell(p.events, protocols.Called{Call: asked})
	err := p.begin()
	trace.Tell(p.events, protocols.Returned{Call: asked, Err: err})
	if err != nil {
		return false // which it was not for the same settings before
	}
	p.record(history.Event{Kind: history.Step, Name: faults.NewClient, Resource: p.ofClient().name()})
	return true
}
