package redlock

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

func TestNewRefuses(t *testing.T) {
	twice := append(fakes(3), fakes(1)...)
	withNil := fakes(3)
	withNil[1] = nil
	factor := func(f string) Option { return WithDrift(Drift{Factor: f}) }
	const invalid = "redlock: invalid argument: "
	for _, c := range []struct {
		nodes []driver.Node
		opt   Option
		want  string
	}{
		{nil, nil, "0 nodes, must be from 1 to 64"},
		{fakes(65), nil, "65 nodes, must be from 1 to 64"},
		{withNil, nil, "node 1 is nil"},
		{twice, nil, `node "node0" is listed twice, its vote would count twice`},
		{fakes(5), WithQuorum(2), "quorum 2 of 5 nodes, must be from 3 to 5"},
		{fakes(5), WithQuorum(6), "quorum 6 of 5 nodes, must be from 3 to 5"},
		{fakes(4), WithQuorum(2), "quorum 2 of 4 nodes, must be from 3 to 4"},
		{fakes(1), WithQuorum(0), "quorum 0 of 1 nodes, must be from 1 to 1"},
		{fakes(5), factor("1"), "drift factor 1 is not from 0 to less than 1"},
		{fakes(5), factor("-0.01"), "drift factor -0.01 is not from 0 to less than 1"},
		{fakes(5), factor("100%"), "drift factor 100% is not from 0 to less than 1"},
		{fakes(5), factor("a lot"), `drift factor "a lot" is not a part of the TTL, as "1%" or "0.01"`},
		{fakes(5), factor("%"), `drift factor "%" is not a part of the TTL, as "1%" or "0.01"`},
		{fakes(5), factor("1e-5"), `drift factor "1e-5" is not a part of the TTL, as "1%" or "0.01"`},
		{fakes(5), WithDrift(Drift{Constant: -1}), "drift constant -1ns is negative"},
		{fakes(5), WithNodeTimeout(0), "node timeout 0s is not positive"},
		{fakes(5), WithNodeTimeout(-time.Second), "node timeout -1s is not positive"},
		{fakes(5), WithRetryDelay(-1, 0), "retry delay from -1ns to 0s, must be positive and not fall"},
		{fakes(5), WithRetryDelay(2, 1), "retry delay from 2ns to 1ns, must be positive and not fall"},
		{fakes(5), WithLossLead(0), "loss lead 0s is not positive"},
		{fakes(5), WithLossLead(-1), "loss lead -1ns is not positive"},
	} {
		var opts []Option
		if c.opt != nil {
			opts = append(opts, c.opt)
		}
		client, err := New(c.nodes, opts...)
		if client != nil || text(err) != invalid+c.want || !errors.Is(err, ErrInvalid) {
			t.Errorf("got %v, %v\nwant %s%s", client, err, invalid, c.want)
		}
	}
}

func TestNewTakes(t *testing.T) {
	for _, c := range []struct {
		n      int
		opts   []Option
		quorum int
	}{
		{1, nil, 1},
		{2, nil, 2},
		{4, nil, 3},
		{5, nil, 3},
		{64, nil, 33},
		{5, []Option{WithQuorum(3)}, 3},
		{5, []Option{WithQuorum(5)}, 5},
		{5, []Option{WithQuorum(5), WithQuorum(4)}, 4},
		{5, []Option{WithDrift(Drift{}), WithRetryDelay(1, 1), WithLossLead(1), WithNodeTimeout(1)}, 3},
	} {
		client, err := New(fakes(c.n), c.opts...)
		if err != nil || client.quorum != c.quorum {
			t.Errorf("%d nodes, %d options: %+v, %v, want quorum %d", c.n, len(c.opts), client, err, c.quorum)
		}
	}
}

// The caller may go on using its slice of nodes.
func TestNewKeepsItsOwnNodes(t *testing.T) {
	in(t, 1, func(w *world) {
		nodes := []driver.Node{w.node(0)}
		c, err := New(nodes)
		if err != nil {
			w.Fatal(err)
		}
		nodes[0] = nil
		if _, err := c.TryLock(w.Context(), "r", time.Second); err != nil {
			w.Error(err)
		}
	})
}

