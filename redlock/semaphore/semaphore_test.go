package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/redlocktest"
	"redlocksim/redlock/semaphore"
)

const ttl = 10 * time.Second

func newSemaphore(t *testing.T, locks semaphore.Locks, permits int) *semaphore.Semaphore {
	t.Helper()
	s, err := semaphore.New(locks, "pool", permits)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func acquire(t *testing.T, s *semaphore.Semaphore) *semaphore.Permit {
	t.Helper()
	permit, err := s.TryAcquire(t.Context(), ttl)
	if err != nil {
		t.Fatal(err)
	}
	return permit
}

func unlock(t *testing.T, p *semaphore.Permit) {
	t.Helper()
	if err := p.Unlock(context.Background()); err != nil {
		t.Error(err)
	}
}

// Never more clients hold a permit than there are, all of them can be had at once, and everybody gets one in the end.
func TestPermits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		const permits, clients, goroutines, each = 3, 4, 5, 10
		var holders, most, done atomic.Int32
		finished := make(chan error)
		for range clients {
			s := newSemaphore(t, nodes.Client(), permits)
			for range goroutines {
				go func() {
					for range each {
						p, err := s.Acquire(t.Context(), ttl)
						if err != nil {
							finished <- err
							return
						}
						most.Store(max(most.Load(), holders.Add(1)))
						time.Sleep(20 * time.Millisecond)
						holders.Add(-1)
						done.Add(1)
						if err := p.Unlock(t.Context()); err != nil {
							finished <- err
							return
						}
					}
					finished <- nil
				}()
			}
		}
		for range clients * goroutines {
			if err := <-finished; err != nil {
				t.Error(err)
			}
		}
		if got := most.Load(); got != permits {
			t.Errorf("up to %d held one of %d permits at the same time", got, permits)
		}
		if got := done.Load(); got != clients*goroutines*each {
			t.Errorf("%d grants", got)
		}
	})
}

// An error is about the semaphore, and says what ended the call.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		client := nodes.Client()
		s, other := newSemaphore(t, client, 2), newSemaphore(t, nodes.Client(), 2)
		defer unlock(t, acquire(t, other))
		defer unlock(t, acquire(t, other))

		check := func(what string, err error, text string, attempts int, match ...error) {
			t.Helper()
			for _, m := range match {
				if !errors.Is(err, m) {
					t.Errorf("%s: %v does not match %v", what, err, m)
				}
			}
			var e *redlock.Error
			switch {
			case !errors.As(err, &e):
				t.Errorf("%s: %v is not a *redlock.Error", what, err)
			case e.Resource != "pool" || e.Attempts != attempts && attempts >= 0:
				t.Errorf("%s: about %q after %d attempts", what, e.Resource, e.Attempts)
			case !strings.Contains(err.Error(), text):
				t.Errorf("%s: %q does not say %q", what, err, text)
			}
		}
		_, err := s.TryAcquire(t.Context(), ttl)
		check("all are taken", err, `acquire "pool": held by another`, 2, redlock.ErrNotAcquired, redlock.ErrTaken)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.Acquire(ctx, ttl)
		check("waited in vain", err, "held by another", -1, redlock.ErrTaken, context.DeadlineExceeded)
		_, err = s.Acquire(ctx, ttl)
		check("a context that has ended", err, "", -1, redlock.ErrNotAcquired, context.DeadlineExceeded)

		_, err = other.TryAcquire(t.Context(), ttl)
		check("all are held here", err, "held by another", 0, redlock.ErrTaken)

		nodes.Down(0, 1)
		_, err = s.TryAcquire(t.Context(), ttl)
		check("no quorum", err, "no quorum", 1, redlock.ErrNoQuorum)
		nodes.Heal()

		if err := client.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Acquire(t.Context(), ttl); err != redlock.ErrClosed {
			t.Errorf("closed client: %v", err)
		}
	})
}

