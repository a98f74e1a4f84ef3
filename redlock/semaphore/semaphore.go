// Package semaphore limits how many holders can do something at a time: a lock with several permits.
//
//	pool, err := semaphore.New(client, "converters", 4)
//	permit, err := pool.Acquire(ctx, 10*time.Second)
//	if err != nil {
//		return err
//	}
//	defer permit.Unlock(context.Background())
//	convert(permit.Context())
//
// # Why there are never more
//
// Each permit is a lock of its own, "converters/1" to "converters/4", and whoever has one of them has a permit. A lock has one
// holder at a time, so four locks have at most four. Whatever makes package redlock safe makes this safe, on independent nodes
// and on one Redis, and whatever breaks it breaks this; see there for what a lease guarantees. A permit has all that a lease
// has.
//
// Letting each node count its permits does not work on several nodes. Of three nodes with two permits each, where two of three
// must agree, three clients each get two: there are six permits on the nodes, and none sees more than two holders.
//
// # What it costs
//
// A caller looking for a permit tries one lock after another, starting from a random one, until one is free: one round where
// few permits are taken, and as many as there are permits where all are. Callers that wait in a process do that together once
// in a retry delay. So a semaphore is for tens of permits, not for thousands.
package semaphore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"redlocksim/internal/line"
	"redlocksim/internal/looks"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// MaxPermits is the largest number of permits of a Semaphore.
const MaxPermits = 256

// Locks is what a semaphore takes its permits with: a [*redlock.Client], or something around one that says which, with a method
// Unwrap() *redlock.Client.
type Locks interface {
	Lock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error)
	TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error)
	Runtime() driver.Runtime
}

// Semaphore has permits. It is safe for concurrent use. Goroutines that want the same permits should share one: they queue in
// it, first come, first served, and only the first asks the nodes; [Semaphore.HoldAll] asks for each permit by itself.
type Semaphore struct {
	locks Locks
	lent  looks.Client
	name  string
	clock driver.Clock
	tasks driver.Tasks

	mu     sync.Mutex
	line   line.Line // of the callers of Acquire
	slots  []slot
	freed  []*slot // that were released here and not asked for since, the last one last
	reason error   // why the nodes last granted no permit; nil after a grant
	pace   pace
}

// New returns a semaphore. Its permits are the resources name/1, name/2 and so on, and [Semaphore.HoldAll] has name/all: do not
// take locks on these otherwise. All users must pass the same number. Raising it is safe at any time, unless somebody calls
// HoldAll with the number before, and so without the new permits. After it was lowered there may be as many holders as before,
// until the leases on the permits above have ended.
func New(locks Locks, name string, permits int) (*Semaphore, error) {
	switch {
	case locks == nil:
		return nil, fmt.Errorf("%w: no locks", redlock.ErrInvalid)
	case name == "":
		return nil, fmt.Errorf("%w: the name of the semaphore is empty", redlock.ErrInvalid)
	case permits < 1 || permits > MaxPermits:
		return nil, fmt.Errorf("%w: %d permits, must be from 1 to %d", redlock.ErrInvalid, permits, MaxPermits)
	}
	client, is := locks.(*redlock.Client)
	if around, wraps := locks.(interface{ Unwrap() *redlock.Client }); wraps {
		client, is = around.Unwrap(), true
	}
	if !is {
		return nil, fmt.Errorf("%w: a %T is no *redlock.Client and has no Unwrap() *redlock.Client", redlock.ErrInvalid, locks)
	}
	on := locks.Runtime()
	s := &Semaphore{locks: locks, lent: looks.Lent(client), name: name, clock: on.Clock, tasks: on.Tasks, slots: make([]slot, permits)}
	for i := range s.slots {
		s.slots[i].resource = name + "/" + strconv.Itoa(i+1)
	}
	return s, nil
}

// Permit is one that was granted: a lease on the permit's resource.
type Permit struct {
	*redlock.Lease
	semaphore *Semaphore
	slot      *slot
}