// What a call refuses before anything is sent.
func TestArguments(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	var none context.Context
	for _, c := range []struct {
		name     string
		ctx      context.Context
		resource string
		ttl      time.Duration
		want     string
		matches  string
	}{
		{"nil context", none, "r", time.Second, "redlock: invalid argument: nil context", "Invalid"},
		{"empty resource", context.Background(), "", time.Second, "redlock: invalid argument: empty resource", "Invalid"},
		{"TTL", context.Background(), "r", 0, "redlock: invalid argument: TTL 0s is not a positive whole number of milliseconds, as Redis keeps it", "Invalid"},
		{"ended context", ended, "r", time.Second, `redlock: acquire "r": context canceled`, "NotAcquired Canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				for name, call := range map[string]func(context.Context, string, time.Duration) (*Lease, error){"Lock": w.Lock, "TryLock": w.TryLock} {
					lease, err := call(c.ctx, c.resource, c.ttl)
					if lease != nil || text(err) != c.want || matches(err) != c.matches {
						t.Errorf("%s: %v, %v (matches %s)\nwant %s (matches %s)", name, lease, err, matches(err), c.want, c.matches)
					}
				}
				if w.sent(driver.OpAcquire) != "000" || w.at() != 0 || matches(w.Close(none)) != "Invalid" {
					t.Errorf("sent %s, took %v", w.sent(driver.OpAcquire), w.at())
				}
				w.transcript("")
			})
		})
	}
}

func TestLeaseArguments(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		ended, end := context.WithCancel(w.Context())
		end()
		var none context.Context
		for _, c := range []struct {
			err           error
			want, matches string
		}{
			{lease.Extend(none, time.Second), "redlock: invalid argument: nil context", "Invalid"},
			{lease.Unlock(none), "redlock: invalid argument: nil context", "Invalid"},
			{w.Close(none), "redlock: invalid argument: nil context", "Invalid"},
			{lease.Extend(w.Context(), -1), "redlock: invalid argument: TTL -1ns is not a positive whole number of milliseconds, as Redis keeps it", "Invalid"},
			{lease.Extend(ended, time.Second), `redlock: extend "r": context canceled`, "Canceled"},
		} {
			if text(c.err) != c.want || matches(c.err) != c.matches {
				w.Errorf("%v (matches %s)\nwant %s (matches %s)", c.err, matches(c.err), c.want, c.matches)
			}
		}
		if w.sent(driver.OpExtend) != "000" || w.sent(driver.OpRelease) != "000" {
			w.Errorf("sent %s extends and %s releases", w.sent(driver.OpExtend), w.sent(driver.OpRelease))
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Errorf("the lease was used up: %v", err)
		}
	})
}

// Close waits for every command that was sent, also those nobody else waits for any more.
func TestCloseWaits(t *testing.T) {
	for _, c := range []struct {
		name, acquire, release string
		call                   func(w *world)
		want                   time.Duration
	}{
		{"nothing sent", "", "", func(*world) {}, 0},
		{"all answered", "ok:1 ok:2 ok:3", "", func(w *world) { w.mustLock(time.Second); w.atTime(millis("7")) }, millis("7")},
		{"slow vote", "ok:1 ok:2 ok:30", "", func(w *world) { w.mustLock(time.Second) }, millis("30")},
		{"silent node", "ok:1 ok:2 lost", "", func(w *world) { w.mustLock(time.Second) }, millis("50")},
		{"slow release", "ok:1 ok:2 ok:3", "ok:1 ok:2 ok:40", func(w *world) { w.mustLock(time.Second).Unlock(w.Context()) }, millis("43")},
		// It is sent at 3 ms, and its node timeout counts from 2 ms, like that of the others.
		{"silent release, after a vote that was late", "ok:1 ok:2 ok:3", "ok:1 ok:2 lost", func(w *world) { w.mustLock(time.Second).Unlock(w.Context()) }, millis("52")},
		{"nothing to clean up", "no:1 no:2 no:3", "", func(w *world) { w.TryLock(w.Context(), "r", time.Second) }, millis("3")},
		{"clean-up", "ok:1 no:2 no:2", "ok:30 ok:1 ok:1", func(w *world) { w.TryLock(w.Context(), "r", time.Second) }, millis("32")},
		{"vote taken back", "no:1 no:2 ok:30", "ok:1 ok:1 ok:11", func(w *world) { w.TryLock(w.Context(), "r", time.Second) }, millis("41")},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				if c.acquire != "" {
					w.script(driver.OpAcquire, c.acquire)
				}
				if c.release != "" {
					w.script(driver.OpRelease, c.release)
				}
				c.call(w)
				if err := w.Close(w.Context()); err != nil || w.at() != c.want {
					w.Errorf("Close returned %v at %v, want nil at %v", err, w.at(), c.want)
				}
				if err := w.Close(w.Context()); err != nil || w.at() != c.want {
					w.Errorf("Close returned %v at %v the second time", err, w.at())
				}
			})
		})
	}
}

