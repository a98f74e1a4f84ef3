package semaphore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// localGrants is how many grants in a row go to callers here, before other processes get their turn.
const localGrants = 16

// call is one call that looks for a permit.
type call struct {
	*Semaphore
	ttl      time.Duration
	waits    bool // it is one of the queue
	attempts int
	last     *redlock.Error // why the last attempt failed, about the semaphore; nil: none was made
}

// look asks for one permit after another until one is granted. Permits that are held here are left out. It ends early with an
// attempt that failed for another reason than that the permit is taken: the next would fail as well.
func (c *call) look(ctx context.Context) (*Permit, error) {
	order, err := c.order()
	if err != nil {
		return nil, c.because(err)
	}
	for _, slot := range order {
		c.attempts++
		lease, err := c.locks.TryLock(ctx, c.slots[slot], c.ttl)
		if err == nil {
			return c.granted(slot, lease), nil
		}
		failed := (*redlock.Error)(nil)
		if !errors.As(err, &failed) { // a wrong argument, or a closed client
			c.last = nil
			return nil, err
		}
		c.last = c.about(failed)
		if failed.Cause != nil || failed.Reason != redlock.ErrTaken {
			return nil, c.last
		}
	}
	if len(order) > 0 {
		c.hasGivenWay() // other processes have all permits that are not held here
	}
	return nil, c.because(nil)
}

// goesOn says whether the failure of the last look can be another's at the next.
func (c *call) goesOn() bool { return c.last != nil && c.last.Cause == nil }

// about is an error of a permit as one of the semaphore.
func (c *call) about(failed *redlock.Error) *redlock.Error {
	e := *failed
	e.Resource, e.Attempts = c.name, c.attempts
	return &e
}

// because is the error of a call that ends for that cause; nil if there is none but that all permits are taken. One that never
// asked found them taken by others here.
func (c *call) because(cause error) *redlock.Error {
	if c.last == nil {
		c.last = &redlock.Error{Op: driver.OpAcquire, Resource: c.name, Reason: redlock.ErrTaken}
	}
	e := *c.last
	e.Cause = cause
	c.last = &e
	return c.last
}

// order is the permits to ask for: first those that were given back here, the last of them first, and then the others, from a
// random one on, so that clients which come at the same time do not ask for the same.
func (c *call) order() ([]int, error) {
	s := c.Semaphore
	first, err := s.draw(uint64(len(s.slots)))
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = s.news && !c.waits
	order := make([]int, 0, len(s.slots))
	add := func(slot int) {
		if !isHeld(s.leases[slot]) && !slices.Contains(order, slot) {
			order = append(order, slot)
		}
	}
	for _, slot := range slices.Backward(s.freed) {
		add(slot)
	}
	for i := range s.slots {
		add((int(first) + i) % len(s.slots))
	}
	return order, nil
}

// granted notes that a permit is held here.
func (s *Semaphore) granted(slot int, lease *redlock.Lease) *Permit {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[slot] = lease
	s.freed = slices.DeleteFunc(s.freed, func(freed int) bool { return freed == slot })
	return &Permit{lease, s, slot}
}

// count counts a grant to a caller of the queue.
func (s *Semaphore) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inARow++
}

// giveWay has the callers here pause after many grants in a row, while a permit is free.
func (s *Semaphore) giveWay(ctx context.Context, p *place) error {
	for {
		due, isFree := s.mustGiveWay()
		if !due {
			return nil
		}
		if err := s.rest(ctx, p, !isFree); err != nil {
			return err // the next waits for a whole delay
		}
		if isFree {
			s.hasGivenWay()
		}
	}
}

// mustGiveWay says whether the callers here must pause, and whether another process could have a permit then.
func (s *Semaphore) mustGiveWay() (due, isFree bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.news = false // a permit that is given back from now on ends the wait for one
	return s.inARow >= localGrants, slices.ContainsFunc(s.leases, func(l *redlock.Lease) bool { return !isHeld(l) })
}

// isHeld says whether a lease has not ended.
func isHeld(l *redlock.Lease) bool { return l != nil && l.Context().Err() == nil }

// hasGivenWay notes that other processes had their turn.
func (s *Semaphore) hasGivenWay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inARow = 0
}

// rest waits for a random delay, and if newsMatters not after a permit was given back here. It returns why the call ends.
func (s *Semaphore) rest(ctx context.Context, p *place, newsMatters bool) error {
	extra, err := s.draw(uint64(s.max-s.min) + 1)
	if err != nil {
		return err
	}
	delay := s.min + time.Duration(extra)
	until := s.clock.Now().Add(delay)
	timer := s.clock.AfterFunc(delay, p.waiter.Wake)
	defer timer.Stop()
	for ctx.Err() == nil && s.clock.Now().Before(until) {
		if newsMatters && s.hasNews() {
			return nil
		}
		p.waiter.Wait(ctx)
	}
	return whyEnded(ctx)
}

// hasNews says that a permit was given back here since a caller of the queue last looked.
func (s *Semaphore) hasNews() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.news
}

// draw is a random number below n.
func (s *Semaphore) draw(n uint64) (uint64, error) {
	var raw [8]byte
	if _, err := io.ReadFull(s.rand, raw[:]); err != nil {
		return 0, fmt.Errorf("semaphore: drawing a random number: %w", err)
	}
	return binary.LittleEndian.Uint64(raw[:]) % n, nil
}
