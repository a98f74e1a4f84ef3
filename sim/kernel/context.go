package kernel

import (
	"context"
	"slices"
	"time"

	"redlocksim/redlock/driver"
)

// simContext is a context that ends on the simulated clock. Unlike the contexts of the standard library it ends its
// children in the order in which they were made, and wakes those who wait through the kernel.
type simContext struct {
	context.Context // one of the standard library, which keeps the values and the cause, and that nobody else can end
	finish          context.CancelCauseFunc
	deadline        time.Time
	err             error
	children        []*simContext
	waiters         []sleeper
	timer           driver.Timer // what ends it at the deadline; nil for none
	parent          *simContext
}

// sleeper is somebody who waits until a context ends.
type sleeper interface{ release() }

// ending is a sleeper that is told of the end of a context.
type ending struct{ told func() }

func (e *ending) release() { e.told() }

// WhenEnded calls f when a context made by the Clock of a process ends, before whoever waits for it goes on: at once if it has
// ended, and never if it cannot end.
func WhenEnded(ctx context.Context, f func()) {
	switch c := lookup(ctx); {
	case c == nil:
	case c.err != nil:
		f()
	default:
		c.waiters = append(c.waiters, &ending{f})
	}
}

type simContextKey struct{}

func (c *simContext) Deadline() (time.Time, bool) {
	if !c.deadline.IsZero() || c.parent == nil {
		return c.deadline, !c.deadline.IsZero()
	}
	return c.parent.Deadline()
}

func (c *simContext) Err() error { return c.err }

func (c *simContext) Value(key any) any {
	if key == (simContextKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// lookup finds the simulated context that ctx ends with; nil if it never ends. A context of the standard library that
// can end by itself would end outside of the kernel: that is a mistake in the program under simulation.
func lookup(ctx context.Context) *simContext {
	done := ctx.Done()
	if done == nil {
		return nil
	}
	c, _ := ctx.Value(simContextKey{}).(*simContext)
	if c == nil || c.Done() != done {
		panic("sim: waiting for a context that was not made by the process's Clock")
	}
	return c
}

func newContext(parent context.Context) *simContext {
	c := &simContext{}
	c.Context, c.finish = context.WithCancelCause(context.WithoutCancel(parent))
	if p := lookup(parent); p != nil {
		if p.err != nil {
			c.end(p.err, context.Cause(p))
			return c
		}
		c.parent = p
		p.children = append(p.children, c)
	}
	return c
}

// end cancels the context, its children in order, and then wakes who waits. The cause is err if it is nil.
func (c *simContext) end(err, cause error) {
	if c.err != nil {
		return
	}
	if cause == nil {
		cause = err
	}
	c.err = err
	c.finish(cause)
	if c.timer != nil {
		c.timer.Stop()
	}
	if p := c.parent; p != nil && p.err == nil {
		p.children = slices.DeleteFunc(p.children, func(o *simContext) bool { return o == c })
	}
	for _, child := range c.children {
		child.end(err, cause)
	}
	for _, w := range c.waiters {
		w.release()
	}
	c.children = nil
}

func (c *simContext) forget(w sleeper) {
	c.waiters = slices.DeleteFunc(c.waiters, func(o sleeper) bool { return o == w })
}
