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
		p := &program{Session: x, item: item, thread: thread, life: life, numbers: map[string]seen{}, versions: map[string]int{}}
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
	// versions are the operations that returned the version of a resource last, by resource.
	versions map[string]int
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
	if semaphore := p.scenario.semaphore(p.item, s); semaphore != "" {
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
	if semaphore := p.scenario.semaphore(p.item, s); semaphore != "" {
		return p.permit(ctx, s, semaphore)
	}
	return p.acquire(ctx, s)
}

// prepare prepares the nodes, for a protocol that needs it.
func (p *program) prepare(s *Step) bool {
	preparer, ok := p.locker.(protocols.Preparer)
	return ok && p.onClient(s, protocols.PrepareCall, preparer.Prepare, faults.Prepared, faults.NotPrepared)
}

// close closes the client, for a protocol that can.
func (p *program) close(s *Step) bool {
	closer, ok := p.locker.(protocols.Closer)
	return ok && p.onClient(s, protocols.CloseCall, closer.Close, faults.Closed, faults.Closed)
}

// onClient makes a call that is about the client. done and failed are what is written down then; the client goes on unless they
// differ and it failed.
func (p *program) onClient(s *Step, f protocols.CallFunc, call func(context.Context) error, done, failed string) bool {
	a := p.ofClient()
	ctx, end := s.in(a.in(context.Background()), p.clock)
	defer end()
	e := history.Event{Kind: history.Step, Name: done, Resource: a.name()}
	err := p.tells(&protocols.Call{Func: f, Client: p.host.Name(), Context: ctx}, func() error { return call(ctx) })
	if err != nil {
		e.Name, e.Detail = failed, protocols.Reason(err)
	}
	p.record(e)
	return e.Name == done
}

// newClient makes another client in the place of the one before.
func (p *program) newClient(*Step) bool {
	if p.tells(&protocols.Call{Func: protocols.NewClientCall, Client: p.host.Name()}, p.begin) != nil {
		return false // which it was not for the same settings before
	}
	p.record(history.Event{Kind: history.Step, Name: faults.NewClient, Resource: p.ofClient().name()})
	return true
}

// tells makes a call, and tells the readers of the run of it.
func (p *program) tells(c *protocols.Call, call func() error) error {
	trace.Tell(p.events, protocols.Called{Call: c})
	err := call()
	trace.Tell(p.events, protocols.Returned{Call: c, Err: err})
	return err
}
