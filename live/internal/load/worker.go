//go:build linux

package load

import (
	"context"
	"math/rand/v2"
	"time"

	"redlocksim/redlock"
)

// longestPause is the longest time from one lock of a worker to the next.
const longestPause = 400 * time.Millisecond

// worker is a goroutine that takes one lock after the other, at random.
type worker struct {
	*recorder
	name   string
	client *redlock.Client
	locks  []string
	ttl    time.Duration
	random *rand.Rand
}

// work takes locks until ctx ends.
func (w *worker) work(ctx context.Context) {
	for ctx.Err() == nil {
		sleep(ctx, time.Duration(w.random.Int64N(int64(longestPause))))
		if ctx.Err() == nil {
			w.useLock(ctx)
		}
	}
}

// upTo draws a time.
func (w *worker) upTo(d time.Duration) time.Duration {
	return time.Duration(w.random.Int64N(int64(d) + 1))
}

// useLock is what a client does with a lock, at random. Mostly it holds the lock for a moment; sometimes as long as it is
// valid, or longer; sometimes it extends or renews it; and sometimes it hangs, so that the lock expires.
func (w *worker) useLock(ctx context.Context) {
	lock := w.locks[w.random.IntN(len(w.locks))]
	var t *lockUse
	if w.random.IntN(10) == 0 {
		t = w.acquire(ctx, w.name, lock, w.ttl, w.client.TryLock)
	} else {
		patient, cancel := context.WithTimeout(ctx, w.upTo(2*w.ttl))
		defer cancel()
		t = w.acquire(patient, w.name, lock, w.ttl, w.client.Lock)
	}
	if t == nil {
		return
	}
	// Work ends with the lease, or when the process is told to rest.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.lease.Context(), cancel)()
	switch n := w.random.IntN(100); {
	case n < 2:
		sleep(ctx, w.upTo(w.ttl/2))
		_ = t.lease.Extend(context.WithoutCancel(ctx), w.ttl) // Observe records the result
		sleep(ctx, w.upTo(w.ttl/2))
	case n < 4:
		_ = t.lease.Renew(ctx, redlock.Renewal{}, func(ctx context.Context) error {
			sleep(ctx, w.upTo(2*w.ttl))
			return nil
		})
	case n < 5:
		<-ctx.Done()
	case n < 6: // it hangs and never releases
		<-t.lease.Context().Done()
		sleep(context.Background(), t.lease.Until().Sub(w.clock.Now()))
		return
	case n < 80:
		sleep(ctx, w.upTo(20*time.Millisecond))
	}
	t.release()
}

// sleep lets time pass, until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
