package scenarios

import (
	"context"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/trace"
)

// semaphores looks at the names of semaphores, and whether there are resources for their permits.
func (c *check) semaphores() {
	if len(c.s.Semaphores) == 0 {
		return
	}
	n := child(c.n, "semaphores")
	c.names(n, c.s.Semaphores, maxResources, "semaphore")
	if !c.s.Lock.Capabilities().Permits {
		c.d.Errorf(n, "", nil, "protocol %s has no semaphores", c.s.Lock.Protocol)
	}
	for _, name := range c.s.Semaphores {
		for _, resource := range c.s.Resources {
			if resource != name && (checker.Semaphore{Name: name}).Has(resource) && !slices.Contains(c.s.PermitsOf(name), resource) {
				c.d.Errorf(child(c.n, "resources"), resource, nil, "is no permit of %s: they are numbered from 1 on, without a gap", name)
			}
		}
		switch {
		case slices.Contains(c.s.Resources, name):
			c.d.Errorf(n, name, nil, "is the name of a semaphore and of a resource")
		case !resourceName.MatchString(name):
			c.d.Errorf(n, name, nil, "cannot be the name of a semaphore: it has a comma, or begins as a length does, with a digit, a sign or a dot")
		case c.s.Permits(name) == 0:
			c.d.Errorf(n, name, nil, `has no permit: list them among the resources, as "%s/1", "%s/2" and so on`, name, name)
		}
	}
}

// semaphore is what a step takes a permit of; empty if it takes a lock, or nothing.
func (s *Scenario) semaphore(i *Item, step *Step) string {
	if names := i.Taken(step, s.Resources); step.is(takes) && len(names) == 1 && slices.Contains(s.Semaphores, names[0]) {
		return names[0]
	}
	return ""
}

// TakesPermits says whether a step of the timeline takes a permit of a semaphore.
func (s *Scenario) TakesPermits() bool {
	for i := range s.Timeline {
		item := &s.Timeline[i]
		if slices.ContainsFunc(item.Do, func(step Step) bool { return s.semaphore(item, &step) != "" }) {
			return true
		}
	}
	return false
}

// permit takes a permit of a semaphore.
func (p *program) permit(ctx context.Context, s *Step, semaphore string) bool {
	taker, ok := p.locker.(protocols.Semaphores)
	if !ok {
		return false
	}
	ctx, done := s.in(ctx, p.clock)
	defer done()
	asked := p.permitCall(ctx, s, semaphore, nil)
	err := p.tellsPermits(asked, func() error { return taker.Permit(ctx, asked) })
	if err != nil {
		p.noPermit(semaphore, err)
	}
	return err == nil
}

// tellsPermits is tells for permits.
func (p *program) tellsPermits(c *protocols.PermitCall, call func() error) error {
	trace.Tell(p.events, protocols.PermitCalled{PermitCall: c})
	err := call()
	trace.Tell(p.events, protocols.PermitReturned{PermitCall: c, Err: err})
	return err
}

// permitCall is a step's call for a permit. If it renews and releases what it is granted, renewal is how.
func (p *program) permitCall(ctx context.Context, s *Step, semaphore string, renewal func(*held) protocols.Renewal) *protocols.PermitCall {
	asked := &protocols.PermitCall{Client: p.host.Name(), Semaphore: semaphore, Permits: p.scenario.Permits(semaphore), TTL: p.ttl(s),
		Waits: s.Kind == LockStep || s.Kind == WithLockStep, All: s.Kind == WithAllStep, Renewal: p.renewal(s), Context: ctx}
	asked.Try = func(ctx context.Context, resource string, ttl time.Duration, try func(context.Context) (protocols.Lease, error)) error {
		return p.try(ctx, asked, resource, ttl, try, renewal)
	}
	return asked
}

// noPermit ends a call for permits that were not granted. The locks that are held are released.
func (p *program) noPermit(semaphore string, err error) {
	p.record(history.Event{Kind: history.Step, Name: faults.NoPermit, Resource: semaphore, Detail: protocols.Reason(err)})
	p.releaseAll()
}