func TestInvalid(t *testing.T) {
	var none context.Context
	client := redlocktest.New(t, 1).Client()
	s := newSemaphore(t, client, 1)
	work := func(context.Context, *semaphore.Permit) error { t.Error("work was called"); return nil }
	for what, call := range map[string]func() error{
		"no locks":  func() error { _, err := semaphore.New(nil, "pool", 1); return err },
		"no name":   func() error { _, err := semaphore.New(client, "", 1); return err },
		"none":      func() error { _, err := semaphore.New(client, "pool", 0); return err },
		"too many":  func() error { _, err := semaphore.New(client, "pool", semaphore.MaxPermits+1); return err },
		"nil, wait": func() error { _, err := s.Acquire(none, ttl); return err },
		"nil, try":  func() error { _, err := s.TryAcquire(none, ttl); return err },
		"TTL":       func() error { _, err := s.Acquire(t.Context(), time.Microsecond); return err },
		"nil, hold": func() error { return s.Hold(none, ttl, redlock.Renewal{}, work) },
		"nil work":  func() error { return s.Hold(t.Context(), ttl, redlock.Renewal{}, nil) },
		"renewal":   func() error { return s.Hold(t.Context(), ttl, redlock.Renewal{Period: ttl}, work) },
		"long name": func() error {
			l, _ := semaphore.New(client, strings.Repeat("x", 4096), 1)
			_, err := l.TryAcquire(t.Context(), ttl)
			return err
		},
		"TTL, tried": func() error { _, err := s.TryAcquire(t.Context(), -1); return err },
	} {
		if err := call(); !errors.Is(err, redlock.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A permit that is given back goes to the caller that has waited longest, at once.
func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(t, redlocktest.New(t, 3).Client(redlock.WithRetryDelay(time.Minute, time.Minute)), 2)
		first, second := acquire(t, s), acquire(t, s)
		served := make(chan int, 3)
		var got [3]*semaphore.Permit
		for i := range got {
			go func() {
				got[i], _ = s.Acquire(t.Context(), time.Hour)
				served <- i
			}()
			synctest.Wait()
		}
		begun := time.Now()
		for i, p := range []*semaphore.Permit{first, second} {
			unlock(t, p)
			if n := <-served; n != i {
				t.Errorf("caller %d was served at place %d", n, i)
			}
		}
		unlock(t, got[0])
		<-served
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %v", took)
		}
		unlock(t, got[1])
		unlock(t, got[2])
	})
}

// A caller gives up its place when its context ends, and does not hold up those behind it.
func TestGivingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(t, redlocktest.New(t, 3).Client(), 1)
		held := acquire(t, s)
		impatient, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { _, err := s.Acquire(impatient, ttl); gone <- err }()
		synctest.Wait()
		patient := make(chan *semaphore.Permit)
		go func() { p, _ := s.Acquire(t.Context(), ttl); patient <- p }()
		queued, leave := context.WithTimeout(t.Context(), time.Millisecond)
		defer leave()
		if _, err := s.Acquire(queued, ttl); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, redlock.ErrTaken) {
			t.Errorf("behind others: %v", err)
		}
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		unlock(t, held)
		unlock(t, <-patient)
	})
}

// A context that ends while a permit is asked for hides neither from that caller nor from those behind it why none was granted.
func TestGivingUpWhileAsking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		nodes.Steal("pool/1", time.Hour)
		nodes.Slow(20 * time.Millisecond)
		s := newSemaphore(t, nodes.Client(redlock.WithRetryDelay(100*time.Millisecond, 100*time.Millisecond)), 1)
		var callers sync.WaitGroup
		for name, patience := range map[string]time.Duration{"1, in its second attempt": 130, "2, in its first": 145, "3, without one": 131} {
			ctx, cancel := context.WithTimeout(t.Context(), patience*time.Millisecond)
			defer cancel()
			callers.Go(func() {
				time.Sleep(time.Duration(name[0]-'0') * time.Microsecond) // the order of the queue
				_, err := s.Acquire(ctx, ttl)
				if isTaken := errors.Is(err, redlock.ErrTaken); isTaken != (name[0] != '2') || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("caller %s: %v", name, err)
				}
			})
		}
		callers.Wait()
	})
}

