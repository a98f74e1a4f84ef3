package redlock_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/redlocktest"
)

// Many goroutines over a few resources, with votes that come late all the time: never two holders, no key and no
// goroutine left, which synctest would report.
func TestStress(t *testing.T) {
	synctest.Test(t, stress)
}

// contention is workers that lock a few resources, and counts what happens.
type contention struct {
	t              *testing.T
	client         *redlock.Client
	holders        [4]atomic.Int32 // of each resource
	grants, gaveUp atomic.Int64
}

// work takes and releases locks until ctx ends.
func (c *contention) work(ctx context.Context) {
	for ctx.Err() == nil {
		r := rand.N(len(c.holders))
		// Some give up at any moment of an attempt.
		patience, end := context.WithTimeout(ctx, rand.N(100*time.Millisecond))
		lease, err := c.client.Lock(patience, fmt.Sprint("resource", r), time.Minute)
		end()
		if err != nil {
			c.gaveUp.Add(1)
			if !errors.Is(err, redlock.ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
				c.t.Errorf("Lock: %v", err)
			}
			continue
		}
		c.grants.Add(1)
		c.hold(r, lease)
	}
}

func (c *contention) hold(r int, lease *redlock.Lease) {
	if n := c.holders[r].Add(1); n != 1 {
		c.t.Errorf("%d holders of resource %d", n, r)
	}
	if rand.N(4) == 0 {
		if err := lease.Extend(context.Background(), 2*time.Minute); err != nil {
			c.t.Errorf("Extend: %v", err)
		}
	}
	time.Sleep(rand.N(2 * time.Millisecond))
	c.holders[r].Add(-1)
	if err := lease.Unlock(context.Background()); err != nil {
		c.t.Errorf("Unlock: %v", err)
	}
}

func stress(t *testing.T) {
	const duration, workers = 10 * time.Second, 32
	nodes := redlocktest.New(t, 5)
	for i := range nodes {
		nodes.Slow(time.Duration(1+i)*time.Millisecond, i)
	}
	client := nodes.Client(redlock.WithRetryDelay(time.Millisecond, 10*time.Millisecond),
		redlock.WithNodeTimeout(5*time.Second)) // so that no vote is unknown
	c := &contention{t: t, client: client}
	ctx, cancel := context.WithTimeout(context.Background(), duration)
	defer cancel()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { c.work(ctx) })
	}
	wg.Wait()

	bound, end := context.WithTimeout(context.Background(), 10*time.Second)
	defer end()
	if err := client.Close(bound); err != nil {
		t.Error(err)
	}
	for r := range c.holders {
		lease, err := nodes.Client(redlock.WithQuorum(5)).TryLock(t.Context(), fmt.Sprint("resource", r), time.Minute)
		if err != nil {
			t.Errorf("a key is left: %v", err)
			continue
		}
		if err := lease.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if c.grants.Load() < 10 || c.gaveUp.Load() == 0 {
		t.Errorf("%d grants and %d given up: too little happened", c.grants.Load(), c.gaveUp.Load())
	}
}
