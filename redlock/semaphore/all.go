package semaphore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redlocksim/internal/looks"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// HoldAll does work while it holds all permits, so that nobody else has one. With it a semaphore is a read-write lock: readers
// take a permit each, and a writer takes them all.
//
// It takes the lock name/all, which only HoldAll takes, and then waits for all permits at the same time, and keeps and renews
// each that it has got. So readers that overlap do not keep a writer out, as they would one that asks for all permits at once
// ([redlock.Client.LockAll]). A reader that takes a permit again in the moment in which it gave it back does, as it would with
// a lock. Of two writers neither can have what the other waits for. While a writer waits for the last readers, others find
// fewer permits or none. Whoever has a permit must not call HoldAll, and work must not ask for one: they would wait for
// themselves.
//
// Renewal.Wait bounds the time until it has everything. The other limits of r count for each lease from its grant, so also
// while it waits for others. The context of work ends with ctx and with any of the leases. Renewals of the permits stop then,
// so that work has what is left of a TTL to return. The lease that work is given is that on name/all, whose fencing tokens rise
// from each call of HoldAll to the next. All is given back when work has returned, even if it panics.
//
// If work was not called, the error is about the semaphore, and says why one of the locks was not granted, or matches
// redlock.ErrLost if one was lost while others were waited for, or redlock.ErrClosed. If giving back what it had fails then,
// that is joined. Otherwise it is as [redlock.Client.Hold] has it, joined from all leases.
func (s *Semaphore) HoldAll(ctx context.Context, ttl time.Duration, r redlock.Renewal, work func(context.Context, *redlock.Lease) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", redlock.ErrInvalid)
	}
	if err := r.Check(ttl); err != nil {
		return err
	}
	during, end, err := s.lent.During(ctx, s.name+"/all", ttl)
	if err != nil {
		return s.ofSemaphore(err)
	}
	defer end()
	began := s.clock.Now()
	g := &gathering{Semaphore: s, end: end, ttl: ttl, renewal: r, call: s.tasks.NewWaiter(), permits: make([]taken, len(s.slots))}
	g.gaveUp = func(err error) { looks.GaveUp(during, s.name, s.clock.Now().Sub(began), err) }
	if r.Wait != 0 {
		g.by = began.Add(r.Wait)
	}
	alone, err := g.take(ctx, s.name+"/all")
	if err != nil {
		g.gaveUp(err)
		return err
	}
	return alone.Hold(ctx, r, func(ctx context.Context) error {
		return g.withPermits(ctx, func(ctx context.Context) error { return work(ctx, alone) })
	})
}

// gathering is a call of HoldAll.
type gathering struct {
	*Semaphore
	ttl     time.Duration
	renewal redlock.Renewal
	end     func()        // of what Close waits for, which is not the work
	gaveUp  func(error)   // tells the observer
	by      time.Time     // when it must have all permits; zero: whenever
	call    driver.Waiter // where the call itself waits
	permits []taken

	mu      sync.Mutex
	held    int   // of the permits
	running int   // tasks that take one of them or hold it
	isOver  bool  // what they hold is to be given back
	refused error // why one was not granted; nil if none was refused
}

// taken is a permit that a task takes and holds for the call.
type taken struct {
	slot   *slot
	waiter driver.Waiter // where the task waits
	err    error         // what holding it came to
}

// take waits for a lock.
func (g *gathering) take(ctx context.Context, resource string) (*redlock.Lease, error) {
	if !g.by.IsZero() {
		until, cancel := g.clock.WithDeadline(ctx, g.by)
		defer cancel()
		ctx = until
	}
	lease, err := g.locks.Lock(looks.With(ctx, resource, 0), resource, g.ttl)
	return lease, g.ofSemaphore(err)
}

// withPermits does work while all permits are held. ctx ends with the lease of the call that no other has.
func (g *gathering) withPermits(ctx context.Context, work func(context.Context) error) (err error) {
	working, stop := g.clock.WithCancel(ctx)
	defer stop(nil)
	g.running = len(g.permits)
	for i := range g.permits {
		g.permits[i] = taken{slot: &g.slots[i], waiter: g.tasks.NewWaiter()}
	}
	for i := range g.permits {
		g.tasks.Start(func() { g.hold(working, stop, &g.permits[i]) })
	}
	defer func() {
		g.giveBack()
		for _, p := range g.permits {
			switch {
			case p.err == nil:
			case err == nil:
				err = p.err
			default:
				err = errors.Join(err, p.err)
			}
		}
	}()
	if err := g.gathered(working); err != nil {
		g.gaveUp(err)
		return err
	}
	g.end()
	return work(working)
}

// gathered returns when all permits are held, or why they will not be.
func (g *gathering) gathered(ctx context.Context) error {
	for {
		g.mu.Lock()
		isAll, refused := g.held == len(g.permits), g.refused
		g.mu.Unlock()
		failed := &redlock.Error{Op: driver.OpAcquire, Resource: g.name}
		switch {
		case context.Cause(ctx) == redlock.ErrLost: // and the others were refused for that
			failed.Reason = redlock.ErrLost
			return failed
		case refused != nil:
			return refused
		case isAll && ctx.Err() != nil:
			failed.Cause = ctx.Err()
			return failed
		case isAll:
			return nil
		}
		g.call.Wait(context.Background()) // when ctx ends, those that are not held are refused
	}
}

// hold takes a permit, and holds it until it is to be given back. If it cannot have it any longer, it stops the work.
func (g *gathering) hold(ctx context.Context, stop context.CancelCauseFunc, p *taken) {
	defer g.notes(func() { g.running-- })
	lease, err := g.take(ctx, p.slot.resource)
	if err != nil {
		g.notes(func() { g.refused = cmp.Or(g.refused, err) })
		stop(nil)
		return
	}
	p.err = g.granted(p.slot, lease).Hold(ctx, g.renewal, func(ctx context.Context) error {
		g.notes(func() { g.held++ })
		g.wait(ctx, p.waiter)
		stop(context.Cause(ctx))
		g.wait(context.Background(), p.waiter)
		return nil
	})
}

// notes notes something of the permits, and has the call look.
func (g *gathering) notes(change func()) {
	g.mu.Lock()
	change()
	g.mu.Unlock()
	g.call.Wake()
}

// wait returns when what is held is to be given back, or ctx has ended.
func (g *gathering) wait(ctx context.Context, at driver.Waiter) {
	isOver := func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.isOver
	}
	for !isOver() && ctx.Err() == nil {
		at.Wait(ctx)
	}
}

// giveBack has the permits given back, and returns when they are.
func (g *gathering) giveBack() {
	g.notes(func() { g.isOver = true })
	for i := range g.permits {
		g.permits[i].waiter.Wake()
	}
	areRunning := func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.running > 0
	}
	for areRunning() {
		g.call.Wait(context.Background())
	}
}