// After 16 grants in a row, callers that wait for each other pause for a delay and a quarter, in which a permit is free; and
// for no longer.
func TestGivingWay(t *testing.T) {
	for _, delay := range []time.Duration{time.Second, 5 * time.Millisecond} { // longer than the work, and shorter
		synctest.Test(t, func(t *testing.T) {
			s := newSemaphore(t, redlocktest.New(t, 3).Client(redlock.WithRetryDelay(delay/5, delay)), 1)
			const goroutines, each, work = 4, 17, 10 * time.Millisecond
			ended := make(chan struct{})
			begun := time.Now()
			for range goroutines {
				go func() {
					defer func() { ended <- struct{}{} }()
					for range each {
						p, err := s.Acquire(t.Context(), ttl)
						if err != nil {
							t.Error(err)
							return
						}
						time.Sleep(work)
						unlock(t, p)
					}
				}()
			}
			for range goroutines {
				<-ended
			}
			took, want := time.Since(begun), goroutines*each*work+4*delay*5/4
			if took < want || took > want+work {
				t.Errorf("%d grants of %v with pauses of %v took %v, want %v", goroutines*each, work, delay, took, want)
			}
		})
	}
}

// Nobody gives way to others whose turn nobody takes: one caller after the other, and as many as there are permits.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(t, redlocktest.New(t, 3).Client(), 4)
		ended := make(chan struct{})
		begun := time.Now()
		for range 4 {
			go func() {
				defer func() { ended <- struct{}{} }()
				for range 50 {
					p, err := s.Acquire(t.Context(), ttl)
					if err != nil {
						t.Error(err)
						return
					}
					time.Sleep(time.Millisecond)
					unlock(t, p)
				}
			}()
		}
		for range 4 {
			<-ended
		}
		if took := time.Since(begun); took >= 100*time.Millisecond { // with one pause at the least
			t.Errorf("50 times 1ms took %v", took)
		}
	})
}

// A pause is over when its time is over, also if those who wait in it give up.
func TestPausesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(t, redlocktest.New(t, 3).Client(redlock.WithRetryDelay(time.Second, time.Second)), 1)
		held := acquire(t, s)
		var impatient sync.WaitGroup
		for range 20 {
			impatient.Go(func() {
				p, err := s.Acquire(t.Context(), ttl)
				if err != nil {
					t.Error(err)
					return
				}
				unlock(t, p)
			})
		}
		synctest.Wait()
		unlock(t, held)
		impatient.Wait()
		late := 0
		for range 40 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			p, err := s.Acquire(ctx, ttl)
			if err == nil {
				unlock(t, p)
			} else {
				late++
			}
			cancel()
			time.Sleep(time.Minute)
		}
		if late > 1 {
			t.Errorf("%d of 40 calls with free permits failed", late)
		}
	})
}

// A call that finds no permit waits for a retry delay before it looks again, and ends when its client is closed.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		nodes.Steal("pool/1", time.Hour)
		client := nodes.Client(redlock.WithRetryDelay(100*time.Millisecond, 100*time.Millisecond))
		locks := &tried{around: around{client}}
		s := newSemaphore(t, locks, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		locks.tries = func(n int) {
			if n > 20 { // a call that never pauses would go on for ever in no time
				cancel()
			}
		}
		if _, err := s.Acquire(ctx, ttl); !errors.Is(err, redlock.ErrTaken) || !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if n := len(locks.resources); n < 9 || n > 11 {
			t.Fatalf("the permit was asked for %d times in 1s", n)
		}

		client = nodes.Client(redlock.WithRetryDelay(10*time.Second, 10*time.Second))
		begun := time.Now()
		time.AfterFunc(time.Second, func() { _ = client.Close(context.Background()) })
		_, err := newSemaphore(t, client, 1).Acquire(t.Context(), ttl)
		if took := time.Since(begun); !errors.Is(err, redlock.ErrClosed) || took != time.Second {
			t.Errorf("closed after 1s: %v after %v", err, took)
		}
	})
}

