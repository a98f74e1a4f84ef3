package invoices

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/redlocktest"
)

// books is a store in memory.
type books struct {
	unsent, sent []string
	closing      func(ctx context.Context) error
}

func newBooks(n int) *books {
	b := &books{closing: func(context.Context) error { return nil }}
	for i := range n {
		b.unsent = append(b.unsent, fmt.Sprint("invoice-", i))
	}
	return b
}

func (b *books) Unsent(context.Context) ([]string, error) { return slices.Clone(b.unsent), nil }

func (b *books) MarkSent(_ context.Context, id string) error {
	b.unsent = slices.DeleteFunc(b.unsent, func(other string) bool { return other == id })
	b.sent = append(b.sent, id)
	return nil
}

func (b *books) CloseMonth(ctx context.Context) error { return b.closing(ctx) }

// slowly takes two seconds to send an invoice.
func slowly(context.Context, string) error {
	time.Sleep(2 * time.Second)
	return nil
}

// Sending takes longer than the lock's expiry, and another instance sends nothing meanwhile.
func TestOneInstanceSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		store := newBooks(10)
		first, second := New(nodes.Client(), store, slowly), New(nodes.Client(), store, slowly)
		time.AfterFunc(15*time.Second, func() {
			if sent, err := second.SendAll(t.Context()); sent != 0 || err != nil {
				t.Errorf("the second instance sent %d: %v", sent, err)
			}
		})
		if sent, err := first.SendAll(t.Context()); sent != 10 || err != nil {
			t.Errorf("the first instance sent %d: %v", sent, err)
		}
	})
}

// An instance that loses the lock stops at the next extend, and the next run sends the rest.
func TestLostWhileSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		store := newBooks(10)
		mailer := New(nodes.Client(), store, slowly)
		time.AfterFunc(9*time.Second, func() { nodes.Steal("invoices", time.Minute) })
		if sent, err := mailer.SendAll(t.Context()); sent != 6 || !errors.Is(err, redlock.ErrLost) {
			t.Errorf("sent %d: %v", sent, err)
		}
		time.Sleep(time.Minute)
		if sent, err := mailer.SendAll(t.Context()); sent != 4 || err != nil {
			t.Errorf("then sent %d: %v", sent, err)
		}
	})
}

// Without a quorum nothing is sent, and it is an error, since nobody else may be sending either.
func TestServersAreDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		mailer := New(nodes.Client(), newBooks(10), slowly)
		nodes.Down(0, 1, 2)
		if sent, err := mailer.SendAll(t.Context()); sent != 0 || !errors.Is(err, redlock.ErrNoQuorum) {
			t.Errorf("sent %d: %v", sent, err)
		}
		nodes.Heal(0)
		time.Sleep(time.Minute) // the next run
		if sent, err := mailer.SendAll(t.Context()); sent != 10 || err != nil {
			t.Errorf("then sent %d: %v", sent, err)
		}
	})
}

// An invoice that cannot be sent ends the run, and the lock is free.
func TestCannotSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("refused")
		mailer := New(redlocktest.New(t, 5).Client(), newBooks(1), func(context.Context, string) error { return refused })
		if _, err := mailer.SendAll(t.Context()); !errors.Is(err, refused) {
			t.Errorf("%v", err)
		}
	})
}

// The month is closed after the invoices that are being sent.
func TestCloseMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		store := newBooks(10)
		store.closing = func(context.Context) error {
			if len(store.unsent) > 0 {
				t.Errorf("closed with %d invoices unsent", len(store.unsent))
			}
			return nil
		}
		mailer := New(nodes.Client(), store, slowly)
		running, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			mailer.Run(running, time.Second)
		}()
		time.Sleep(2 * time.Second)
		if err := New(nodes.Client(), store, slowly).CloseMonth(t.Context()); err != nil {
			t.Error(err)
		}
		stop()
		<-done
	})
}

// The work under the lock is told when the lock is lost.
func TestLostWhileClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		store := newBooks(0)
		store.closing = func(ctx context.Context) error {
			<-ctx.Done()
			return context.Cause(ctx)
		}
		time.AfterFunc(time.Hour/2, func() { nodes.Steal("invoices", time.Minute) })
		if err := New(nodes.Client(), store, slowly).CloseMonth(t.Context()); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("%v", err)
		}
	})
}
