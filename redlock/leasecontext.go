package redlock

import (
	"context"
	"slices"
	"sync"

	"redlocksim/redlock/driver"
)

// leaseContexts are the contexts that end with a lease: its own, and one for each call of Renew that is under way.
type leaseContexts struct {
	own    leaseContext
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	bound []*bound
}

// leaseContext is a context that ends with its lease, and with the context above it.
type leaseContext struct {
	context.Context
	lease *leaseContexts
	above context.Context
}

type leaseContextKey struct{}

// Value gives those of the context, and the leaseContext itself to those derived from it.
func (c *leaseContext) Value(key any) any {
	if key == (leaseContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// begin makes the lease's own context, under one that never ends.
func (l *leaseContexts) begin(above context.Context, clock driver.Clock) {
	l.own = leaseContext{lease: l, above: above}
	l.own.Context, l.cancel = clock.WithCancel(above)
}

// end ends the contexts.
func (l *leaseContexts) end(why error) {
	l.cancel(why)
	l.mu.Lock()
	all := slices.Clone(l.bound)
	l.mu.Unlock()
	for _, b := range all {
		b.cancel(why)
	}
}

// bound is a context that ends with the lease, and belongs to a call of Renew.
type bound struct{ cancel context.CancelCauseFunc }

// bind derives a context that ends with ctx, with the lease, and when it is unbound.
func (l *leaseContexts) bind(ctx context.Context, clock driver.Clock) (context.Context, func()) {
	above := ctx
	ctx, cancel := clock.WithCancel(above)
	b := &bound{cancel}
	l.mu.Lock()
	l.bound = append(l.bound, b)
	l.mu.Unlock()
	if why := context.Cause(&l.own); why != nil { // which end may have done before b was there
		cancel(why)
	}
	return &leaseContext{Context: ctx, lease: l, above: above}, func() {
		l.mu.Lock()
		l.bound = slices.DeleteFunc(l.bound, func(o *bound) bool { return o == b })
		l.mu.Unlock()
		cancel(nil)
	}
}

// outlasting is ctx without the end of the lease, which Unlock itself causes. For a context derived from one of the lease's it
// is what the outermost of those was derived from, with the deadline of ctx. A context that has ended for another reason stays
// as it is.
func (l *leaseContexts) outlasting(ctx context.Context, clock driver.Clock) (context.Context, context.CancelFunc) {
	var above context.Context
	for at := ctx; ; {
		of, _ := at.Value(leaseContextKey{}).(*leaseContext)
		if of == nil {
			break
		}
		at = of.above
		if of.lease == l { // not that of a lock which was taken under this one, or under which it was taken
			above = at
		}
	}
	why := context.Cause(ctx)
	if above == nil || why != nil && why != ErrLost && why != ErrReleased {
		return ctx, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok {
		return clock.WithDeadline(above, deadline)
	}
	return above, func() {}
}
