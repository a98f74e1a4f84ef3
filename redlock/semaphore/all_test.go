package semaphore_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/redlock/redlocktest"
	"redlocksim/redlock/semaphore"
)

// readAll has a reader of each client read again and again, in turns, so that there is always one on some permit.
func readAll(t *testing.T, until context.Context, readers []*semaphore.Semaphore, each time.Duration, during func()) {
	for i, s := range readers {
		go func() {
			time.Sleep(time.Duration(i) * each / time.Duration(len(readers)))
			for until.Err() == nil {
				p, err := s.Acquire(until, ttl)
				if err != nil {
					continue
				}
				during()
				time.Sleep(each)
				unlock(t, p)
				time.Sleep(each / 4)
			}
		}()
	}
}

// While a writer works there is nobody else, and readers that follow each other keep no writer out. Asking for all permits at
// once, they would.
func TestReadersAndWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		const permits = 3
		var readers []*semaphore.Semaphore
		for range permits + 2 {
			readers = append(readers, newSemaphore(t, nodes.Client(), permits))
		}
		until, stop := context.WithCancel(t.Context())
		defer stop()
		var writing atomic.Bool
		var reads atomic.Int32
		readAll(t, until, readers, 2*time.Second, func() {
			if reads.Add(1); writing.Load() {
				t.Error("a reader reads while a writer writes")
			}
		})
		time.Sleep(time.Minute)
		if n := reads.Load(); n < 60 {
			t.Fatalf("%d reads in a minute, and the writers would not be kept out", n)
		}

		all := []string{"pool/1", "pool/2", "pool/3"}
		atOnce, end := context.WithTimeout(t.Context(), time.Minute)
		defer end()
		if lease, err := nodes.Client().LockAll(atOnce, all, ttl); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("LockAll gets all permits: %v, %v", lease, err)
		}

		writers := []*semaphore.Semaphore{newSemaphore(t, nodes.Client(), permits), readers[0], newSemaphore(t, nodes.Client(), permits), readers[0]}
		done := make(chan error)
		for _, s := range writers {
			go func() {
				done <- s.HoldAll(t.Context(), ttl, redlock.Renewal{Wait: 10 * time.Minute}, func(context.Context, *redlock.Lease) error {
					if writing.Swap(true) {
						t.Error("two writers write")
					}
					time.Sleep(3 * time.Second)
					writing.Store(false)
					return nil
				})
			}()
		}
		for range writers {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		before := reads.Load()
		time.Sleep(10 * time.Second)
		if reads.Load() == before {
			t.Error("nobody reads after the writers")
		}
		stop()
		time.Sleep(ttl)
	})
}

// The permits are taken at the same time, and renewed while others are waited for. All are given back at the end, and work that
// goes on after its context has ended still has them, for what is left of the TTL.
func TestHoldAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s, other := newSemaphore(t, nodes.Client(), 4), newSemaphore(t, nodes.Client(), 4)
		begin, ends := time.Now(), []time.Duration{6 * ttl, 5 * ttl, 4 * ttl}
		for _, end := range ends {
			go func() {
				_ = other.Hold(t.Context(), ttl, redlock.Renewal{}, func(context.Context, *semaphore.Permit) error {
					time.Sleep(end)
					return nil
				})
			}()
		}
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		failed, err := errors.New("failed"), error(nil)
		took := time.Duration(0)
		err = s.HoldAll(ctx, ttl, redlock.Renewal{}, func(ctx context.Context, p *redlock.Lease) error {
			took = time.Since(begin)
			time.Sleep(3 * ttl)
			if ctx.Err() != nil || p.Resource() != "pool/all" {
				t.Errorf("%s after three TTLs: %v", p.Resource(), context.Cause(ctx))
			}
			cancel()
			<-ctx.Done()
			time.Sleep(ttl / 4)
			for range 4 {
				if _, err := other.TryAcquire(t.Context(), ttl); !errors.Is(err, redlock.ErrTaken) {
					t.Errorf("while the work ends: %v", err)
				}
			}
			return failed
		})
		if err != failed {
			t.Errorf("the error of the work came back as %v", err)
		}
		if took < ends[0] || took > ends[0]+time.Second {
			t.Errorf("the last reader has left after %v, and the work begins after %v", ends[0], took)
		}
		allAreFree(t, other, 4)
	})
}

// allAreFree takes each permit, and gives it back.
func allAreFree(t *testing.T, s *semaphore.Semaphore, n int) {
	t.Helper()
	var permits []*semaphore.Permit
	for range n {
		permits = append(permits, acquire(t, s))
	}
	for _, p := range permits {
		unlock(t, p)
	}
}

// Work that panics has the permits given back, too.
func TestHoldAllPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s, failed := newSemaphore(t, nodes.Client(), 3), errors.New("failed")
		func() {
			defer func() {
				if recover() != failed {
					t.Error("the panic did not arrive")
				}
			}()
			_ = s.HoldAll(t.Context(), ttl, redlock.Renewal{}, func(context.Context, *redlock.Lease) error { panic(failed) })
		}()
		allAreFree(t, newSemaphore(t, nodes.Client(), 3), 3)
		allAreFree(t, s, 3)
	})
}