// The nodes are not asked more often when callers give up.
func TestCallersThatGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		nodes.Steal("pool/1", time.Hour)
		locks := &tried{around: around{nodes.Client(redlock.WithRetryDelay(100*time.Millisecond, 100*time.Millisecond))}}
		s := newSemaphore(t, locks, 1)
		for range 200 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			if _, err := s.Acquire(ctx, ttl); !errors.Is(err, redlock.ErrTaken) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
			cancel()
		}
		if n := len(locks.resources); n > 22 {
			t.Errorf("the nodes were asked %d times in 2s", n)
		}
	})
}

// Where a permit has a vote for another and a node is down, there is no quorum for it, and the next permit is asked for.
func TestNextPermitWithoutAQuorum(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, nodes.Client(), 2)
		first := acquire(t, s)
		unlock(t, first)
		vote, err := nodes[:1].Client().TryLock(t.Context(), first.Resource(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		nodes.Down(2)
		for range 20 {
			unlock(t, acquire(t, s))
		}
		nodes.Heal()
		if err := vote.Unlock(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// around is a client with something of a test's own.
type around struct{ *redlock.Client }

func (a around) Unwrap() *redlock.Client { return a.Client }

// worn is a client for which the fencing counters of some resources have no token left.
type worn struct {
	around
	resources []string
}

func (w worn) TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error) {
	if slices.Contains(w.resources, resource) {
		return nil, &redlock.Error{Op: driver.OpAcquire, Resource: resource, Cause: redlock.ErrTokensUsedUp}
	}
	return w.Client.TryLock(ctx, resource, ttl)
}

// A permit without a token is left out, and a call ends if there is no other.
func TestTokensUsedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, worn{around{nodes.Client()}, []string{"pool/1", "pool/2"}}, 3)
		for range 10 {
			unlock(t, acquire(t, s))
		}
		one := newSemaphore(t, worn{around{nodes.Client()}, []string{"pool/1"}}, 2)
		held := acquire(t, one)
		if _, err := one.TryAcquire(t.Context(), ttl); !errors.Is(err, redlock.ErrTaken) || errors.Is(err, redlock.ErrTokensUsedUp) {
			t.Errorf("beside one that is held: %v", err)
		}
		time.AfterFunc(time.Second, func() { unlock(t, held) })
		next, err := one.Acquire(t.Context(), ttl)
		if err != nil {
			t.Fatal(err)
		}
		unlock(t, next)
		none := newSemaphore(t, worn{around{nodes.Client()}, []string{"pool/1", "pool/2"}}, 2)
		if _, err := none.Acquire(t.Context(), ttl); !errors.Is(err, redlock.ErrTokensUsedUp) || !errors.Is(err, redlock.ErrNotAcquired) {
			t.Error(err)
		}
	})
}

// flawed is a client that finds no quorum once, and then no token for one of two permits.
type flawed struct {
	around
	found bool
}

func (f *flawed) TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error) {
	switch {
	case !f.found:
		f.found = true
		return nil, &redlock.Error{Op: driver.OpAcquire, Resource: resource, Reason: redlock.ErrNoQuorum}
	case resource == "pool/1":
		return nil, &redlock.Error{Op: driver.OpAcquire, Resource: resource, Cause: redlock.ErrTokensUsedUp}
	}
	return f.Client.TryLock(ctx, resource, ttl)
}

// A call that passes over a permit without a token while the other is held here says that, and not what it found before.
func TestTakenBesideNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, &flawed{around: around{nodes.Client(redlock.WithRetryDelay(time.Second, time.Second))}}, 2)
		time.AfterFunc(500*time.Millisecond, func() {
			p := acquire(t, s)
			time.AfterFunc(5*time.Second, func() { unlock(t, p) })
		})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		if _, err := s.Acquire(ctx, ttl); !errors.Is(err, redlock.ErrTaken) || errors.Is(err, redlock.ErrNoQuorum) {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
	})
}

