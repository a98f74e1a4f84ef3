package redlock

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// hear makes a node answer again.
func (w *world) hear(n *scripted) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.deaf = false
}

// releases lists when a node was sent releases of "r".
func (w *world) releases(n *scripted) (at []time.Duration) {
	for _, r := range n.received(driver.OpRelease) {
		if r.Keys[0] == "r" {
			at = append(at, r.sent.Sub(w.began))
		}
	}
	return at
}

// A release that was not confirmed is sent again, after twice as long each time, and not after the key has expired.
func TestReleaseIsSentAgain(t *testing.T) {
	const ttl = 10 * time.Second
	for _, c := range []struct {
		name, acquire string
		release       string // of the last node, time after time
		again         time.Duration
	}{
		// Node C is given up at 52 ms, 50 ms after the release, and asked again a node timeout later.
		{"silent", "ok:1 ok:2 ok:2", strings.Repeat("lost ", 100), millis("102")},
		{"refused", "ok:1 ok:2 ok:2", strings.Repeat("refused:1 ", 100), millis("53")},
		{"failed", "ok:1 ok:2 ok:2", strings.Repeat("failed:1 ", 100), millis("53")},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				w.script(driver.OpAcquire, c.acquire)
				for _, plan := range strings.Fields(c.release) {
					w.node(2).next(driver.OpRelease, plan)
				}
				if err := w.mustLock(ttl).Unlock(w.Context()); err != nil {
					w.Fatal(err)
				}
				w.atTime(time.Minute)
				at := w.releases(w.node(2))
				if len(at) < 2 || at[1] != c.again {
					w.Fatalf("releases at %v, want the second at %v", at, c.again)
				}
				// 50 ms doubled is beyond 10 s after eight times; between two of a silent node there are 1.05 s at the most.
				if last := at[len(at)-1]; last > ttl+w.nodeTimeout || len(at) > 20 {
					w.Errorf("%d releases, the last one at %v", len(at), last)
				}
				if a, b := len(w.releases(w.node(0))), len(w.releases(w.node(1))); a != 1 || b != 1 {
					w.Errorf("nodes that have confirmed the release were sent %d and %d", a, b)
				}
			})
		})
	}
}

// A vote whose answer was lost is released when its node timeout is over, and again while the node may still have it to carry
// out: it says then that the key is not there.
func TestReleaseOfWhatMayCome(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "no:1 no:2 ok:120+1")
		if _, err := w.TryLock(w.Context(), "r", time.Minute); matches(err) != "NotAcquired Taken" {
			w.Fatal(err)
		}
		w.atTime(millis("121"))
		if w.holders("r") != "C" {
			w.Fatalf("%q hold the key", w.holders("r"))
		}
		// The first release comes after 50 ms and is answered at once, the second one after 50 more, the third after 100 more.
		w.atTime(millis("210"))
		if w.holders("r") != "" {
			w.Errorf("%q hold the key, releases were sent at %v", w.holders("r"), w.releases(w.node(2)))
		}
	})
}

// A release that deletes the vote for the first token is no end where the node may still have to vote for the second one.
func TestReleaseBetweenTwoVotes(t *testing.T) {
	in(t, 3, func(w *world) {
		w.script(driver.OpAcquire, "behind7:1 behind7:2 ok:1")
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:120+1")
		if err := w.mustLock(time.Minute).Unlock(w.Context()); err != nil {
			w.Fatal(err)
		}
		// The second token is proposed after 2 ms. C is given up after 50 more, and the key of its first vote deleted.
		w.atTime(millis("60"))
		if w.holders("r") != "" {
			w.Fatalf("%q hold the key", w.holders("r"))
		}
		w.atTime(millis("122"))
		if w.holders("r") != "C" {
			w.Fatalf("%q hold the key", w.holders("r"))
		}
		w.atTime(millis("260"))
		if w.holders("r") != "" {
			w.Errorf("%q hold the key, releases were sent at %v", w.holders("r"), w.releases(w.node(2)))
		}
	}, WithFencing(Fencing{}))
}

// A release that fails ever more seldom does not hold up that of another lock.
func TestReleaseIsDueBeforeAnother(t *testing.T) {
	in(t, 3, func(w *world) {
		for range 12 {
			w.node(2).next(driver.OpRelease, "failed:1")
		}
		_ = w.mustLock(time.Hour).Unlock(w.Context())
		w.atTime(time.Minute) // the next is due at 102 s, 50 ms * 2^11 after the first
		other, err := w.TryLock(w.Context(), "s", time.Hour)
		if err != nil {
			w.Fatal(err)
		}
		_ = other.Unlock(w.Context()) // fails once, and is sent again after 50 ms
		w.atTime(time.Minute + time.Second)
		if w.holders("s") != "" {
			w.Errorf("%q hold the key", w.holders("s"))
		}
	})
}

// A node that is silent now and then is not asked each time for all the releases that it has answered before.
func TestReleasesOfANodeThatComesAndGoes(t *testing.T) {
	in(t, 3, func(w *world) {
		const n = 100
		for i := range n {
			w.script(driver.OpAcquire, "ok:1 ok:2 lost") // its release is answered: there is no such key
			lease, err := w.TryLock(w.Context(), fmt.Sprint(i), time.Hour)
			if err != nil {
				w.Fatal(err)
			}
			_ = lease.Unlock(w.Context())
			w.atTime(w.at() + 100*time.Millisecond)
		}
		// 50 ms doubled is beyond these 10 s after eight times.
		if sent := len(w.node(2).received(driver.OpRelease)); sent > 10*n {
			w.Errorf("%d releases of %d locks", sent, n)
		}
	})
}

