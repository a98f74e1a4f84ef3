package redlock

import (
	"context"
	"slices"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// Lease is a lock that was granted. It ends at [Lease.Until] unless it is extended or released before. It is safe for
// concurrent use.
type Lease struct {
	acquisition *acquisition
	ttl         time.Duration // that it was granted with
	ctx         leaseContext
	cancel      context.CancelCauseFunc

	// guarded by the acquisition's lock
	until time.Time
	lead  time.Duration // how long before until the context ends
	ended error         // ErrLost or ErrReleased; nil while the lease lives
	timer driver.Timer
	bound []*bound

	queue *queue // that it holds up; nil once it does not. The queues' lock guards it
}

func newLease(a *acquisition, t term, v validity) *Lease {
	c := a.client
	l := &Lease{acquisition: a, ttl: t.ttl, lead: min(c.lead(t.ttl), v.left/2), until: v.until}
	l.ctx = leaseContext{lease: l, above: a.ctx}
	l.ctx.Context, l.cancel = c.clock.WithCancel(a.ctx)
	l.enter()
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

// Resource is the name of what is locked; several resources are in one text, with commas, as in errors and events.
func (l *Lease) Resource() string { return l.acquisition.name }

// Resources are the names of what is locked, in ascending order.
func (l *Lease) Resources() []string { return slices.Clone(l.acquisition.keys) }

// Value is the random value that stands for this acquisition on the nodes. It is unique, but has no order: the fencing
// token is Token.
func (l *Lease) Value() string { return l.acquisition.value }

// Token is the fencing token of this grant; false if the client was made without [WithFencing].
func (l *Lease) Token() (int64, bool) { return l.acquisition.token, l.acquisition.token != 0 }

// Until is when the lease ends, as a reading of the client's Clock: with the system clock a time with a monotonic
// reading, so that time.Until works across steps of the wall clock. A failed Extend does not change it.
func (l *Lease) Until() time.Time {
	l.acquisition.mu.Lock()
	defer l.acquisition.mu.Unlock()
	return l.until
}

// Context is done when the lease is released or about to end: it is cancelled before Until (see [WithLossLead]), by
// the client's own clock, whether or not any node can be reached. context.Cause tells ErrReleased from ErrLost. It
// carries the values of the context that Lock was called with, but does not end with it.
func (l *Lease) Context() context.Context { return &l.ctx }

// expire ends the lease when its time is nearly over; one that was extended meanwhile gets the rest of its time.
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

// lose ends a lease that has not ended, and tells the holder.
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
	l.tell(ErrLost)
	l.vacate()
	a.observe(observe.Event{Step: observe.Lost, Until: until})
}

// state says whether the lease has ended, and why. It also ends one whose time is over while its timer is late, as after
// a pause of the process.
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
