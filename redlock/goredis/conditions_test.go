//go:build unix

package goredis_test

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// One server of five on which a fencing counter was overwritten has no vote for that resource, and nothing else comes of it.
func TestCounterOverwritten(t *testing.T) {
	c := startCluster(t)
	key := driver.TokenKey("x")
	for _, wrong := range []string{"9007199254740991", "9007199254740990"} {
		c.each(t, []int{2}, func(ctx context.Context, view *redis.Client) error { return view.Set(ctx, key, wrong, time.Hour).Err() })
		client, _ := c.open(t, redlock.WithFencing(redlock.Fencing{}), redlock.WithNodeTimeout(patience))
		for i := range 8 {
			for _, resource := range []string{"x", "y"} {
				lease, err := client.Lock(t.Context(), resource, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				if token, _ := lease.Token(); token > 40 {
					t.Errorf("%d: the token of %s is %d", i, resource, token)
				}
				if err := lease.Unlock(t.Context()); err != nil {
					t.Error(err)
				}
			}
		}
		closeWithin(t, patience, client)
		c.each(t, []int{0, 1, 3, 4}, func(ctx context.Context, view *redis.Client) error {
			if n, err := view.Get(ctx, key).Int64(); err != nil || n > 40 {
				t.Errorf("the counter is %d, %v", n, err)
			}
			return nil
		})
	}
}