// When Close has returned, no release is sent again, whenever it was called.
func TestCloseWhileAReleaseIsSentAgain(t *testing.T) {
	for reading := 1; reading <= 2; reading++ {
		clock := &readClock{Clock: driver.SystemClock()}
		in(t, 3, func(w *world) {
			w.script(driver.OpAcquire, "ok:1 ok:2 ok:2")
			w.node(2).next(driver.OpRelease, "failed:1")
			if err := w.mustLock(time.Minute).Unlock(w.Context()); err != nil {
				w.Fatal(err)
			}
			w.atTime(millis("52")) // it is sent again after 53 ms
			sent := ""
			clock.atReading(reading, func() {
				ctx, cancel := context.WithTimeout(w.Context(), time.Second)
				defer cancel()
				if w.Close(ctx) == nil {
					sent = w.sent(driver.OpRelease)
				}
			})
			w.atTime(2 * time.Second)
			if now := w.sent(driver.OpRelease); !w.closed.Load() || sent != "" && now != sent {
				w.Errorf("%s releases were sent when Close returned, and %s later", sent, now)
			}
		}, WithRuntime(driver.Runtime{Clock: clock}))
	}
}

// A node that votes for both tokens at the same moment, after the release, is not sent the same release twice.
func TestTwoLateVotesAtOnce(t *testing.T) {
	for reading := 1; reading <= 2; reading++ { // when the vote for the first token comes, while that for the second is taken
		clock := &readClock{Clock: driver.SystemClock()}
		in(t, 3, func(w *world) {
			late := &ledger{}
			c, err := New([]driver.Node{w.node(0), w.node(1), late}, WithFencing(Fencing{}), WithRuntime(driver.Runtime{Clock: clock}))
			if err != nil {
				w.Fatal(err)
			}
			w.Client = c
			w.node(0).next(driver.OpAcquire, "behind7:1")
			w.node(1).next(driver.OpAcquire, "behind7:1")
			if err := w.mustLock(time.Second).Unlock(w.Context()); err != nil || late.sizes() != "[1 1]" {
				w.Fatalf("%v, batches %s", err, late.sizes())
			}
			clock.atReading(reading, func() { late.answer(0) })
			late.answer(1)
			w.atTime(millis("20"))
			seen := map[*driver.Command]bool{}
			late.mu.Lock()
			defer late.mu.Unlock()
			for _, b := range late.batches {
				if seen[b[0]] {
					w.Errorf("a %v was sent twice", b[0].Op)
				}
				seen[b[0]] = true
			}
			if clock.left.Load() > 0 || len(seen) < 3 {
				w.Errorf("the clock has to be read %d times more, %d commands were sent", clock.left.Load(), len(seen))
			}
		})
	}
}

// A silent node that is back is asked for the releases that it owes at once if it answers anything else, and otherwise within
// about as long as it was silent.
func TestNodeIsBack(t *testing.T) {
	for _, c := range []struct {
		name    string
		another bool
		within  time.Duration
	}{{"by itself", false, 21 * time.Second}, {"answers another command", true, millis("6")}} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				lease, back := w.mustLock(time.Minute), w.node(2)
				w.atTime(millis("10"))
				w.silence(back)
				if err := lease.Unlock(w.Context()); err != nil {
					w.Fatal(err)
				}
				w.atTime(20*time.Second + millis("20"))
				if w.holders("r") != "C" {
					w.Fatalf("%q hold the key", w.holders("r"))
				}
				w.hear(back)
				if c.another {
					if _, err := w.TryLock(w.Context(), "s", time.Second); err != nil {
						w.Fatal(err)
					}
				}
				time.Sleep(c.within)
				if w.holders("r") != "" {
					w.Errorf("%q hold the key, releases were sent at %v", w.holders("r"), w.releases(back))
				}
			})
		})
	}
}

// Where another has votes, an acquire does not wait for a node that did not answer the last command, and not for long for one
// that does not answer this. It waits for it again when it has answered one.
func TestSuspectedNode(t *testing.T) {
	in(t, 3, func(w *world) {
		lock := func(acquire string) (granted bool, took time.Duration) {
			began := w.at()
			w.script(driver.OpAcquire, acquire)
			lease, err := w.TryLock(w.Context(), "r", time.Second)
			took = w.at() - began
			w.atTime(w.at() + 2*time.Second)
			return err == nil && lease != nil, took
		}
		for _, c := range []struct {
			silent  string
			acquire string
			granted bool
			took    string
		}{
			{"C", "ok:1 no:2 ok", false, "30"}, // 20 ms and 8 times 1 ms after the no
			{"C", "ok:1 no:2 ok", false, "2"},  // it was silent
			{"", "ok:1 ok:2 ok:3", true, "2"},
			{"", "ok:1 no:2 ok:4", true, "4"}, // it has answered
			{"BC", "ok:1 ok ok", false, "50"},
			{"", "no:1 ok:2 ok:3", true, "3"}, // there is no quorum without it
		} {
			for _, n := range w.nodes {
				n.mu.Lock()
				n.deaf = strings.Contains(c.silent, n.name)
				n.mu.Unlock()
			}
			if granted, took := lock(c.acquire); granted != c.granted || took != millis(c.took) {
				w.Errorf("%s: granted: %v after %v", c.acquire, granted, took)
			}
		}
	})
}
