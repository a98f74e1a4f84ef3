package scenarios

import (
	"context"
	"slices"
	"time"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/scenarios/protocols"
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

// semaphore is what a step takes a permit of; empty if it takes a lock.
func (s *Scenario) semaphore(i *Item, step *Step) string {
	if names := i.Taken(step, s.Resources); step.takes() && len(names) == 1 && slices.Contains(s.Semaphores, names[0]) {
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
	asked := &protocols.PermitCall{Client: p.host.Name(), Semaphore: semaphore, Permits: p.permits[semaphore], TTL: p.ttl(s),
		Waits: s.Kind == LockStep, Context: ctx}
	asked.Try = func(ctx context.Context, resource string, ttl time.Duration, try func(context.Context) (protocols.Lease, error)) error {
		return p.try(ctx, asked, resource, ttl, try)
	}
	p.witness.Wants(asked)
	err := taker.Permit(ctx, asked)
	p.witness.Gets(asked, err)
	if err != nil {
		p.record(history.Event{Kind: history.Step, Name: faults.NoPermit, Resource: semaphore, Detail: protocols.Reason(err)})
		p.releaseAll()
	}
	return err == nil
}

// try records an attempt to take one permit as what it is: an attempt to take a lock.
func (p *program) try(ctx context.Context, c *protocols.PermitCall, resource string, ttl time.Duration, try func(context.Context) (protocols.Lease, error)) error {
	x := p.asksFor([]string{resource}, ttl, false)
	x.semaphore, x.call.Permit = c.Semaphore, c
	x.call.Context = x.in(ctx)
	p.witness.Called(&x.call)
	lease, err := try(x.call.Context)
	if err != nil {
		p.notGranted(x, err)
		return err
	}
	p.held(x).granted(x, lease)
	return nil
}