// A writer that gives up leaves no permit behind, and says why.
func TestHoldAllInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		client, holder := nodes.Client(), nodes.Client()
		s, other := newSemaphore(t, client, 3), newSemaphore(t, nodes.Client(), 3)
		called := false
		never := func(context.Context, *redlock.Lease) error { called = true; return nil }
		fails := func(what string, r redlock.Renewal, ctx context.Context, match ...error) {
			t.Helper()
			err := s.HoldAll(ctx, ttl, r, never)
			for _, m := range match {
				if !errors.Is(err, m) {
					t.Errorf("%s: %v does not match %v", what, err, m)
				}
			}
			var e *redlock.Error
			if errors.Is(err, redlock.ErrNotAcquired) && (!errors.As(err, &e) || e.Resource != "pool" || e.Attempts == 0 || strings.Contains(err.Error(), "pool/")) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, taken := range []string{"pool/all", "pool/1", "pool/2", "pool/3"} {
			lease, err := holder.Lock(t.Context(), taken, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			fails(taken, redlock.Renewal{Wait: time.Second}, t.Context(), redlock.ErrTaken, context.DeadlineExceeded)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(3*ttl, cancel)
			fails(taken, redlock.Renewal{}, ctx, redlock.ErrTaken, context.Canceled)
			free := []*semaphore.Permit{acquire(t, other), acquire(t, other)}
			if resources := []string{free[0].Resource(), free[1].Resource()}; slices.Contains(resources, taken) {
				t.Errorf("%s is taken, and %q are granted", taken, resources)
			}
			unlock(t, free[0])
			unlock(t, free[1])
			if err := lease.Unlock(t.Context()); err != nil {
				t.Error(err)
			}
		}
		nodes.Down(0, 1)
		fails("two of three nodes are down", redlock.Renewal{Wait: time.Second}, t.Context(), redlock.ErrNoQuorum, context.DeadlineExceeded)
		nodes.Heal(0, 1)
		fails("nil context", redlock.Renewal{}, nil, redlock.ErrInvalid)
		fails("negative wait", redlock.Renewal{Wait: -1}, t.Context(), redlock.ErrInvalid)
		if err := s.HoldAll(t.Context(), ttl, redlock.Renewal{}, nil); !errors.Is(err, redlock.ErrInvalid) {
			t.Errorf("nil work: %v", err)
		}
		defer unlock(t, acquire(t, other))
		time.AfterFunc(time.Second, func() { _ = client.Close(context.Background()) })
		fails("closed", redlock.Renewal{}, t.Context(), redlock.ErrClosed)
		if called {
			t.Error("the work was done")
		}
	})
}

// The work is told when any of the permits is lost, before it has begun as well.
func TestHoldAllLosesAPermit(t *testing.T) {
	for _, lost := range []string{"pool/all", "pool/1", "pool/2", "pool/3"} {
		synctest.Test(t, func(t *testing.T) {
			nodes := redlocktest.New(t, 3)
			s := newSemaphore(t, nodes.Client(), 3)
			told := false
			err := s.HoldAll(t.Context(), ttl, redlock.Renewal{}, func(ctx context.Context, p *redlock.Lease) error {
				nodes.Steal(lost, time.Hour)
				select {
				case <-ctx.Done():
					told = context.Cause(ctx) == redlock.ErrLost
				case <-time.After(ttl):
				}
				return nil
			})
			if !told || !errors.Is(err, redlock.ErrLost) {
				t.Errorf("%s is lost, and the work is told: %v; %v", lost, told, err)
			}

			nodes = redlocktest.New(t, 3)
			s = newSemaphore(t, nodes.Client(), 3)
			last := "pool/3"
			if lost == last {
				last = "pool/2"
			}
			if lost == "pool/all" {
				last = "pool/1"
			}
			nodes.Steal(last, time.Hour)
			time.AfterFunc(time.Second, func() { nodes.Steal(lost, time.Hour) })
			err = s.HoldAll(t.Context(), ttl, redlock.Renewal{}, func(context.Context, *redlock.Lease) error {
				t.Error("the work begins")
				return nil
			})
			if !errors.Is(err, redlock.ErrLost) || !errors.Is(err, redlock.ErrNotAcquired) || errors.Is(err, context.Canceled) {
				t.Errorf("%s is lost while %s is waited for: %v", lost, last, err)
			}
		})
	}
}

