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
		if got, want := fmt.Sprint(sent), "[acquire r1 release gone acquire r2]"; got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
	})
}

// Nobody waits for the answer to a command that was not sent, and no observer is told that its node timed out.
func TestNoAnswerToWhatIsNotSent(t *testing.T) {
	in(t, 1, func(w *world) {
		l := w.giveUpBehindAnother(WithNodeTimeout(time.Minute), WithObserver(w))
		l.answer(0) // what goes next is the release
		l.answer(1)
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
		another.newRound(driver.OpAcquire, time.Second, quorum.All(1), time.Now()).send()
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