// A permit that is given back ends the delay after a look that found the other one taken by another process.
func TestNewsEndsTheDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, nodes.Client(redlock.WithRetryDelay(time.Minute, time.Minute)), 2)
		held := acquire(t, s)
		for i := range 2 {
			if name := fmt.Sprintf("pool/%d", i+1); name != held.Resource() {
				nodes.Steal(name, time.Hour)
			}
		}
		waiter := make(chan *semaphore.Permit)
		go func() { p, _ := s.Acquire(t.Context(), ttl); waiter <- p }()
		time.Sleep(time.Second)
		begun := time.Now()
		unlock(t, held)
		unlock(t, <-waiter)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// When the first caller gives up, the next one looks; and who never looked fails for the reason of those before it.
func TestTheNextLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, nodes.Client(), 1)
		nodes.Down()
		first, leave := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() { _, err := s.Acquire(first, ttl); gone <- err }()
		time.Sleep(time.Second)
		behind, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Acquire(behind, ttl); !errors.Is(err, redlock.ErrNoQuorum) || errors.Is(err, redlock.ErrTaken) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("behind one that finds no quorum: %v", err)
		}
		next := make(chan *semaphore.Permit)
		go func() { p, _ := s.Acquire(t.Context(), ttl); next <- p }()
		synctest.Wait()
		leave()
		if err := <-gone; !errors.Is(err, redlock.ErrNoQuorum) || !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		nodes.Heal()
		begun := time.Now()
		unlock(t, <-next)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the next caller waited for %v", took)
		}
	})
}

// A permit that is given back after work in one call wakes those who wait.
func TestHoldOfAPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(t, redlocktest.New(t, 3).Client(redlock.WithRetryDelay(time.Minute, time.Minute)), 1)
		held := acquire(t, s)
		waiter := make(chan *semaphore.Permit)
		go func() { p, _ := s.Acquire(t.Context(), ttl); waiter <- p }()
		synctest.Wait()
		begun := time.Now()
		if err := held.Hold(t.Context(), redlock.Renewal{}, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
		unlock(t, <-waiter)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the next caller waited for %v", took)
		}
	})
}

// A permit is given back even if what is to be done under it is not said right.
func TestHoldOfAPermitInvalid(t *testing.T) {
	s := newSemaphore(t, redlocktest.New(t, 3).Client(), 1)
	var none context.Context
	work := func(context.Context) error { t.Error("work was called"); return nil }
	for what, hold := range map[string]func(*semaphore.Permit) error{
		"nil work":    func(p *semaphore.Permit) error { return p.Hold(t.Context(), redlock.Renewal{}, nil) },
		"nil context": func(p *semaphore.Permit) error { return p.Hold(none, redlock.Renewal{}, work) },
		"renewal":     func(p *semaphore.Permit) error { return p.Hold(t.Context(), redlock.Renewal{Period: ttl}, work) },
	} {
		p := acquire(t, s) // the only one
		if err := hold(p); !errors.Is(err, redlock.ErrInvalid) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What is wrong is said at once, also while all permits are held here.
func TestRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		client := nodes.Client()
		nodes.Steal("pool/all", time.Hour)
		s := newSemaphore(t, client, 1)
		held := acquire(t, s)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		tooRare := redlock.Renewal{Period: ttl}
		for _, c := range []struct {
			what string
			err  func() error
			want error
		}{
			{"a TTL, waiting", func() error { _, err := s.Acquire(t.Context(), -1); return err }, redlock.ErrInvalid},
			{"a TTL", func() error { _, err := s.TryAcquire(t.Context(), -1); return err }, redlock.ErrInvalid},
			{"a renewal", func() error {
				return s.Hold(soon, ttl, tooRare, func(context.Context, *semaphore.Permit) error { return nil })
			}, redlock.ErrInvalid},
			{"a renewal of all", func() error {
				return s.HoldAll(soon, ttl, tooRare, func(context.Context, *redlock.Lease) error { return nil })
			}, redlock.ErrInvalid},
			{"a context that has ended", func() error { _, err := s.TryAcquire(ended, ttl); return err }, context.Canceled},
		} {
			if err := c.err(); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.what, err)
			}
		}
		unlock(t, held)
		if err := client.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if _, err := s.TryAcquire(t.Context(), ttl); err != redlock.ErrClosed {
			t.Errorf("a closed client: %v", err)
		}
	})
}

