package redlock

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// A client with far more to do than its nodes can take refuses some calls, but leaves nothing behind: releases go before
// everything else, and are sent however late it is.
func TestOverload(t *testing.T) {
	for _, test := range []struct{ batches, calls int }{{1, 2000}, {defaultBatching, 8000}} {
		t.Run(fmt.Sprint(test.batches), func(t *testing.T) {
			if testing.Short() && test.calls > 2000 {
				t.Skip("the race detector takes minutes for 8000 calls at once")
			}
			in(t, 3, func(w *world) {
				for _, n := range w.nodes {
					n.trip = millis("11")
				}
				mine, err := w.TryLock(w.Context(), "mine", time.Hour)
				if err != nil {
					w.Fatal(err)
				}
				var mu sync.Mutex
				refused := []string{"mine"}
				var all sync.WaitGroup
				for i := range test.calls {
					all.Go(func() {
						resource := fmt.Sprint(i)
						if _, err := w.TryLock(w.Context(), resource, time.Hour); err != nil {
							mu.Lock()
							refused = append(refused, resource)
							mu.Unlock()
						}
					})
				}
				synctest.Wait()
				if err := mine.Unlock(w.Context()); err != nil {
					w.Errorf("the release behind %d acquires: %v", test.calls, err)
				}
				all.Wait()
				w.atTime(time.Minute)
				if n := len(refused) - 1; n == 0 || n == test.calls {
					w.Fatalf("%d of %d calls were refused: that is no overload", n, test.calls)
				}
				for _, key := range refused {
					if held := w.holders(key); held != "" {
						w.Errorf("%s is left on %s", key, held)
					}
				}
			}, silent, WithBatching(test.batches))
		})
	}
}

// standing is a clock that stands still for longer than the node timeout, once, when a timer is started.
type standing struct {
	driver.Clock
	still *atomic.Bool
}

func (c standing) AfterFunc(d time.Duration, f func()) driver.Timer {
	if c.still.CompareAndSwap(true, false) {
		time.Sleep(millis("60"))
	}
	return c.Clock.AfterFunc(d, f)
}

// A release is sent also when its process was stopped between the reading of the clock and the sending.
func TestReleaseAfterAStandstill(t *testing.T) {
	still := &atomic.Bool{}
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Minute)
		still.Store(true)
		_ = lease.Unlock(w.Context())
		w.atTime(time.Second)
		if sent, held := w.sent(driver.OpRelease), w.holders("r"); still.Load() || sent != "111" || held != "" {
			w.Errorf("%s releases were sent, and %q hold the key", sent, held)
		}
	}, WithRuntime(driver.Runtime{Clock: standing{driver.SystemClock(), still}}))
}

// giveUpBehindAnother has a call give up whose command waits behind an unanswered one, and gives the node.
func (w *world) giveUpBehindAnother(opts ...Option) *ledger {
	l := &ledger{}
	c, err := New([]driver.Node{l}, append(opts, WithBatching(1))...)
	if err != nil {
		w.Fatal(err)
	}
	w.Client = c
	w.ask(1, millis("1"))
	ctx, cancel := context.WithCancel(w.Context())
	go func() { _, _ = c.TryLock(ctx, "gone", time.Second) }()
	time.Sleep(millis("1"))
	cancel()
	time.Sleep(millis("1"))
	return l
}

