//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/internal/stall/retry"
	"redlocksim/redlock"
)

// Work that takes three times the TTL is covered on real servers, and a holder whose servers hang is told before the lease
// is over.
func TestHoldLive(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		c := startCluster(t)
		client, _ := c.open(t, redlock.WithNodeTimeout(200*time.Millisecond*t.Slower))
		ttl := 2 * time.Second * t.Slower
		err := client.Hold(t.Context(), "r", ttl, redlock.Renewal{}, func(ctx context.Context, l *redlock.Lease) error {
			for end := time.Now().Add(3 * ttl); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if _, err := client.TryLock(ctx, "r", ttl); !errors.Is(err, redlock.ErrTaken) {
					t.Errorf("somebody else asks: %v", err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if keys := c.keys(t, everyServer...); len(keys) > 0 {
			t.Errorf("left: %v", keys)
		}

		var told, until time.Time
		err = client.Hold(t.Context(), "r", ttl, redlock.Renewal{}, func(ctx context.Context, l *redlock.Lease) error {
			for _, s := range c.servers {
				s.Pause()
			}
			<-ctx.Done()
			told, until = time.Now(), l.Until()
			for _, s := range c.servers {
				s.Resume()
			}
			return nil
		})
		if !errors.Is(err, redlock.ErrLost) || !told.Before(until) {
			t.Errorf("told at %v, the lease ended at %v: %v", told, until, err)
		}
		closeWithin(t, patience, client)
	})
}
