package semaphore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/line"
	"redlocksim/internal/looks"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// call is one call that looks for a permit.
type call struct {
	*Semaphore
	ttl      time.Duration
	began    time.Time
	waiting  context.Context // ends with the call's, and when the client is closed
	place    line.Place      // in the line, if it waits there
	handed   []*slot         // permits that were handed on to it, if it waits
	attempts int
	last     *redlock.Error // why the last attempt failed, about the semaphore; nil: none was made
}

// begin admits a call. The caller must call end.
func (s *Semaphore) begin(ctx context.Context, ttl time.Duration) (c *call, end func(), err error) {
	c = &call{Semaphore: s, ttl: ttl, began: s.clock.Now()}
	c.waiting, end, err = s.lent.During(ctx, s.slots[len(s.slots)-1].resource, ttl)
	return c, end, s.ofSemaphore(err)
}

// join has the call stand in line.
func (c *call) join() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.place.Waiter = c.tasks.NewWaiter()
	c.line.Join(&c.place)
}

// leave lets the next one have its turn.
func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.Leave(&c.place)
	c.line.Wake()
}

// isFirst says that the call, which stands in line, has its turn.
func (c *call) isFirst() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.line.IsFirst(&c.place)
}

// whyEnded is why a call that waits must end; nil if it need not.
func whyEnded(ctx context.Context) error {
	if context.Cause(ctx) == redlock.ErrClosed {
		return redlock.ErrClosed
	}
	return ctx.Err()
}

// look asks for one permit after another until one is granted. Permits that are held here are left out. It ends early where the
// next attempt would fail as well.
func (c *call) look(ctx context.Context) (*Permit, error) {
	order, err := c.order()
	if err != nil {
		return nil, c.because(err)
	}
	usedUp := 0
	for i, slot := range order {
		if err := whyEnded(c.waiting); err != nil {
			return nil, c.because(err)
		}
		lease, err := c.locks.TryLock(looks.With(ctx, slot.resource, c.waited()), slot.resource, c.ttl)
		if err == redlock.ErrClosed { // just now: nothing was asked
			return nil, c.because(err)
		}
		c.attempts++
		if err == nil {
			return c.granted(slot, lease), nil
		}
		failed := (*redlock.Error)(nil)
		if !errors.As(err, &failed) { // which begin would have refused
			return nil, c.because(err)
		}
		if errors.Is(failed.Cause, redlock.ErrTokensUsedUp) {
			usedUp++
			c.passesOver(failed, usedUp, i+1)
		} else {
			c.fails(failed, ctx.Err())
		}
		if !isOfOne(failed) {
			break
		}
		c.notGranted(slot)
	}
	c.foundNone(len(order) > 0)
	if c.last != nil {
		return nil, c.last
	}
	return nil, c.because(nil)
}

// waited is for how long the call has been under way.
func (c *call) waited() time.Duration { return c.clock.Now().Sub(c.began) }

// ends returns what a call came to, of which it tells the observer if it is no permit.
func (c *call) ends(p *Permit, err error) (*Permit, error) {
	if err != nil {
		looks.GaveUp(c.waiting, c.name, c.waited(), err)
	}
	return p, err
}

// fails notes why an attempt failed. If the context ended in the middle of it, that says nothing new of the permits: the reason
// is that of the attempt before.
func (c *call) fails(failed *redlock.Error, ended error) {
	before := c.last
	c.last = c.about(failed, c.attempts)
	if before != nil && failed.Reason == nil && failed.Cause == ended {
		c.last.Reason = before.Reason
	}
}

// passesOver notes that one more permit has no fencing token left. The call fails for that only if it is so of all of them: the
// others may be given back.
func (c *call) passesOver(failed *redlock.Error, usedUp, asked int) {
	switch {
	case usedUp == len(c.slots):
		c.last = c.about(failed, c.attempts)
	case usedUp == asked: // no other was asked for in this look: all are held here
		c.last = &redlock.Error{Op: driver.OpAcquire, Resource: c.name, Attempts: c.attempts, Reason: redlock.ErrTaken}
	default:
		c.last.Attempts = c.attempts
	}
}