// tried is the resources that a semaphore asks for.
type tried struct {
	around
	resources []string
	tries     func(n int) // is told how often it has asked; may be nil
}

func (c *tried) TryLock(ctx context.Context, resource string, ttl time.Duration) (*redlock.Lease, error) {
	if c.resources = append(c.resources, resource); c.tries != nil {
		c.tries(len(c.resources))
	}
	return c.Client.TryLock(ctx, resource, ttl)
}

// Each permit that is not held here is asked for once, those first that were given back here since the last look.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		for i := range 4 {
			nodes.Steal(fmt.Sprintf("pool/%d", i+1), time.Hour)
		}
		locks := &tried{around: around{nodes.Client()}}
		s := newSemaphore(t, locks, 6)
		var none context.Context
		fifth, sixth := acquire(t, s), acquire(t, s)
		if err := fifth.Unlock(none); !errors.Is(err, redlock.ErrInvalid) { // and is still held
			t.Error(err)
		}
		if held := []string{fifth.Resource(), sixth.Resource()}; !slices.Contains(held, "pool/5") || !slices.Contains(held, "pool/6") {
			t.Errorf("held are %v", held)
		}
		locks.resources = nil
		if _, err := s.TryAcquire(t.Context(), ttl); !errors.Is(err, redlock.ErrTaken) {
			t.Error(err)
		}
		slices.Sort(locks.resources)
		if want := []string{"pool/1", "pool/2", "pool/3", "pool/4"}; !slices.Equal(locks.resources, want) {
			t.Errorf("asked for %v", locks.resources)
		}
		unlock(t, fifth)
		locks.resources = nil
		unlock(t, acquire(t, s))
		if want := []string{fifth.Resource()}; !slices.Equal(locks.resources, want) {
			t.Errorf("after it was given back, asked for %v, not %v", locks.resources, want)
		}
		unlock(t, sixth)

		nodes.Steal(sixth.Resource(), time.Hour) // which was given back here last
		nodes.Steal(fifth.Resource(), time.Hour)
		first := map[string]bool{}
		for range 20 {
			locks.resources = nil
			if _, err := s.TryAcquire(t.Context(), ttl); !errors.Is(err, redlock.ErrTaken) {
				t.Error(err)
			}
			first[locks.resources[0]] = true
		}
		if len(first) < 3 {
			t.Errorf("20 looks began with %v", first)
		}
	})
}

// Clients begin with different permits.
func TestOrderIsRandom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 1)
		first := map[string]bool{}
		for range 40 {
			locks := &tried{around: around{nodes.Client()}}
			unlock(t, acquire(t, newSemaphore(t, locks, 8)))
			first[locks.resources[0]] = true
		}
		if len(first) < 4 {
			t.Errorf("40 clients began with %d of 8 permits", len(first))
		}
	})
}

// A permit whose lease was lost can be had again.
func TestLostPermit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s := newSemaphore(t, nodes.Client(), 1)
		unlock(t, acquire(t, s))
		lost := acquire(t, s)
		nodes.Lose(lost.Lease)
		again := acquire(t, s)
		if err := lost.Unlock(t.Context()); !errors.Is(err, redlock.ErrLost) {
			t.Errorf("to give back a lost permit: %v", err)
		}
		if _, err := s.TryAcquire(t.Context(), ttl); !errors.Is(err, redlock.ErrTaken) {
			t.Errorf("the other permit was forgotten with it: %v", err)
		}
		unlock(t, again)
	})
}