// Fencing tokens of the permit that the work is given rise from call to call.
func TestHoldAllTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		last := int64(0)
		for range 3 {
			s := newSemaphore(t, nodes.Client(redlock.WithFencing(redlock.Fencing{})), 2)
			err := s.HoldAll(t.Context(), ttl, redlock.Renewal{}, func(_ context.Context, p *redlock.Lease) error {
				token, ok := p.Token()
				if !ok || token <= last {
					t.Errorf("token %d, %v, after %d", token, ok, last)
				}
				last = token
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
}

// watcher is an observer that does something at each step.
type watcher func(observe.Event)

func (w watcher) Observe(_ context.Context, e observe.Event) { w(e) }

// Close waits until a call that takes permits has given them back, and not for work.
func TestHoldAllIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		var released atomic.Int32
		client := nodes.Client(redlock.WithObserver(watcher(func(e observe.Event) {
			if e.Step == observe.Released {
				released.Add(1)
			}
		})))
		s, other := newSemaphore(t, client, 3), newSemaphore(t, nodes.Client(), 3)
		permit, done := acquire(t, other), make(chan error)
		go func() { done <- s.HoldAll(t.Context(), ttl, redlock.Renewal{}, never(t)) }()
		time.Sleep(time.Second)
		nodes.Slow(20*time.Millisecond, 0, 1, 2)
		if err := client.Close(t.Context()); err != nil || released.Load() != 3 {
			t.Errorf("Close has returned (%v), and %d of 3 leases were given back", err, released.Load())
		}
		if err := <-done; !errors.Is(err, redlock.ErrClosed) {
			t.Error(err)
		}
		nodes.Heal()
		unlock(t, permit)

		client = nodes.Client()
		err := newSemaphore(t, client, 3).HoldAll(t.Context(), ttl, redlock.Renewal{}, func(context.Context, *redlock.Lease) error {
			return client.Close(t.Context())
		})
		if err != nil {
			t.Errorf("closed at work: %v", err)
		}
	})
}

func never(t *testing.T) func(context.Context, *redlock.Lease) error {
	return func(context.Context, *redlock.Lease) error {
		t.Error("the work is done")
		return nil
	}
}

// A call that is cancelled as it is granted the last permit says so, whatever the cause.
func TestHoldAllIsCancelledAtTheLastPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		ctx, cancel := context.WithCancelCause(t.Context())
		var granted atomic.Int32
		client := nodes.Client(redlock.WithObserver(watcher(func(e observe.Event) {
			if e.Step == observe.QuorumReached && granted.Add(1) == 4 {
				cancel(errors.New("a cause"))
			}
		})))
		err := newSemaphore(t, client, 3).HoldAll(ctx, ttl, redlock.Renewal{}, never(t))
		if !errors.Is(err, context.Canceled) || !errors.Is(err, redlock.ErrNotAcquired) {
			t.Error(err)
		}
		allAreFree(t, newSemaphore(t, nodes.Client(), 3), 3)
	})
}

// Renewal.Wait is for everything together, and the limits of renewals are those of each lease.
func TestHoldAllHasLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, nodes.Client(), 2)
		nodes.Steal("pool/all", 600*time.Millisecond)
		nodes.Steal("pool/1", time.Hour)
		begin := time.Now()
		err := s.HoldAll(t.Context(), ttl, redlock.Renewal{Wait: time.Second}, never(t))
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took > time.Second+time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
		var e *redlock.Error
		if !errors.As(err, &e) || e.Attempts < 2 {
			t.Errorf("%v says of %d attempts", err, e.Attempts)
		}

		var mu sync.Mutex
		extends := map[string]int{}
		client := redlocktest.New(t, 3).Client(redlock.WithObserver(watcher(func(e observe.Event) {
			if e.Step == observe.Extended {
				mu.Lock()
				extends[e.Resource]++
				mu.Unlock()
			}
		})))
		err = newSemaphore(t, client, 2).HoldAll(t.Context(), ttl, redlock.Renewal{Limit: 2}, func(ctx context.Context, _ *redlock.Lease) error {
			<-ctx.Done()
			return nil
		})
		if want := map[string]int{"pool/all": 2, "pool/1": 2, "pool/2": 2}; !errors.Is(err, redlock.ErrRenewalLimit) || !maps.Equal(extends, want) {
			t.Errorf("extended %v, want %v; %v", extends, want, err)
		}
	})
}

// While a writer works, nobody who waits in its process asks the nodes, and all are served when it is done.
func TestHoldAllBesideReadersOfItsProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		var attempts atomic.Int32
		client := nodes.Client(redlock.WithObserver(watcher(func(e observe.Event) {
			if e.Step == observe.AttemptStarted {
				attempts.Add(1)
			}
		})))
		s, done := newSemaphore(t, client, 3), make(chan time.Time)
		err := s.HoldAll(t.Context(), ttl, redlock.Renewal{}, func(context.Context, *redlock.Lease) error {
			for range 3 {
				go func() {
					permit, err := s.Acquire(t.Context(), ttl)
					if err != nil {
						t.Error(err)
						return
					}
					done <- time.Now()
					time.Sleep(time.Second)
					unlock(t, permit)
				}()
			}
			before := attempts.Load()
			time.Sleep(time.Minute)
			if n := attempts.Load() - before; n > 0 {
				t.Errorf("the nodes were asked %d times", n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		end := time.Now()
		for range 3 {
			if late := (<-done).Sub(end); late > time.Millisecond {
				t.Errorf("a reader has a permit %v later", late)
			}
		}
		time.Sleep(2 * time.Second) // which the readers take
	})
}
