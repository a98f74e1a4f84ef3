package redlock

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// sequence is a source of tokens: what it does when it is asked for the next one, which is the number.
type sequence struct {
	asked int64
	gives func(ctx context.Context, n int64) (int64, error)
}

func (s *sequence) Token(ctx context.Context, _ []string) (int64, error) {
	s.asked++
	return s.gives(ctx, s.asked)
}

// A grant has the token that was drawn for it, and what that took is taken from the validity. Nodes see no token.
func TestTokensFromElsewhere(t *testing.T) {
	s := &sequence{gives: func(_ context.Context, n int64) (int64, error) { time.Sleep(7 * time.Millisecond); return 10 * n, nil }}
	in(t, 3, func(w *world) {
		lease, err := w.TryLock(w.Context(), "r", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		// Two nodes answer within 2 ms; the allowance is 12 ms.
		if left := time.Until(lease.Until()); left != time.Second-2*time.Millisecond-7*time.Millisecond-12*time.Millisecond {
			t.Errorf("valid for %v", left)
		}
		if token(t, lease) != 10 {
			t.Errorf("token %d", token(t, lease))
		}
		if got := w.node(0).received(driver.OpAcquire); len(got) != 1 || w.counters("r") != "0 0 0" {
			t.Errorf("%d acquires, counters %s", len(got), w.counters("r"))
		}
		if err := lease.Extend(w.Context(), time.Second); err != nil || s.asked != 1 || token(t, lease) != 10 {
			t.Errorf("an extend: %v, %d tokens drawn", err, s.asked)
		}
	}, WithTokens(s))
}

// Without a token there is no lock, and what the nodes hold is released.
func TestNoToken(t *testing.T) {
	down := errors.New("the database is down")
	for name, test := range map[string]struct {
		gives func(ctx context.Context, n int64) (int64, error)
		want  error
	}{
		"an error":        {func(context.Context, int64) (int64, error) { return 0, down }, down},
		"zero":            {func(context.Context, int64) (int64, error) { return 0, nil }, ErrNoToken},
		"negative":        {func(context.Context, int64) (int64, error) { return -1, nil }, ErrNoToken},
		"in time":         {func(ctx context.Context, _ int64) (int64, error) { <-ctx.Done(); return 0, ctx.Err() }, ErrNoToken},
		"longer than TTL": {func(context.Context, int64) (int64, error) { time.Sleep(time.Second); return 1, nil }, ErrTooLate},
	} {
		in(t, 3, func(w *world) {
			began := time.Now()
			lease, err := w.TryLock(w.Context(), "r", time.Second)
			if lease != nil || !errors.Is(err, test.want) || !errors.Is(err, ErrNotAcquired) || errors.Is(err, ErrNoToken) == (test.want == ErrTooLate) {
				t.Errorf("%s: %v", name, err)
			}
			if errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the caller's context lives: %v", name, err)
			}
			if took := time.Since(began); name == "in time" && took != DefaultNodeTimeout+2*time.Millisecond {
				t.Errorf("%s: the source has %v to answer", name, took)
			}
			time.Sleep(100 * time.Millisecond)
			if held := w.holders("r"); held != "" {
				t.Errorf("%s: left on the nodes: %s", name, held)
			}
		}, WithTokens(&sequence{gives: test.gives}))
	}
}

// Lock tries again after a source that fails, and gives up when its context ends, whatever the source does then.
func TestLockWithoutAToken(t *testing.T) {
	s := &sequence{gives: func(ctx context.Context, n int64) (int64, error) {
		if n < 3 {
			return 0, errors.New("not yet")
		}
		return n, nil
	}}
	in(t, 3, func(w *world) {
		if lease, err := w.Lock(w.Context(), "r", time.Second); err != nil || token(t, lease) != 3 {
			t.Errorf("%v, %v", lease, err)
		}
	}, WithTokens(s))
	s = &sequence{gives: func(ctx context.Context, n int64) (int64, error) { <-ctx.Done(); return n, nil }}
	in(t, 3, func(w *world) {
		ctx, cancel := context.WithTimeout(w.Context(), 20*time.Millisecond)
		defer cancel()
		if lease, err := w.Lock(ctx, "r", time.Second); lease != nil || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrNoToken) {
			t.Errorf("%v, %v", lease, err)
		}
	}, WithTokens(s))
}

// confirming is a node that can say what its replicas have.
type confirming struct{ *scripted }

func (confirming) ConfirmsReplicas() {}

// Acquires and extends ask for replicas, releases do not; nodes that cannot say what these have are refused.
func TestReplicas(t *testing.T) {
	in(t, 1, func(w *world) {
		if c, err := New([]driver.Node{w.node(0)}, WithReplicas(1)); c != nil || !errors.Is(err, ErrInvalid) {
			t.Errorf("%v, %v", c, err)
		}
		for _, n := range []int{0, -1} {
			if c, err := New([]driver.Node{confirming{w.node(0)}}, WithReplicas(n)); c != nil || !errors.Is(err, ErrInvalid) {
				t.Errorf("%d replicas: %v, %v", n, c, err)
			}
		}
		c, err := New([]driver.Node{confirming{w.node(0)}}, WithReplicas(2))
		if err != nil {
			t.Fatal(err)
		}
		lease, err := c.TryLock(w.Context(), "r", time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(lease.Extend(w.Context(), time.Second), lease.Unlock(w.Context())); err != nil {
			t.Fatal(err)
		}
		for op, want := range map[driver.Op]int{driver.OpAcquire: 2, driver.OpExtend: 2, driver.OpRelease: 0} {
			if all := w.node(0).received(op); len(all) != 1 || all[0].Replicas != want {
				t.Errorf("%v: %+v", op, all)
			}
		}
	})
}

// A grant has one token, and a source is something.
func TestTokensRefused(t *testing.T) {
	for _, opts := range [][]Option{{WithTokens(nil)}, {WithTokens(&sequence{}), fenced}, {fenced, WithTokens(&sequence{})}} {
		if c, err := New(fakes(3), opts...); c != nil || !errors.Is(err, ErrInvalid) {
			t.Errorf("%v, %v", c, err)
		}
	}
}