// Unlock gives the permit back, as [redlock.Lease.Unlock] releases a lock, and lets the next caller that waits here have it.
func (p *Permit) Unlock(ctx context.Context) error {
	if ctx == nil {
		return p.Lease.Unlock(ctx) // which refuses that
	}
	p.releases()
	defer p.vacate()
	return p.Lease.Unlock(ctx)
}

// Hold does work under the permit, as [redlock.Lease.Hold] does, and gives the permit back as Unlock does, also if it returns
// redlock.ErrInvalid.
func (p *Permit) Hold(ctx context.Context, r redlock.Renewal, work func(context.Context) error) error {
	defer p.vacate()
	if work == nil {
		return p.Lease.Hold(ctx, r, nil) // which refuses that
	}
	return p.Lease.Hold(ctx, r, func(ctx context.Context) error {
		defer p.releases()
		return work(ctx)
	})
}

// Acquire takes a permit. Until ctx ends it looks for one that is free, with a random delay of [redlock.WithRetryDelay] in
// between. When one is given back here, the first caller that waits looks at once. One that is given back elsewhere, or whose
// lease is lost, is found at the next look: [redlock.WithWakeUp] makes no difference. After 16 permits were handed on from
// caller to caller, each when no other was left, the callers here pause for a quarter longer than the longest such delay, so
// that other processes get their turn.
//
// Errors are as [redlock.Client.Lock] has them: an [*redlock.Error], about the semaphore, matches redlock.ErrTaken if all
// permits were taken, or another reason, and what ended the call: the context's error, or redlock.ErrClosed. A permit without
// fencing tokens is passed over; if no permit has any left, the call ends and the error matches redlock.ErrTokensUsedUp.
func (s *Semaphore) Acquire(ctx context.Context, ttl time.Duration) (*Permit, error) {
	c, end, err := s.begin(ctx, ttl)
	if err != nil {
		return nil, err
	}
	defer end()
	return c.ends(c.wait(ctx))
}

// wait takes a permit when it is the call's turn.
func (c *call) wait(ctx context.Context) (*Permit, error) {
	s := c.Semaphore
	c.join()
	defer c.leave()
	for !c.isFirst() {
		if err := whyEnded(c.waiting); err != nil {
			return nil, c.because(err)
		}
		c.place.Waiter.Wait(c.waiting)
	}
	for {
		if err := c.rest(); err != nil {
			return nil, c.because(err)
		}
		permit, err := c.look(ctx)
		if err == nil {
			s.count(slices.Contains(c.handed, permit.slot))
			return permit, nil
		}
		if !c.goesOn() {
			return nil, err
		}
		if err := s.pauses(); err != nil {
			return nil, c.because(err)
		}
	}
}

// TryAcquire looks for a permit once, without waiting for callers in the queue. Otherwise it works like [Semaphore.Acquire].
func (s *Semaphore) TryAcquire(ctx context.Context, ttl time.Duration) (*Permit, error) {
	c, end, err := s.begin(ctx, ttl)
	if err != nil {
		return nil, err
	}
	defer end()
	return c.ends(c.look(ctx))
}

// Hold does work under a permit: it acquires one, renews it while work runs, and gives it back, as [redlock.Client.Hold] does
// with a lock.
func (s *Semaphore) Hold(ctx context.Context, ttl time.Duration, r redlock.Renewal, work func(context.Context, *Permit) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", redlock.ErrInvalid)
	}
	if err := r.Check(ttl); err != nil {
		return err
	}
	permit, err := s.acquireWithin(ctx, r.Wait, ttl)
	if err != nil {
		return err
	}
	return permit.Hold(ctx, r, func(ctx context.Context) error { return work(ctx, permit) })
}

// acquireWithin is Acquire for at most that long; zero means as long as ctx lasts.
func (s *Semaphore) acquireWithin(ctx context.Context, wait, ttl time.Duration) (*Permit, error) {
	if wait != 0 {
		until, cancel := s.clock.WithDeadline(ctx, s.clock.Now().Add(wait))
		defer cancel()
		ctx = until
	}
	return s.Acquire(ctx, ttl)
}
