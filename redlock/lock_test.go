package redlock

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// The next attempt waits for the delay, and at its gate, which is B, behind the release of the attempt before: until B has
// answered, or for a quarter of the node timeout.
func TestRetryWaits(t *testing.T) {
	for _, c := range []struct {
		name, acquire, release string
		want                   string // when the second attempt starts
	}{
		// Decided at 3 ms by the noes of A, B, C.
		{"for the delay", "no:1 no:2 no:3 no:4 no:5", "ok:1 ok:2 ok:3 ok:4 ok:5", "13"},
		{"for a release at the gate", "no:1 ok:1 no:2 no:3 no:5", "ok:1 ok:11 ok:3 ok:4 ok:5", "14"},
		{"for 12.5 ms of a slow one", "no:1 ok:1 no:2 no:3 no:5", "ok:1 ok:30 ok:3 ok:4 ok:5", "15.5"},
		{"not for one at other nodes", "ok:1 no:1 no:2 no:3 ok:2", "ok:11 ok:2 ok:3 ok:4 lost", "13"},
		{"not for one that had not answered", "no:1 no:2 no:3 ok:4 ok:5", "ok:1 ok:2 ok:3 ok:30 ok:30", "13"},
		{"not for silent nodes", "no:1 no:2 no:3 lost lost", "ok:1 ok:2 ok:3 lost lost", "13"},
		{"for 12.5 ms when nobody had answered", "lost lost lost lost lost", "lost lost lost lost lost", "62.5"},
		// Decided at 2 ms, when three votes are missing.
		{"also for a gate with an error", "no:1 failed:1 no:2 no:3 no:5", "ok:1 ok:12 ok:3 ok:4 ok:5", "14"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				w.script(driver.OpAcquire, c.acquire)
				w.script(driver.OpRelease, c.release)
				if _, err := w.Lock(w.Context(), "r", time.Second); err != nil {
					w.Fatal(err)
				}
				second := time.Duration(math.MaxInt64) // which begins with the gate
				for _, n := range w.nodes {
					if acquires := n.received(driver.OpAcquire); len(acquires) > 1 { // not where the first is still under way
						second = min(second, acquires[1].sent.Sub(w.began))
					}
				}
				if second != millis(c.want) {
					w.Errorf("second attempt at %v, want %sms", second, c.want)
				}
			})
		})
	}
}

// Lock ends with its context, says why it had not got the lock, and leaves nothing behind.
func TestLockEnds(t *testing.T) {
	for _, c := range []struct{ name, bound, want string }{
		{"during an attempt", "1.5", `redlock: acquire "r": context deadline exceeded (A held by another; B unanswered; C unanswered)`},
		{"during the delay", "7", `redlock: acquire "r": held by another: context deadline exceeded (A held by another; B held by another; C unanswered)`},
		{"during a later attempt, which is no news of the lock", "12.5", `redlock: acquire "r": held by another: context deadline exceeded after 2 attempts (GATE unanswered)`},
		{"during a later delay", "20", `redlock: acquire "r": held by another: context deadline exceeded after 2 attempts (GATE held by another)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				for _, n := range w.nodes {
					n.hold("r", time.Minute)
				}
				ctx, cancel := context.WithTimeout(w.Context(), millis(c.bound))
				defer cancel()
				lease, err := w.Lock(ctx, "r", time.Second)
				if want := strings.ReplaceAll(c.want, "GATE", w.names[w.gate([]string{"r"}, 0)]); lease != nil || text(err) != want || w.at() != millis(c.bound) {
					w.Errorf("at %v: %v\nwant %s", w.at(), err, c.want)
				}
				if !errors.Is(err, ErrNotAcquired) || !errors.Is(err, context.DeadlineExceeded) {
					w.Errorf("matches %s", matches(err))
				}
				if w.sent(driver.OpRelease) != "000" { // all say no
					w.Errorf("sent releases %s", w.sent(driver.OpRelease))
				}
			})
		})
	}
}

func TestValue(t *testing.T) {
	seen := map[string]bool{}
	in(t, 1, func(w *world) {
		for range 100 {
			l := w.mustLock(time.Second)
			raw, err := base64.RawURLEncoding.DecodeString(l.Value())
			if err != nil || len(raw) < 20 || seen[l.Value()] {
				w.Fatalf("value %q: %d bytes, %v, seen before: %v", l.Value(), len(raw), err, seen[l.Value()])
			}
			seen[l.Value()] = true
			l.Unlock(w.Context())
		}
	})
}

// Without random bytes there is no lock, and nothing is sent.
func TestRandomSourceFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		bytes int
		want  string
		sent  string
	}{
		{"value", 10, `redlock: acquire "r": redlock: drawing a lock value: unexpected EOF`, "000"},
		{"delay", 24, `redlock: acquire "r": held by another: redlock: drawing a retry delay: unexpected EOF (A held by another; B held by another; C unanswered)`, "111"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				for _, n := range w.nodes {
					n.hold("r", time.Minute)
				}
				_, err := w.Lock(w.Context(), "r", time.Second)
				if text(err) != c.want || !errors.Is(err, ErrNotAcquired) || !errors.Is(err, io.ErrUnexpectedEOF) {
					w.Errorf("got %v\nwant %s", err, c.want)
				}
				if w.sent(driver.OpAcquire) != c.sent || w.sent(driver.OpRelease) != "000" {
					w.Errorf("sent %s acquires, %s releases", w.sent(driver.OpAcquire), w.sent(driver.OpRelease))
				}
			}, WithRuntime(driver.Runtime{Rand: bytes.NewReader(make([]byte, c.bytes))}))
		})
	}
}

// The delays fill their range, both ends included.
func TestRetryDelay(t *testing.T) {
	c, err := New(fakes(1), WithRetryDelay(5, 8), WithRuntime(driver.Runtime{Rand: rand.Reader}))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[time.Duration]int{}
	for range 1000 {
		d, err := c.newDelay(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		seen[d]++
	}
	if len(seen) != 4 || min(seen[5], seen[6], seen[7], seen[8]) < 150 {
		t.Errorf("1000 draws: %v", seen)
	}
}

// Without a range, the delay is a third of the time waited in vain, from 1 ms to 100 ms, less or more a random half.
func TestRetryDelayGrows(t *testing.T) {
	c, err := New(fakes(1), WithRuntime(driver.Runtime{Rand: rand.Reader}))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ waited, least, most string }{
		{"0", "0.5", "1.5"}, {"3", "0.5", "1.5"}, {"30", "5", "15"}, {"300", "50", "150"}, {"3600000", "50", "150"},
	} {
		least, most := time.Duration(math.MaxInt64), time.Duration(0)
		for range 1000 {
			d, err := c.newDelay(millis(want.waited))
			if err != nil {
				t.Fatal(err)
			}
			least, most = min(least, d), max(most, d)
		}
		// No draw of 1000 in the first tenth of the range, or in the last, is as likely as 1 in 10^45.
		tenth := (millis(want.most) - millis(want.least)) / 10
		if least < millis(want.least) || least > millis(want.least)+tenth || most > millis(want.most) || most < millis(want.most)-tenth {
			t.Errorf("after %s ms: from %v to %v, want %s to %s ms", want.waited, least, most, want.least, want.most)
		}
	}
}
