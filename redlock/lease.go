package redlock

import (
	"context"
	"slices"
	"sync"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Lease is a granted lock. It ends at [Lease.Until] unless it is extended or released before. It is safe for concurrent use.
type Lease struct {
	acquisition *acquisition
	ttl         time.Duration // that it was granted with
	contexts    leaseContexts

	// guarded by the acquisition's lock
	until time.Time
	lead  time.Duration // how long before until the context ends
	ended error         // ErrLost or ErrReleased; nil while the lease lives
	timer driver.Timer

	queue *queue // that it holds up; nil once it does not. The queues' lock guards it
}

func newLease(a *acquisition, t term, v validity) *Lease {
	c := a.client
	l := &Lease{acquisition: a, ttl: t.ttl, lead: min(c.lead(t.ttl), v.left/2), until: v.until}
	l.contexts.begin(a.ctx, c.clock)
	l.queue = c.queues.enter(a.keys)
	a.mu.Lock()
	a.granted = true
	l.timer = c.clock.AfterFunc(v.until.Sub(c.clock.Now())-l.lead, l.expire)
	a.mu.Unlock()
	return l
}

// lead is how long before its end a lease's context is cancelled.
func (c *Client) lead(ttl time.Duration) time.Duration {
	if c.lossLead > 0 {
		return c.lossLead
	}
	return min(max(ttl/20, time.Millisecond), time.Second)
}

// Resource is the name of the lock. For several resources it is their names with commas, as in errors and events.
func (l *Lease) Resource() string { return l.acquisition.name }

// Resources are the names of the locked resources, sorted.
func (l *Lease) Resources() []string { return slices.Clone(l.acquisition.keys) }

// Value is the random value of this acquisition, which the nodes keep as the key's value. Values have no order; see Token for
// that.
func (l *Lease) Value() string { return l.acquisition.value }

// Token is the fencing token of this grant. It reports false if the client has neither [WithFencing] nor [WithTokens].
func (l *Lease) Token() (int64, bool) { return l.acquisition.token, l.acquisition.token != 0 }

// Until is when the lease ends, by the client's clock. With the system's clock it has a monotonic reading, so time.Until is
// right even if the wall clock steps. A failed Extend does not change it. The lease can be extended until its context ends,
// which is sooner by what [WithLossLead] sets.
func (l *Lease) Until() time.Time {
	l.acquisition.mu.Lock()
	defer l.acquisition.mu.Unlock()
	return l.until
}

// contextEnds is when the lease's context ends unless it is extended or released before.
func (l *Lease) contextEnds() time.Time {
	l.acquisition.mu.Lock()
	defer l.acquisition.mu.Unlock()
	return l.until.Add(-l.lead)
}

// Context is cancelled shortly before the lease ends (see [WithLossLead]) and when it is released. That depends on the client's
// own clock only, not on whether any node can be reached. context.Cause is ErrLost or ErrReleased. The context carries the
// values of the one that Lock was called with, and does not end with it.
func (l *Lease) Context() context.Context { return &l.contexts.own }

// expire ends the lease shortly before its time is over. If it was extended meanwhile, the timer starts again.
func (l *Lease) expire() {
	a := l.acquisition
	a.mu.Lock()
	if left := l.until.Sub(a.client.clock.Now()) - l.lead; l.ended == nil && left > 0 {
		l.timer.Reset(left)
		a.mu.Unlock()
		return
	}
	a.mu.Unlock()
	l.lose()
}

// lose ends a lease that has not ended yet, and cancels its context.
func (l *Lease) lose() {
	a := l.acquisition
	a.mu.Lock()
	if l.ended != nil {
		a.mu.Unlock()
		return
	}
	l.ended = ErrLost
	l.timer.Stop()
	until := l.until
	a.mu.Unlock()
	l.contexts.end(ErrLost)
	l.vacate()
	a.observe(observe.Event{Step: observe.Lost, Until: until})
}

// vacate gives the turn to the next caller that waits for the lock in this client.
func (l *Lease) vacate() { l.acquisition.client.queues.vacate(&l.queue) }

// state reports why the lease has ended, or nil. It also ends a lease whose time is over but whose timer is late, as after a
// pause.
func (l *Lease) state() error {
	a := l.acquisition
	now := a.client.clock.Now()
	a.mu.Lock()
	ended := l.ended
	over := ended == nil && !now.Before(l.until)
	a.mu.Unlock()
	if over {
		l.lose()
		return ErrLost
	}
	return ended
}

// leaseContexts are the contexts that end with a lease: its own, and one for each call of Renew that is under way.
type leaseContexts struct {
	own    leaseContext
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	bound []*bound
}

// leaseContext is a context that ends with its lease, which it and those derived from it have as a value.
type leaseContext struct {
	context.Context
	lease *leaseContexts
}

func (c *leaseContext) Value(key any) any {
	if key == c.lease {
		return c.lease
	}
	return c.Context.Value(key)
}

// begin makes the lease's own context, under one that never ends.
func (l *leaseContexts) begin(above context.Context, clock driver.Clock) {
	l.own.lease = l
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
	ctx, cancel := clock.WithCancel(ctx)
	b := &bound{cancel}
	l.mu.Lock()
	l.bound = append(l.bound, b)
	l.mu.Unlock()
	if why := context.Cause(&l.own); why != nil { // which end may have done before b was there
		cancel(why)
	}
	return &leaseContext{ctx, l}, func() {
		l.mu.Lock()
		l.bound = slices.DeleteFunc(l.bound, func(o *bound) bool { return o == b })
		l.mu.Unlock()
		cancel(nil)
	}
}

// outlasting is ctx without the end of the lease, which Unlock itself causes: one that is derived from a context of the lease
// ends only by its deadline. A context that has ended for another reason stays as it is.
func (l *leaseContexts) outlasting(ctx context.Context, clock driver.Clock) (context.Context, context.CancelFunc) {
	why := context.Cause(ctx)
	if ctx.Value(l) == nil || why != nil && why != ErrLost && why != ErrReleased {
		return ctx, func() {}
	}
	if deadline, ok := ctx.Deadline(); ok {
		return clock.WithDeadline(context.WithoutCancel(ctx), deadline)
	}
	return context.WithoutCancel(ctx), func() {}
}
