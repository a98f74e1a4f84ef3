// Package semaphore lets at most so many holders at a time do something: a lock with several permits.
//
//	pool, err := semaphore.New(client, "converters", 4)
//	permit, err := pool.Acquire(ctx, 10*time.Second)
//	defer permit.Unlock(context.Background())
//	convert(permit.Context())
//
// # Why there are never more
//
// Each permit is a lock of its own, "converters/1" to "converters/4", and whoever has one of them has a permit. A lock has one
// holder at a time, so four locks have at most four. Whatever makes package redlock safe makes this safe, on independent nodes
// and on one Redis, and whatever breaks it breaks this: read there what a lease is. A permit has all that a lease has.
//
// A node that counts permits by itself does not do on several nodes. Of three nodes with two permits each, where two of three
// must agree, three clients each get two: there are six permits on the nodes, and none sees more than two holders.
//
// # What it costs
//
// Who looks for a permit asks for one lock after another, from a random one on, until one is free: one round where few permits
// are taken, and as many as there are permits where all are. A caller that waits does that once in a retry delay. So a
// semaphore is for tens of permits, not for thousands.
package semaphore

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// MaxPermits is the largest number of permits of a Semaphore.
const MaxPermits = 256

// Locks is what a semaphore takes its permits with: a [*redlock.Client].
type Locks interface {
	TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error)
	During(ctx context.Context) (during context.Context, end func(), err error)
	RetryDelay() (min, max time.Duration)
	Runtime() driver.Runtime
}

// Semaphore has permits. It is safe for concurrent use. Goroutines that want the same permits should share one: they queue in
// it, first come, first served, and only the first asks the nodes.
type Semaphore struct {
	locks    Locks
	name     string
	slots    []string // the resource of each permit
	min, max time.Duration
	clock    driver.Clock
	rand     io.Reader
	queue    queue

	mu     sync.Mutex
	leases []*redlock.Lease // that were granted here, by slot; nil once released
	freed  []int            // slots that were released here and not granted since, the last one last
	news   bool             // one of them was released since a caller of the queue last looked
	inARow int              // grants since other processes had a chance
}

// New returns a semaphore. Its permits are the resources name/1, name/2 and so on: do not take locks on these otherwise. All
// who use it must give the same number. To raise the number is safe at any time. After it was lowered there may be as many
// holders as before, until those who have the permits above have ended.
func New(locks Locks, name string, permits int) (*Semaphore, error) {
	switch {
	case locks == nil:
		return nil, fmt.Errorf("%w: no locks", redlock.ErrInvalid)
	case name == "":
		return nil, fmt.Errorf("%w: the name of the semaphore is empty", redlock.ErrInvalid)
	case permits < 1 || permits > MaxPermits:
		return nil, fmt.Errorf("%w: %d permits, must be from 1 to %d", redlock.ErrInvalid, permits, MaxPermits)
	}
	on := locks.Runtime()
	s := &Semaphore{locks: locks, name: name, clock: on.Clock, rand: on.Rand, queue: queue{tasks: on.Tasks}, leases: make([]*redlock.Lease, permits)}
	s.min, s.max = locks.RetryDelay()
	for i := range permits {
		s.slots = append(s.slots, name+"/"+strconv.Itoa(i+1))
	}
	return s, nil
}

// Permit is one that was granted: a lease on the permit's resource.
type Permit struct {
	*redlock.Lease
	semaphore *Semaphore
	slot      int
}

// Unlock gives the permit back, as [redlock.Lease.Unlock] releases a lock, and lets the next caller that waits here have it.
func (p *Permit) Unlock(ctx context.Context) error {
	err := p.Lease.Unlock(ctx)
	p.vacate()
	return err
}

// Acquire takes a permit. Until ctx ends it looks for one that is free, with a random delay of [redlock.WithRetryDelay] in
// between; one that is given back here is found at once. After 16 grants in a row the callers here pause for a delay, so that
// other processes get their turn.
//
// Errors are as [redlock.Client.Lock] has them: an [*redlock.Error], about the semaphore, matches redlock.ErrTaken if all
// permits were taken, and what ended the call: the context's error, or redlock.ErrClosed.
func (s *Semaphore) Acquire(ctx context.Context, ttl time.Duration) (*Permit, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%w: nil context", redlock.ErrInvalid)
	}
	waiting, end, err := s.locks.During(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	place := s.queue.join()
	defer s.queue.leave(place)
	c := call{Semaphore: s, ttl: ttl, waits: true}
	if err := place.await(waiting); err != nil {
		return nil, c.because(err)
	}
	if err := s.giveWay(waiting, place); err != nil {
		return nil, c.because(err)
	}
	for {
		permit, err := c.look(ctx)
		if err == nil {
			s.count()
			return permit, nil
		}
		if !c.goesOn() {
			return nil, err
		}
		if err := s.rest(waiting, place, true); err != nil {
			return nil, c.because(err)
		}
	}
}

// TryAcquire looks for a permit once, without waiting for callers in the queue. Otherwise it works like [Semaphore.Acquire].
func (s *Semaphore) TryAcquire(ctx context.Context, ttl time.Duration) (*Permit, error) {
	if ctx == nil {
		return nil, fmt.Errorf("%w: nil context", redlock.ErrInvalid)
	}
	c := call{Semaphore: s, ttl: ttl}
	return c.look(ctx)
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
	defer permit.vacate()
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

// vacate notes that a permit was given back, if it was, and has a caller that waits look for it.
func (p *Permit) vacate() {
	if p.Context().Err() == nil {
		return // the call was refused
	}
	s := p.semaphore
	s.mu.Lock()
	if s.leases[p.slot] == p.Lease {
		s.leases[p.slot] = nil
		s.freed, s.news = append(s.freed, p.slot), true
	}
	s.mu.Unlock()
	s.queue.wake()
}