// withPermit takes a permit of a semaphore, works under it and gives it back in one call.
func (p *program) withPermit(s *Step, semaphore string) bool {
	holder, ok := p.locker.(protocols.PermitHolder)
	if !ok {
		return false
	}
	ctx, done := s.in(p.ofClient().in(p.life), p.clock)
	defer done()
	one := &oneCall{step: s, caller: ctx}
	asked := p.permitCall(ctx, s, semaphore, func(l *held) protocols.Renewal {
		one.takes(l)
		return one.renewal
	})
	asked.Work = func(own context.Context) error {
		trace.Tell(p.events, protocols.PermitReturned{PermitCall: asked})
		return one.does(own)
	}
	trace.Tell(p.events, protocols.PermitCalled{PermitCall: asked})
	err := one.Catch(func() error { return holder.HoldPermit(ctx, asked) })
	if !one.begun {
		trace.Tell(p.events, protocols.PermitReturned{PermitCall: asked, Err: err})
		p.noPermit(semaphore, err)
		return false
	}
	trace.Tell(p.events, protocols.WorkReturned{Work: &one.Work, Err: err})
	one.gone()
	return true
}

// withAll takes all permits of a semaphore, works under them and gives them back in one call.
func (p *program) withAll(s *Step) bool {
	holder, ok := p.locker.(protocols.PermitHolder)
	if !ok {
		return false
	}
	ctx, done := s.in(p.life, p.clock)
	defer done()
	semaphore := p.item.Taken(s, p.scenario.Resources)[0]
	asked := p.permitCall(ctx, s, semaphore, func(l *held) protocols.Renewal { return l.keeping(s) })
	begun, before := false, len(p.locks)
	asked.Work = func(own context.Context) (err error) {
		begun = true
		trace.Tell(p.events, protocols.AllBegun{PermitCall: asked, In: own})
		all := slices.Clone(p.locks[before:])
		updateEach(all)
		p.works(own, s.For)
		updateEach(all)
		if own.Err() != nil {
			err = errStopped
		}
		trace.Tell(p.events, protocols.AllDone{PermitCall: asked, Err: err})
		return err
	}
	if err := p.tellsPermits(asked, func() error { return holder.HoldAll(ctx, asked) }); !begun {
		p.noPermit(semaphore, err)
	}
	return begun
}

// updateEach updates what each lock is on.
func updateEach(locks []*held) {
	for _, l := range locks {
		l.update(l.acquisition.grants[0])
	}
}

// try records an attempt to take one permit as what it is: an attempt to take a lock.
func (p *program) try(ctx context.Context, c *protocols.PermitCall, resource string, ttl time.Duration,
	try func(context.Context) (protocols.Lease, error), renewal func(*held) protocols.Renewal) error {
	x := p.asksFor([]string{resource}, ttl, c.All)
	x.call.Permit = c
	if resource != protocols.AllOf(c.Semaphore) {
		x.semaphore = c.Semaphore
	}
	x.call.Context = x.in(ctx)
	if !p.host.Dead() { // a task of the library goes on until it waits
		trace.Tell(p.events, protocols.Called{Call: &x.call})
	}
	lease, err := try(x.call.Context)
	if err != nil {
		p.notGranted(x, err)
		return err
	}
	l := p.held(x)
	l.granted(x, lease)
	if kept, is := lease.(protocols.Kept); is && renewal != nil {
		kept.Keeps(x.call.Context, renewal(l))
	}
	return nil
}

// keeping has the renewals and the release of a permit, which the call that took it makes, written down as this program's.
func (l *held) keeping(s *Step) protocols.Renewal {
	r := l.watched(s)
	l.releases(&r, func() context.Context { return nil })
	released := r.Released
	r.Released = func(err error) {
		released(err)
		l.gone()
	}
	return r
}
