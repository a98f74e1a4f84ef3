package network

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
)

// RoundTrip is an exchange whose client, a program, waits for the answer. What embeds it is the Client.
type RoundTrip struct {
	Exchange
	done   bool
	waiter driver.Waiter
}

// Await sends the request of client over the link and waits until Answered has been called, at most until the clock of the
// link's client reads deadline, if that is not zero, or ctx ends; it is false if that came first. key says what the request is
// for.
func (x *RoundTrip) Await(ctx context.Context, l *Link, key kernel.Key, deadline time.Time, client Client) (answered bool) {
	clock := l.Client().ProgramClock()
	x.waiter = l.Client().Tasks().NewWaiter()
	l.Open(&x.Exchange, key, client)
	late := false
	if !deadline.IsZero() {
		timer := clock.AfterFunc(deadline.Sub(clock.Now()), func() { late = true; x.waiter.Wake() })
		defer timer.Stop()
	}
	for !x.done && !late && ctx.Err() == nil {
		x.waiter.Wait(ctx)
	}
	if !x.done {
		x.Abandon()
	}
	return x.done
}

// Answered implements Client.
func (x *RoundTrip) Answered() {
	x.done = true
	x.waiter.Wake()
}