// Hold renews the permit, gives it back however work ends, and lets the next have it.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		s, other := newSemaphore(t, nodes.Client(), 1), newSemaphore(t, nodes.Client(), 1)
		failed := errors.New("failed")
		err := s.Hold(t.Context(), ttl, redlock.Renewal{}, func(ctx context.Context, p *semaphore.Permit) error {
			time.Sleep(3 * ttl)
			if ctx.Err() != nil || p.Resource() != "pool/1" {
				t.Errorf("%s after three TTLs: %v", p.Resource(), context.Cause(ctx))
			}
			if err := other.Hold(t.Context(), ttl, redlock.Renewal{Wait: time.Second}, nothing); !errors.Is(err, redlock.ErrTaken) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("another at the same time: %v", err)
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Error(err)
		}
		func() {
			defer func() {
				if recover() != failed {
					t.Error("the panic did not arrive")
				}
			}()
			_ = s.Hold(t.Context(), ttl, redlock.Renewal{}, func(context.Context, *semaphore.Permit) error { panic(failed) })
		}()
		unlock(t, acquire(t, other))
		unlock(t, acquire(t, s))
	})
}

func nothing(context.Context, *semaphore.Permit) error { return nil }

// empty is a source of random bytes that has none.
type empty struct{}

func (empty) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestNoRandomBytes(t *testing.T) {
	s := newSemaphore(t, redlocktest.New(t, 1).Client(redlock.WithRuntime(driver.Runtime{Rand: empty{}})), 2)
	if _, err := s.Acquire(t.Context(), ttl); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.Is(err, redlock.ErrNotAcquired) {
		t.Error(err)
	}
}

// What was handed on long ago is forgotten: nobody pauses where all permits are free.
func TestAPauseIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSemaphore(t, redlocktest.New(t, 3).Client(), 1)
		var all sync.WaitGroup
		for range 17 {
			all.Go(func() {
				p, err := s.Acquire(t.Context(), ttl)
				if err != nil {
					t.Error(err)
					return
				}
				time.Sleep(time.Second)
				unlock(t, p)
			})
		}
		all.Wait()
		time.Sleep(time.Hour)
		begin := time.Now()
		p, err := s.Acquire(t.Context(), ttl)
		if took := time.Since(begin); err != nil || took > time.Millisecond {
			t.Errorf("after %v: %v", took, err)
		}
		unlock(t, p)
	})
}

// A call that finds a permit taken by another call here does not take it for one that is elsewhere, where nobody would gain by
// a pause: so the callers here still pause.
func TestPermitsHereAreNotElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := redlocktest.New(t, 3)
		nodes.Slow(time.Millisecond, 0, 1, 2)
		const work, grants = 50 * time.Millisecond, 200
		s, ctx := newSemaphore(t, nodes.Client(redlock.WithRetryDelay(100*time.Millisecond, 100*time.Millisecond)), 1), t.Context()
		var mu sync.Mutex
		n, pauses, ended := 0, 0, time.Now()
		var callers sync.WaitGroup
		for range 4 {
			callers.Go(func() {
				for {
					p, err := s.Acquire(ctx, ttl)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					if n++; time.Since(ended) >= 100*time.Millisecond {
						pauses++
					}
					isDone := n >= grants
					mu.Unlock()
					time.Sleep(work)
					mu.Lock()
					ended = time.Now()
					mu.Unlock()
					unlock(t, p)
					if isDone {
						return
					}
				}
			})
		}
		stop := make(chan bool)
		var poller sync.WaitGroup
		poller.Go(func() {
			for {
				if p, err := s.TryAcquire(ctx, ttl); err == nil {
					unlock(t, p)
				}
				select {
				case <-stop:
					return
				case <-time.After(300 * time.Microsecond):
				}
			}
		})
		callers.Wait()
		close(stop)
		poller.Wait()
		if pauses < 3 {
			t.Errorf("%d pauses in %d grants", pauses, n)
		}
	})
}
