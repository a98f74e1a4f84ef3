package redlock

import (
	"context"
	"slices"
)

// leaseContext is a context that ends with its lease, and with the context above it.
type leaseContext struct {
	context.Context
	lease *Lease
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

// outlasting is ctx without the end of the lease, which Unlock itself causes. For a context derived from one of the lease's it
// is what the outermost of those was derived from, with the deadline of ctx. A context that has ended for another reason stays
// as it is.
func (l *Lease) outlasting(ctx context.Context) (context.Context, context.CancelFunc) {
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
		return l.acquisition.client.clock.WithDeadline(above, deadline)
	}
	return above, func() {}
}

// bound is a context that ends with the lease, and belongs to a call of Renew.
type bound struct{ cancel context.CancelCauseFunc }

// bind derives a context that ends with ctx, with the lease, and when it is unbound.
func (l *Lease) bind(ctx context.Context) (context.Context, func()) {
	a := l.acquisition
	above := ctx
	ctx, cancel := a.client.clock.WithCancel(above)
	b := &bound{cancel}
	a.mu.Lock()
	l.bound = append(l.bound, b)
	ended := l.ended
	a.mu.Unlock()
	if ended != nil {
		cancel(ended)
	}
	return &leaseContext{Context: ctx, lease: l, above: above}, func() {
		a.mu.Lock()
		l.bound = slices.DeleteFunc(l.bound, func(o *bound) bool { return o == b })
		a.mu.Unlock()
		cancel(nil)
	}
}

// tell ends the lease's context and those bound to it.
func (l *Lease) tell(why error) {
	l.acquisition.mu.Lock()
	all := slices.Clone(l.bound)
	l.acquisition.mu.Unlock()
	l.cancel(why)
	for _, b := range all {
		b.cancel(why)
	}
}
