package rediscmd

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
)

// Inbox is what the client of a subscription has received and not yet taken. Its owner calls it on one thread of control.
type Inbox struct {
	clock     driver.Clock
	waiter    driver.Waiter
	confirmed bool
	broken    bool
	messages  []string
}

// NewInbox makes an empty inbox for a client that reads clock and waits with waiter.
func NewInbox(clock driver.Clock, waiter driver.Waiter) Inbox {
	return Inbox{clock: clock, waiter: waiter}
}

// Confirmed notes that the node has confirmed the subscription.
func (b *Inbox) Confirmed() {
	b.confirmed = true
	b.waiter.Wake()
}

// Deliver adds a message.
func (b *Inbox) Deliver(message string) {
	b.messages = append(b.messages, message)
	b.waiter.Wake()
}

// Break notes that the connection is broken: nothing comes any more.
func (b *Inbox) Break() {
	b.broken = true
	b.waiter.Wake()
}

// IsBroken reports whether Break was called.
func (b *Inbox) IsBroken() bool { return b.broken }

// Confirm waits until the node has confirmed the subscription. Its error is ErrTimeout when the clock reads deadline before,
// ErrReset if the connection is broken, and that of ctx if ctx ends.
func (b *Inbox) Confirm(ctx context.Context, deadline time.Time) error {
	return b.await(ctx, deadline, func() bool { return b.confirmed })
}

// Next waits for a message and takes it. Its errors are those of Confirm.
func (b *Inbox) Next(ctx context.Context, deadline time.Time) (string, error) {
	if err := b.await(ctx, deadline, func() bool { return len(b.messages) > 0 }); err != nil {
		return "", err
	}
	message := b.messages[0]
	b.messages = b.messages[1:]
	return message, nil
}

func (b *Inbox) await(ctx context.Context, deadline time.Time, isReady func() bool) error {
	late := false
	timer := b.clock.AfterFunc(deadline.Sub(b.clock.Now()), func() { late = true; b.waiter.Wake() })
	defer timer.Stop()
	for {
		switch {
		case isReady():
			return nil
		case b.broken:
			return ErrReset
		case ctx.Err() != nil:
			return ctx.Err()
		case late:
			return ErrTimeout
		}
		b.waiter.Wait(ctx)
	}
}