// isOfOne says whether an attempt for one permit can fail so although one for another is granted: somebody holds the first, or
// has votes for it, and enough nodes can vote for the other; or its fencing counter has no token left.
func isOfOne(failed *redlock.Error) bool {
	if failed.Cause != nil {
		return errors.Is(failed.Cause, redlock.ErrTokensUsedUp)
	}
	if failed.Reason == redlock.ErrTaken {
		return true
	}
	well, others := 0, false
	for _, n := range failed.Nodes {
		switch n.Outcome {
		case redlock.Declined, redlock.Behind:
			well, others = well+1, true
		case redlock.Accepted, redlock.Unanswered:
			well++
		}
	}
	return failed.Reason == redlock.ErrNoQuorum && others && 2*well > len(failed.Nodes)
}

// goesOn says whether the call can be granted a permit at another look.
func (c *call) goesOn() bool { return c.last == nil || c.last.Cause == nil }

// about is an error of a permit as one of the semaphore, after so many attempts.
func (s *Semaphore) about(failed *redlock.Error, attempts int) *redlock.Error {
	e := *failed
	e.Resource, e.Attempts = s.name, attempts
	return &e
}

// ofSemaphore is an error of one of the locks, as one of the semaphore.
func (s *Semaphore) ofSemaphore(err error) error {
	if failed := (*redlock.Error)(nil); errors.As(err, &failed) {
		return s.about(failed, failed.Attempts)
	}
	return err
}

// because is the error of a call that ends for that cause; nil if there is none but that all permits are held here. A call that
// never asked fails for the reason for which those here before it did.
func (c *call) because(cause error) *redlock.Error {
	e := redlock.Error{Op: driver.OpAcquire, Resource: c.name, Reason: c.whyNone()}
	if c.last != nil {
		e = *c.last
	}
	if e.Reason == nil && cause == nil {
		e.Reason = redlock.ErrTaken // all were held here when it looked
	}
	e.Cause = cause
	c.last = &e
	return c.last
}

// whyNone is why a caller that has not asked finds no permit; nil if that is not known.
func (s *Semaphore) whyNone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holdsAll() {
		return redlock.ErrTaken
	}
	return s.reason
}

// order is the permits to ask for: first those that were given back here, the last of them first, and then the others, starting
// from a random one, so that clients which come at the same time do not ask for the same.
func (c *call) order() ([]*slot, error) {
	s := c.Semaphore
	first, err := s.lent.Below(int64(len(s.slots)))
	if err != nil {
		return nil, fmt.Errorf("semaphore: drawing a permit: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	order := make([]*slot, 0, len(s.slots))
	add := func(slot *slot) {
		if !slot.isHeld() && !slices.Contains(order, slot) {
			order = append(order, slot)
		}
	}
	for _, slot := range slices.Backward(s.freed) {
		add(slot)
	}
	s.freed = s.freed[:0]
	if c.place.Waiter != nil {
		c.takeOver()
	}
	for i := range s.slots {
		add(&s.slots[(int(first)+i)%len(s.slots)])
	}
	return order, nil
}

// takeOver notes which permits were handed on to a call, which looks now. The semaphore is locked.
func (c *call) takeOver() {
	c.handed = c.handed[:0]
	for i := range c.slots {
		if slot := &c.slots[i]; slot.wasHanded {
			c.handed, slot.wasHanded = append(c.handed, slot), false
		}
	}
}

// foundNone notes that a look found no permit.
func (c *call) foundNone(asked bool) {
	s := c.Semaphore
	s.mu.Lock()
	defer s.mu.Unlock()
	if asked && c.last.Reason != nil { // otherwise it says nothing new
		s.reason = c.last.Reason
	}
}