// Several can wait in Close, each with a bound of its own.
func TestCloseBound(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "ok:1 ok:2 lost")
		w.mustLock(time.Second)
		done := make(chan string)
		for _, bound := range []string{"100", "10", "200"} {
			go func() {
				ctx, cancel := context.WithTimeout(w.Context(), millis(bound))
				defer cancel()
				err := w.Close(ctx)
				done <- fmt.Sprintf("%s: %v, %s", w.at(), text(err), matches(err))
			}()
		}
		for _, want := range []string{
			"12ms: redlock: close: 1 calls and rounds under way: context deadline exceeded, DeadlineExceeded",
			"50ms: nil, ",
			"50ms: nil, ",
		} {
			if got := <-done; got != want {
				w.Errorf("%s\nwant %s", got, want)
			}
		}
	})
}

func TestClosedRefuses(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "ok ok lost")
		lease := w.mustLock(time.Second)
		ended, end := context.WithCancel(w.Context())
		end()
		if err := w.Close(ended); matches(err) != "Canceled" {
			w.Errorf("Close with an ended context: %v", err)
		}
		// Closed all the same.
		_, lock := w.Lock(w.Context(), "r", time.Second)
		_, try := w.TryLock(w.Context(), "r", time.Second)
		for name, err := range map[string]error{"Lock": lock, "TryLock": try, "Extend": lease.Extend(w.Context(), time.Second)} {
			if !errors.Is(err, ErrClosed) {
				w.Errorf("%s after Close: %v", name, err)
			}
		}
		if w.sent(driver.OpAcquire) != "111" || w.sent(driver.OpExtend) != "000" {
			w.Errorf("sent %s acquires and %s extends", w.sent(driver.OpAcquire), w.sent(driver.OpExtend))
		}
		// What is held can still be given back.
		if err := lease.Unlock(w.Context()); err != nil || w.holders("r") != "" {
			w.Errorf("Unlock after Close: %v, held by %s", err, w.holders("r"))
		}
	})
}

// A Lock that waits for its next attempt does not make one.
func TestCloseEndsRetries(t *testing.T) {
	in(t, 3, func(w *world) {
		for _, n := range w.nodes {
			n.hold("r", time.Minute)
		}
		done := make(chan error)
		go func() {
			_, err := w.Lock(w.Context(), "r", time.Second)
			done <- err
		}()
		w.atTime(millis("25"))
		if err := w.Close(w.Context()); err != nil {
			w.Error(err)
		}
		if err := <-done; matches(err) != "NotAcquired Taken Closed" || w.at() > millis("40") {
			w.Errorf("at %v: %v (matches %s)", w.at(), err, matches(err))
		}
	})
}

// Close waits for both round trips of a PrepareGuard that is under way.
func TestCloseWaitsForPrepareGuard(t *testing.T) {
	in(t, 3, func(w *world) {
		go func() { _ = w.PrepareGuard(w.Context()) }()
		w.atTime(millis("1"))
		if err := w.Close(w.Context()); err != nil || w.at() != millis("6") {
			w.Errorf("Close returned %v at %v", err, w.at())
		}
	}, guarded)
}

// A vote that is about to be taken back is not over for Close.
func TestCloseWaitsForTakingBack(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "no:1 no:2 ok:30")
		w.script(driver.OpRelease, "ok:1 ok:1 ok:1")
		w.TryLock(w.Context(), "r", time.Second)
		// Found out at 30 ms, sent at 40, answered 1 ms later.
		if err := w.Close(w.Context()); err != nil || w.at() != millis("41") {
			w.Errorf("Close returned %v at %v", err, w.at())
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.TakenBack {
			time.Sleep(millis("10"))
		}
	})))
}

// Once Close has returned, a call that was between its check and its first round, or between two rounds, sends nothing.
func TestCloseWaitsForCalls(t *testing.T) {
	for _, step := range []observe.Step{observe.AttemptStarted, observe.Denied} {
		t.Run(step.String(), func(t *testing.T) {
			in(t, 1, func(w *world) {
				w.script(driver.OpAcquire, "no:1")
				go w.TryLock(w.Context(), "r", time.Second)
				w.atTime(millis("5"))
				if err := w.Close(w.Context()); err != nil {
					w.Error(err)
				}
				closed := time.Now()
				w.atTime(time.Second)
				for _, r := range w.node(0).got {
					if r.sent.After(closed) {
						w.Errorf("%v sent %v after Close had returned", r.Op, r.sent.Sub(closed))
					}
				}
			}, WithObserver(atStep(func(e observe.Event) {
				if e.Step == step {
					time.Sleep(millis("10"))
				}
			})))
		})
	}
}
