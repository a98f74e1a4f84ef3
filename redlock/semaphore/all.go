package semaphore

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// HoldAll does work while it holds all permits, so that nobody else has one. With it a semaphore is a read-write lock: readers
// take a permit each, and a writer takes them all.
//
// It waits for the first permit, and then for all others at the same time, and keeps and renews each that it has got. So no
// succession of readers keeps a writer out, as it would one that asks for all permits at once ([redlock.Client.LockAll]), and
// two writers do not wait for each other: one of them has the first permit. While a writer waits for the last readers, others
// find fewer permits or none. Whoever has a permit must not call HoldAll, which would wait for that permit.
//
// Renewal.Wait bounds the time until it has all permits. The other limits of r count for each permit from its grant. The
// context of work ends with ctx and with the lease of any permit. The permit that work is given is the first; its fencing
// tokens rise from each call of HoldAll to the next. All permits are given back when work has returned, even if it panics.
//
// If work was not called, the error says why a permit was not granted, as that of Acquire does, or which one was lost while
// others were waited for. Otherwise it is as [redlock.Client.Hold] has it, joined from all permits.
func (s *Semaphore) HoldAll(ctx context.Context, ttl time.Duration, r redlock.Renewal, work func(context.Context, *Permit) error) error {
	if ctx == nil || work == nil {
		return fmt.Errorf("%w: nil context or nil work", redlock.ErrInvalid)
	}
	if err := r.Check(ttl); err != nil {
		return err
	}
	g := &gathering{Semaphore: s, ttl: ttl, renewal: r, call: s.tasks.NewWaiter(), others: make([]other, len(s.slots)-1)}
	if r.Wait != 0 {
		g.by = s.clock.Now().Add(r.Wait)
	}
	first, err := g.take(ctx, 0)
	if err != nil {
		return err
	}
	return first.Hold(ctx, r, func(ctx context.Context) error {
		return g.withOthers(ctx, func(ctx context.Context) error { return work(ctx, first) })
	})
}

// gathering is a call of HoldAll.
type gathering struct {
	*Semaphore
	ttl     time.Duration
	renewal redlock.Renewal
	by      time.Time     // when it must have all permits; zero: whenever
	call    driver.Waiter // where the call itself waits
	others  []other       // than the first permit

	mu      sync.Mutex
	held    int   // of the others
	running int   // tasks that take one of them or hold it
	isOver  bool  // what they hold is to be given back
	refused error // why one was not granted; nil if none was refused
}

// other is a permit that a task takes and holds for the call.
type other struct {
	waiter driver.Waiter // where the task waits
	err    error         // what holding it came to
}

// take waits for a permit.
func (g *gathering) take(ctx context.Context, slot int) (*Permit, error) {
	if !g.by.IsZero() {
		until, cancel := g.clock.WithDeadline(ctx, g.by)
		defer cancel()
		ctx = until
	}
	lease, err := g.locks.Lock(ctx, g.slots[slot], g.ttl)
	if failed := (*redlock.Error)(nil); errors.As(err, &failed) {
		return nil, g.about(failed, failed.Attempts)
	}
	if err != nil {
		return nil, err
	}
	return g.granted(slot, lease), nil
}

// withOthers does work while the others are held as well. ctx ends with the first permit.
func (g *gathering) withOthers(ctx context.Context, work func(context.Context) error) (err error) {
	working, stop := g.clock.WithCancel(ctx)
	defer stop(nil)
	g.running = len(g.others)
	for i := range g.others {
		g.others[i].waiter = g.tasks.NewWaiter()
	}
	for i := range g.others {
		g.tasks.Start(func() { g.hold(working, stop, i) })
	}
	defer func() {
		g.giveBack()
		for _, o := range g.others {
			switch {
			case o.err == nil:
			case err == nil:
				err = o.err
			default:
				err = errors.Join(err, o.err)
			}
		}
	}()
	if err := g.gathered(working); err != nil {
		return err
	}
	return work(working)
}

// gathered returns when all permits are held, or why they will not be.
func (g *gathering) gathered(ctx context.Context) error {
	for {
		g.mu.Lock()
		isAll, refused := g.held == len(g.others), g.refused
		g.mu.Unlock()
		switch {
		case refused != nil:
			return refused
		case isAll && ctx.Err() != nil: // one was lost before the last was granted
			return &redlock.Error{Op: driver.OpAcquire, Resource: g.name, Cause: context.Cause(ctx)}
		case isAll:
			return nil
		}
		g.call.Wait(context.Background()) // when ctx ends, those that are not held are refused
	}
}

// hold takes one of the others, and holds it until it is to be given back. If it cannot have it any longer, it stops the work.
func (g *gathering) hold(ctx context.Context, stop context.CancelCauseFunc, i int) {
	defer g.ends()
	permit, err := g.take(ctx, i+1)
	if err != nil {
		g.refuses(err)
		stop(nil)
		return
	}
	g.others[i].err = permit.Hold(ctx, g.renewal, func(ctx context.Context) error {
		g.holds()
		g.wait(ctx, i)
		stop(context.Cause(ctx))
		g.wait(context.Background(), i)
		return nil
	})
}

// wait returns when what is held is to be given back, or ctx has ended.
func (g *gathering) wait(ctx context.Context, i int) {
	isOver := func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.isOver
	}
	for !isOver() && ctx.Err() == nil {
		g.others[i].waiter.Wait(ctx)
	}
}

// holds notes that one more is held.
func (g *gathering) holds() {
	g.mu.Lock()
	g.held++
	g.mu.Unlock()
	g.call.Wake()
}

// refuses notes that one was not granted.
func (g *gathering) refuses(err error) {
	g.mu.Lock()
	if g.refused == nil {
		g.refused = err
	}
	g.mu.Unlock()
	g.call.Wake()
}

// ends notes that a task has ended.
func (g *gathering) ends() {
	g.mu.Lock()
	g.running--
	g.mu.Unlock()
	g.call.Wake()
}

// giveBack has the others given back, and returns when they are.
func (g *gathering) giveBack() {
	g.mu.Lock()
	g.isOver = true
	g.mu.Unlock()
	for _, o := range g.others {
		o.waiter.Wake()
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