// What a call has given up is not sent any more.
func TestGivenUpIsNotSent(t *testing.T) {
	in(t, 1, func(w *world) {
		l := w.giveUpBehindAnother()
		w.ask(1, millis("20"))
		var sent []string
		l.mu.Lock()
		for _, b := range l.batches {
			for _, cmd := range b {
				sent = append(sent, cmd.Op.String()+" "+cmd.Keys[0])
			}
		}
		l.mu.Unlock()
		if got, want := fmt.Sprint(sent), "[acquire r1 acquire r2]"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// Nobody waits for the answer to a command that was not sent, and no observer is told that its node timed out.
func TestNoAnswerToWhatIsNotSent(t *testing.T) {
	in(t, 1, func(w *world) {
		l := w.giveUpBehindAnother(WithNodeTimeout(time.Minute), WithObserver(w))
		l.answer(0)
		bounded, stop := context.WithTimeout(w.Context(), time.Second)
		defer stop()
		if err := w.Close(bounded); err != nil {
			t.Error(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, line := range w.lines {
			if strings.Contains(line, driver.TimedOut.Of(driver.OpAcquire)) {
				t.Error(line)
			}
		}
	})
}

// Preparing the guard takes its two round trips, and is over for the batches then.
func TestPrepareGuardInBatches(t *testing.T) {
	in(t, 3, func(w *world) {
		for range 2 {
			began := w.at()
			if err := w.PrepareGuard(w.Context()); err != nil {
				t.Fatal(err)
			}
			if took := w.at() - began; took != millis("6") {
				t.Errorf("took %v", took)
			}
		}
	}, WithRestartGuard(Guard{MaxTTL: time.Minute}), WithBatching(1))
}

// chatty is a node that answers within Do, and at whose every command another call comes in.
type chatty struct {
	client                *Client
	left, nested, deepest int
}

func (*chatty) Name() string { return "chatty" }

func (n *chatty) Do(batch []*driver.Command) {
	n.nested++
	n.deepest = max(n.deepest, n.nested)
	if n.left--; n.left > 0 {
		another := &acquisition{client: n.client, ctx: context.Background(), keys: []string{"r"}, value: fmt.Sprint(n.left)}
		r := another.newRound(driver.OpAcquire, time.Second, time.Now())
		r.sendTo(quorum.All(1), r.start)
	}
	for _, cmd := range batch {
		cmd.Done(cmd, driver.Reply{Outcome: driver.Accepted})
	}
	n.nested--
}

// Nodes that answer within Do do not pile calls up on the stack.
func TestNodesThatAnswerWithinDo(t *testing.T) {
	n := &chatty{left: 1000}
	c, err := New([]driver.Node{n}, WithNodeTimeout(time.Minute)) // a busy machine has more to do than this
	if err != nil {
		t.Fatal(err)
	}
	n.client = c
	if _, err := c.TryLock(t.Context(), "r", time.Hour); err != nil || n.left != 0 || n.deepest != 1 {
		t.Errorf("%v, %d calls were not made, Do was in itself %d deep", err, n.left, n.deepest)
	}
}

// backlog is so many calls at once that a node which does not answer is not even sent all of them within a node timeout, one
// after the other and then three full batches.
const backlog = 1 + 3*largestBatch + 300

// Releases are sent once, and Unlock waits for that, however long they have waited for their turn, also when the client is
// closed. Nodes that answer are not suspected because an acquire had no turn.
func TestReleasesWaitForTheirTurn(t *testing.T) {
	for _, isClosed := range []bool{false, true} {
		t.Run(fmt.Sprintf("closed %v", isClosed), func(t *testing.T) {
			in(t, 3, func(w *world) {
				leases := w.lockMany(2 * backlog)
				for _, n := range w.nodes {
					n.mu.Lock()
					n.trip = 30 * time.Millisecond // less than three quarters of the node timeout
					n.mu.Unlock()
				}
				if isClosed {
					_ = w.Close(w.Context())
				}
				var all sync.WaitGroup
				for _, l := range leases {
					all.Go(func() {
						if err := l.Unlock(w.Context()); err != nil {
							w.Error(err)
						}
					})
				}
				synctest.Wait()
				if !isClosed {
					_, err := w.TryLock(w.Context(), "r", time.Second)
					if suspected, _ := w.suspected(); matches(err) != "NotAcquired NoQuorum" || suspected != 0 {
						w.Errorf("%v, and nodes %b are suspected", err, suspected)
					}
				}
				all.Wait()
				w.atTime(w.at() + time.Second)
				if want := fmt.Sprint(len(leases)); w.sent(driver.OpRelease) != want+want+want {
					w.Errorf("%s releases for %s leases", w.sent(driver.OpRelease), want)
				}
				for _, l := range leases {
					if held := w.holders(l.Resource()); held != "" {
						w.Fatalf("%s is left on %s", l.Resource(), held)
					}
				}
			}, silent, WithBatching(1))
		})
	}
}

// lockMany takes so many locks, and has the nodes answer all that they were asked.
func (w *world) lockMany(n int) (leases []*Lease) {
	for i := range n {
		lease, err := w.TryLock(w.Context(), fmt.Sprint(i), time.Hour)
		if err != nil {
			w.Fatal(err)
		}
		leases = append(leases, lease)
	}
	w.atTime(w.at() + time.Second)
	return leases
}

// What is given up in the queue was never sent: a vote leaves nothing to release, and a release is sent later, once.
func TestGivenUpInTheQueue(t *testing.T) {
	t.Run("acquires", func(t *testing.T) {
		in(t, 3, func(w *world) {
			w.silence(w.node(1), w.node(2))
			w.ask(backlog, 2*time.Second)
			for _, i := range []int{1, 2} {
				asked := map[string]bool{}
				for _, r := range w.node(i).received(driver.OpAcquire) {
					asked[r.Value] = true
				}
				if len(asked) == 0 || len(asked) == backlog {
					w.Fatalf("%d of %d acquires were sent", len(asked), backlog)
				}
				for _, r := range w.node(i).received(driver.OpRelease) {
					if !asked[r.Value] {
						w.Fatalf("%s is asked for the release of what it was never asked for", w.node(i).name)
					}
				}
			}
		}, silent, WithBatching(1))
	})
	t.Run("releases", func(t *testing.T) {
		in(t, 3, func(w *world) {
			leases := w.lockMany(backlog)
			back := w.node(2)
			w.silence(back)
			for _, l := range leases {
				go func() { _ = l.Unlock(w.Context()) }()
			}
			w.atTime(w.at() + millis("60"))
			w.hear(back)
			w.ask(1, 2*time.Second) // the answer shows that it is back
			sent := map[string]int{}
			for _, r := range back.received(driver.OpRelease) {
				sent[r.Keys[0]]++
			}
			once := 0
			for i := range backlog {
				if held := w.holders(fmt.Sprint(i)); held != "" {
					w.Fatalf("%d is left on %s", i, held)
				}
				if sent[fmt.Sprint(i)] == 1 {
					once++
				}
			}
			if once == 0 {
				w.Errorf("all %d releases were sent more than once, also those that had waited", backlog)
			}
		}, silent, WithBatching(1))
	})
}
