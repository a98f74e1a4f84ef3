package redlock

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// Several resources are one lock: all of them or none, in one round, in the same order whoever asks.
func TestLockAll(t *testing.T) {
	in(t, 5, func(w *world) {
		given := []string{"c", "a", "b"}
		lease, err := w.TryLockAll(w.Context(), given, time.Second)
		if err != nil {
			w.Fatal(err)
		}
		if w.at() != millis("3") || w.sent(driver.OpAcquire) != "11111" {
			w.Errorf("took %v, sent %s", w.at(), w.sent(driver.OpAcquire))
		}
		if keys := w.node(0).received(driver.OpAcquire)[0].Keys; !slices.Equal(keys, []string{"a", "b", "c"}) {
			w.Errorf("keys %v", keys)
		}
		if !slices.Equal(given, []string{"c", "a", "b"}) || !slices.Equal(lease.Resources(), []string{"a", "b", "c"}) || lease.Resource() != "a, b, c" {
			w.Errorf("given %v, resources %v, resource %q", given, lease.Resources(), lease.Resource())
		}
		lease.Resources()[0] = "another"
		w.atTime(millis("10"))
		for _, key := range given {
			if w.holders(key) != "ABCDE" {
				w.Errorf("%s is held on %s", key, w.holders(key))
			}
		}

		// Each of them is taken, and who is refused takes none.
		for _, others := range [][]string{{"a"}, {"x", "b"}, {"c", "y", "x"}} {
			if _, err := w.TryLockAll(w.Context(), others, time.Second); matches(err) != "NotAcquired Taken" {
				w.Errorf("%v: %v", others, err)
			}
		}
		if w.holders("x")+w.holders("y") != "" {
			w.Error("a part was taken")
		}
		if err := lease.Extend(w.Context(), 2*time.Second); err != nil {
			w.Error(err)
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		w.atTime(w.at() + millis("10"))
		if held := w.holders("a") + w.holders("b") + w.holders("c"); held != "" {
			w.Error("held on", held)
		}
	})
}

// A lock on several resources of which a quorum of nodes lost one is lost.
func TestLockAllLost(t *testing.T) {
	in(t, 3, func(w *world) {
		lease, err := w.LockAll(w.Context(), []string{"a", "b"}, time.Second)
		if err != nil {
			w.Fatal(err)
		}
		w.atTime(millis("10"))
		for _, n := range w.nodes[:2] {
			n.mu.Lock()
			n.memory.Delete("b")
			n.mu.Unlock()
		}
		if err := lease.Extend(w.Context(), time.Second); matches(err) != "Lost" || !strings.HasPrefix(text(err), `redlock: extend "a, b": lease lost`) {
			w.Error(err)
		}
	})
}

func TestLockAllArguments(t *testing.T) {
	for _, c := range []struct {
		resources []string
		want      string
		options   []Option
	}{
		{nil, "redlock: invalid argument: no resource", nil},
		{[]string{""}, "redlock: invalid argument: empty resource", nil},
		{[]string{"a", ""}, "redlock: invalid argument: empty resource", nil},
		{[]string{"a", "b", "a"}, `redlock: invalid argument: resource "a" is named twice`, nil},
		{[]string{"a", driver.TokenKey("a")}, `redlock: invalid argument: resource "redlock:token:a" has a name that fencing and the restart guard keep for themselves`,
			[]Option{WithFencing(Fencing{})}},
	} {
		in(t, 3, func(w *world) {
			if _, err := w.LockAll(w.Context(), c.resources, time.Second); text(err) != c.want {
				w.Errorf("%q: %v", c.resources, err)
			}
			if _, err := w.TryLockAll(w.Context(), c.resources, time.Second); text(err) != c.want {
				w.Errorf("%q: %v", c.resources, err)
			}
			if w.sent(driver.OpAcquire) != "000" {
				w.Error("sent")
			}
		}, c.options...)
	}
}

// The token of a lock on several resources is above those of all of them, and theirs from then on.
func TestLockAllTokens(t *testing.T) {
	in(t, 5, func(w *world) {
		for _, n := range w.nodes {
			n.counter("a", 3)
			n.counter("b", 9)
		}
		for _, c := range []struct {
			resources []string
			want      int64
		}{{[]string{"b", "a"}, 10}, {[]string{"a"}, 11}, {[]string{"a", "c"}, 12}, {[]string{"c"}, 13}} {
			lease, err := w.TryLockAll(w.Context(), c.resources, time.Second)
			if err != nil {
				w.Fatal(err)
			}
			if token, ok := lease.Token(); token != c.want || !ok {
				w.Errorf("%v: token %d, want %d", c.resources, token, c.want)
			}
			if err := lease.Unlock(w.Context()); err != nil {
				w.Error(err)
			}
			w.atTime(w.at() + millis("10"))
		}
		if a, b, c := w.node(0).count("a"), w.node(0).count("b"), w.node(0).count("c"); a != 12 || b != 10 || c != 13 {
			w.Error(a, b, c)
		}
	}, WithFencing(Fencing{}), WithRestartGuard(Guard{MaxTTL: time.Minute}), prepared)
}

// prepared is an option for nodes that the restart guard finds fit to vote.
func prepared(to *settings) error {
	for _, n := range to.nodes {
		s := n.(*scripted)
		s.set(driver.GuardKey, fmt.Sprint(s.memory.Run, " 0 ", to.maxTTL.Milliseconds()))
	}
	return nil
}

// Whoever waits for some of several resources is called when they are released.
func TestLockAllWakeUp(t *testing.T) {
	for _, waits := range [][]string{{"b"}, {"a", "z"}, {"c", "b", "a"}} {
		in(t, 3, func(w *world) {
			lease, err := w.LockAll(w.Context(), []string{"a", "b"}, time.Minute)
			if err != nil {
				w.Fatal(err)
			}
			time.AfterFunc(time.Second, func() { _ = lease.Unlock(context.Background()) })
			got, err := w.LockAll(w.Context(), waits, time.Minute)
			if err != nil || w.at() > 1100*time.Millisecond {
				w.Errorf("%v: at %v: %v", waits, w.at(), err)
			}
			_ = got.Unlock(w.Context())
		}, WithWakeUp(millis("10")), WithRetryDelay(10*time.Second, 10*time.Second))
	}
}
