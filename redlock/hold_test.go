package redlock_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/redlocktest"
)

// A lease that was acquired before is renewed while work runs and released afterwards, whatever becomes of the work.
func TestHoldOfALease(t *testing.T) {
	const ttl = 10 * time.Second
	failed := errors.New("failed")
	var none context.Context
	for _, c := range []struct {
		name string
		hold func(context.Context, *redlock.Lease) error
		want error
	}{
		{"done", func(ctx context.Context, l *redlock.Lease) error {
			return l.Hold(ctx, redlock.Renewal{}, func(ctx context.Context) error {
				time.Sleep(3 * ttl)
				return ctx.Err()
			})
		}, nil},
		{"failed", func(ctx context.Context, l *redlock.Lease) error {
			return l.Hold(ctx, redlock.Renewal{}, func(context.Context) error { return failed })
		}, failed},
		{"panics", func(ctx context.Context, l *redlock.Lease) (err error) {
			defer func() { err, _ = recover().(error) }()
			return l.Hold(ctx, redlock.Renewal{}, func(context.Context) error { panic(failed) })
		}, failed},
		{"no context", func(_ context.Context, l *redlock.Lease) error {
			return l.Hold(none, redlock.Renewal{}, func(context.Context) error { return nil })
		}, redlock.ErrInvalid},
		{"no work", func(ctx context.Context, l *redlock.Lease) error { return l.Hold(ctx, redlock.Renewal{}, nil) }, redlock.ErrInvalid},
		{"a renewal", func(ctx context.Context, l *redlock.Lease) error {
			return l.Hold(ctx, redlock.Renewal{Period: ttl}, func(context.Context) error { return nil })
		}, redlock.ErrInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := redlocktest.New(t, 3)
				lease, err := nodes.Client().TryLock(t.Context(), "r", ttl)
				if err != nil {
					t.Fatal(err)
				}
				if err := c.hold(t.Context(), lease); !errors.Is(err, c.want) {
					t.Errorf("it returned %v, want %v", err, c.want)
				}
				again, err := nodes.Client().TryLock(t.Context(), "r", ttl) // another's
				if err != nil {
					t.Fatal("it was not released:", err)
				}
				if err := again.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The end of a lease is compared with later readings of the monotonic clock, which a step of the wall clock does not change.
func TestLeasesEndByTheMonotonicClock(t *testing.T) {
	const ttl = 10 * time.Second
	lease, err := redlocktest.New(t, 3).Client().TryLock(t.Context(), "r", ttl)
	if err != nil {
		t.Fatal(err)
	}
	check := func(when string) {
		if end := lease.Until(); !strings.Contains(end.String(), " m=") {
			t.Errorf("%s it ends at %v, which is of the wall clock alone", when, end)
		}
	}
	check("as granted,")
	if err := lease.Extend(t.Context(), ttl); err != nil {
		t.Fatal(err)
	}
	check("as extended,")
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
}
