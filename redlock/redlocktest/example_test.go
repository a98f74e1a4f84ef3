package redlocktest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/redlocktest"
)

// sender is a service that sends invoices, one a second, under a lock: only one process does so at a time.
type sender struct {
	locks *redlock.Client
	send  func(invoice int)
}

func (s *sender) sendAll(ctx context.Context) error {
	limits := redlock.Renewal{Wait: 100 * time.Millisecond} // for the lock; the work takes a minute
	return s.locks.Hold(ctx, "invoices", 10*time.Second, limits, func(ctx context.Context, _ *redlock.Lease) error {
		for invoice := range 60 {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(time.Second):
				s.send(invoice)
			}
		}
		return nil
	})
}

// A service is given a client of the nodes. In your test, t is its *testing.T.
func Example() {
	t := printer{}
	nodes := redlocktest.New(&t, 5)
	sent := 0
	s := sender{locks: nodes.Client(), send: func(int) { sent++ }}

	nodes.Steal("invoices", time.Hour) // another process is at work
	err := s.sendAll(context.Background())
	fmt.Println("another process is at work:", errors.Is(err, redlock.ErrTaken), sent)

	nodes.Down() // all of them
	err = s.sendAll(context.Background())
	fmt.Println("no quorum:", errors.Is(err, redlock.ErrNoQuorum), sent)

	t.end() // as go test does: it would report a lock that was not unlocked

	// Output:
	// another process is at work: true 0
	// no quorum: true 0
}

// TestLostLease is a test of what a service does when its lock is lost. It takes no time: in the bubble, half a minute passes
// at once.
func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 5)
		sent := 0
		s := sender{locks: nodes.Client(), send: func(int) { sent++ }}
		time.AfterFunc(30500*time.Millisecond, func() { nodes.Steal("invoices", time.Minute) })

		err := s.sendAll(t.Context())
		if !errors.Is(err, redlock.ErrLost) {
			t.Errorf("the error is %v", err)
		}
		if sent < 30 || sent > 33 { // the service learns of it at its next renewal
			t.Errorf("%d invoices were sent", sent)
		}
	})
}

// printer is a test that prints, since an example has none.
type printer struct {
	testing.TB
	cleanups []func()
}

func (p *printer) Helper()                           {}
func (p *printer) Cleanup(f func())                  { p.cleanups = append(p.cleanups, f) }
func (p *printer) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (p *printer) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (p *printer) end() {
	for _, f := range p.cleanups {
		f()
	}
}
