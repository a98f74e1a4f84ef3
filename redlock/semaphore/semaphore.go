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
	Lock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error)
	TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error)
	During(ctx context.Context, resource string, ttl time.Duration) (during context.Context, end func(), err error)
	RetryDelay() (min, max time.Duration)
	Runtime() driver.Runtime
}

// Semaphore has permits. It is safe for concurrent use. Goroutines that want the same permits should share one: they queue in
// it, first come, first served, and only the first asks the nodes; [Semaphore.HoldAll] asks for each permit by itself.
type Semaphore struct {
	locks    Locks
	name     string
	slots    []string // the resource of each permit
	min, max time.Duration
	clock    driver.Clock
	tasks    driver.Tasks
	rand     io.Reader
	queue    queue

	mu     sync.Mutex
	leases []*redlock.Lease // that were granted here, by slot; nil once released
	freed  []int            // slots that were released here and not asked for since, the last one last
	ending []bool           // by slot: it is being released, and nobody here need ask for it before that is over
	handed []bool           // by slot: it was released while a caller waited here, and no caller has looked since
	reason error            // why the last look found no permit; nil if it did
	pace   pace
	// elsewhere says, by slot, that the permit could not be had when it was last asked for.
	elsewhere []bool
	given     []time.Time // by slot: when it was given back here, the last time
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
	on := locks.Runtime()
	s := &Semaphore{locks: locks, name: name, clock: on.Clock, tasks: on.Tasks, rand: on.Rand, queue: queue{tasks: on.Tasks}, leases: make([]*redlock.Lease, permits),
		ending: make([]bool, permits), handed: make([]bool, permits), elsewhere: make([]bool, permits), given: make([]time.Time, permits)}
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
	if ctx == nil {
		return p.Lease.Unlock(ctx) // which refuses that
	}
	p.releases()
	defer p.vacate()
	return p.Lease.Unlock(ctx)
}

// Hold does work under the permit, as [redlock.Lease.Hold] does, and gives the permit back as Unlock does.
func (p *Permit) Hold(ctx context.Context, r redlock.Renewal, work func(context.Context) error) error {
	defer p.vacate()
	return p.Lease.Hold(ctx, r, func(ctx context.Context) error {
		defer p.releases()
		return work(ctx)
	})
}

// Acquire takes a permit. Until ctx ends it looks for one that is free, with a random delay of [redlock.WithRetryDelay] in
// between. When one is given back here, the first caller that waits looks at once. One that is given back elsewhere, or whose
// lease is lost, is found at the next look: [redlock.WithWakeUp] makes no difference. After 16 permits were handed on from
// caller to caller, each when no other was left, the callers here pause for the longest such delay, so that other processes get
// their turn.
//
// Errors are as [redlock.Client.Lock] has them: an [*redlock.Error], about the semaphore, matches redlock.ErrTaken if all
// permits were taken, or another reason, and what ended the call: the context's error, or redlock.ErrClosed.
func (s *Semaphore) Acquire(ctx context.Context, ttl time.Duration) (*Permit, error) {
	c, end, err := s.begin(ctx, ttl)
	if err != nil {
		return nil, err
	}
	defer end()
	c.handed = make([]bool, len(s.slots))
	place := s.queue.join()
	defer s.queue.leave(place)
	if err := place.await(c.waiting); err != nil {
		return nil, c.because(err)
	}
	for {
		if err := s.rest(c.waiting, place); err != nil {
			return nil, c.because(err)
		}
		permit, err := c.look(ctx)
		if err == nil {
			s.count(c.handed[permit.slot])
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

// releases notes that a permit is being released.
func (p *Permit) releases() {
	s := p.semaphore
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[p.slot] == p.Lease { // and was not granted to another since
		s.ending[p.slot] = true
	}
}

// vacate notes that a permit was given back, and has a caller that waits look for it.
func (p *Permit) vacate() {
	s := p.semaphore
	s.mu.Lock()
	if s.leases[p.slot] == p.Lease {
		isLast := s.areAllGone() // whoever waits, here or elsewhere, lacks this one
		s.leases[p.slot], s.ending[p.slot] = nil, false
		s.freed, s.given[p.slot] = append(s.freed, p.slot), s.clock.Now()
		s.pace.news, s.handed[p.slot] = true, isLast && !s.queue.isEmpty()
	}
	s.mu.Unlock()
	s.queue.wake()
}
