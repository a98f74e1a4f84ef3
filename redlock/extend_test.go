package redlock

import (
	"context"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// An extend at 100 ms of a lease over 1 s, granted by all five nodes at 0 and good until 988 ms.
func TestExtend(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  func(w *world)
		extend  string
		ttl     string
		bound   string // of the context; empty: none
		at      string // when Extend returns
		until   string // afterwards
		want    string // empty: nil
		matches string
	}{
		{name: "all", extend: "ok:1 ok:2 ok:3 ok:4 ok:5", ttl: "1000", at: "103", until: "1088"},
		{name: "counted from before the request", extend: "ok:1 ok:2 ok:40 lost lost", ttl: "1000", at: "140", until: "1088"},
		{name: "longer", extend: "ok:1 ok:2 ok:3 ok:4 ok:5", ttl: "10000", at: "103", until: "9998"},
		{name: "does not shorten", extend: "ok:1 ok:2 ok:3 ok:4 ok:5", ttl: "500", at: "103", until: "988"},
		{name: "a quorum", extend: "lost ok:2 no:3 ok:4 ok:5", ttl: "1000", at: "105", until: "1088"},
		{name: "two nodes forgot", before: func(w *world) { w.node(0).forget(); w.node(1).forget() }, extend: "ok:1 ok:2 ok:3 ok:4 ok:5",
			ttl: "1000", at: "105", until: "1088"},
		{name: "three nodes forgot", before: func(w *world) { w.node(0).forget(); w.node(1).forget(); w.node(2).forget() },
			extend: "ok:1 ok:2 ok:3 ok:4 ok:5", ttl: "1000", at: "103", until: "988", matches: "Lost",
			want: `redlock: extend "r": lease lost (A not ours any more; B not ours any more; C not ours any more; D unanswered; E unanswered)`},
		{name: "three nodes silent", extend: "ok:1 ok:2 lost lost lost", ttl: "1000", at: "150", until: "988", matches: "NoQuorum",
			want: `redlock: extend "r": no quorum of nodes (A extended; B extended; C timed out after 50ms; D timed out after 50ms; E timed out after 50ms)`},
		{name: "three nodes refuse", extend: "refused:1 failed:2 ok:3 refused:4 ok:5", ttl: "1000", at: "104", until: "988", matches: "NoQuorum",
			want: `redlock: extend "r": no quorum of nodes (A refused: scripted; B failed: scripted; C extended; D refused: scripted; E unanswered)`},
		{name: "too late", extend: "ok:1 ok:2 ok:9 lost lost", ttl: "10", at: "109", until: "988", matches: "TooLate",
			want: `redlock: extend "r": quorum came too late, no validity left (A extended; B extended; C extended; D unanswered; E unanswered)`},
		{name: "context ends", extend: "ok:1 ok:2 ok:30 ok:30 ok:30", bound: "110", ttl: "1000", at: "110", until: "988", matches: "DeadlineExceeded",
			want: `redlock: extend "r": context deadline exceeded (A extended; B extended; C unanswered; D unanswered; E unanswered)`},
		// 988 ms less a lead of 50 ms: at 938 ms it is lost.
		{name: "at the last moment", before: func(w *world) { w.atTime(937 * time.Millisecond) }, extend: "ok:0 ok:0 ok:0 ok:1 ok:1", ttl: "1000",
			at: "937", until: "1925"},
		{name: "lost already", before: func(w *world) { w.atTime(938 * time.Millisecond) }, extend: "ok:1 ok:2 ok:3 ok:4 ok:5", ttl: "1000",
			at: "938", until: "988", matches: "Lost", want: `redlock: extend "r": lease lost`},
		{name: "lost meanwhile", before: func(w *world) { w.atTime(930 * time.Millisecond) }, extend: "ok:1 ok:2 ok:30 lost lost", ttl: "1000",
			at: "960", until: "988", matches: "Lost",
			want: `redlock: extend "r": lease lost (A extended; B extended; C extended; D unanswered; E unanswered)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				lease := w.mustLock(time.Second)
				w.atTime(millis("100"))
				if c.before != nil {
					c.before(w)
				}
				held := w.holders("r")
				w.script(driver.OpExtend, c.extend)
				ctx := w.Context()
				if c.bound != "" {
					var cancel context.CancelFunc
					ctx, cancel = context.WithDeadline(ctx, w.began.Add(millis(c.bound)))
					defer cancel()
				}
				err := lease.Extend(ctx, millis(c.ttl))
				if w.at() != millis(c.at) || matches(err) != c.matches || (err == nil) != (c.want == "") || (err != nil && err.Error() != c.want) {
					w.Errorf("at %v: %v (matches %s)\nwant at %sms: %s (matches %s)", w.at(), err, matches(err), c.at, c.want, c.matches)
				}
				if got := lease.Until().Sub(w.began); got != millis(c.until) {
					w.Errorf("until %v, want %sms", got, c.until)
				}
				if strings.Trim(w.sent(driver.OpRelease), "0") != "" {
					w.Errorf("sent releases %s", w.sent(driver.OpRelease))
				}
				if c.until == "988" && w.at() > millis("938") {
					return
				}
				if lease.Context().Err() != nil && c.matches != "Lost" {
					w.Error("the context ended")
				}
				w.atTime(w.at() + millis("10"))
				if now := w.holders("r"); now != held {
					w.Errorf("held by %s, before the extend by %s", now, held)
				}
			})
		})
	}
}

// The context goes with the end, and ends before the new one.
func TestExtendMovesTheContext(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		for at := 500 * time.Millisecond; at <= 3*time.Second; at += 500 * time.Millisecond {
			w.atTime(at)
			if err := lease.Extend(w.Context(), time.Second); err != nil {
				w.Fatal(err)
			}
		}
		w.silence(w.nodes...)
		<-lease.Context().Done()
		if w.at() != 3938*time.Millisecond || context.Cause(lease.Context()) != ErrLost {
			w.Errorf("context ended at %v with %v", w.at(), context.Cause(lease.Context()))
		}
	})
}

// An extend under way when the lease is released neither brings the lease back nor the keys.
func TestExtendDuringUnlock(t *testing.T) {
	for _, c := range []struct{ name, extend, release string }{
		{"extend first", "ok:1+20 ok:1+20 ok:1+20 ok:1+20 ok:1+20", "ok:5 ok:5 ok:5 ok:5 ok:5"},
		{"release first", "ok:20 ok:20 ok:20 ok:20 ok:20", "ok:1 ok:1 ok:1 ok:1 ok:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				lease := w.mustLock(time.Second)
				until := lease.Until()
				w.atTime(millis("100"))
				w.script(driver.OpExtend, c.extend)
				w.script(driver.OpRelease, c.release)
				done := make(chan error)
				go func() { done <- lease.Extend(w.Context(), time.Minute) }()
				w.atTime(millis("101"))
				if err := lease.Unlock(w.Context()); err != nil {
					w.Error(err)
				}
				if err := <-done; err == nil || !lease.Until().Equal(until) {
					w.Errorf("Extend: %v, until %v", err, lease.Until().Sub(w.began))
				}
				w.atTime(time.Second)
				if w.holders("r") != "" || w.sent(driver.OpRelease) != "11111" {
					w.Errorf("held by %q, releases %s", w.holders("r"), w.sent(driver.OpRelease))
				}
			})
		})
	}
}

// How long before its end a lease is cancelled follows from the TTL it was last extended by.
func TestLeadFollowsTheExtend(t *testing.T) {
	for _, c := range []struct{ name, ttl, slow, at, extend, want string }{
		{"grant came late", "40", "30", "30", "10000", "500"},
		{"short TTL before", "100", "2", "2", "10000", "500"},
		{"long TTL before", "10000", "2", "9300", "800", "40"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 1, func(w *world) {
				w.script(driver.OpAcquire, "ok:"+c.slow)
				lease := w.mustLock(millis(c.ttl))
				w.atTime(millis(c.at))
				if err := lease.Extend(w.Context(), millis(c.extend)); err != nil {
					w.Fatal(err)
				}
				<-lease.Context().Done()
				if lead := time.Until(lease.Until()); lead != millis(c.want) {
					w.Errorf("context ended %v before the lease, want %sms", lead, c.want)
				}
			})
		})
	}
}

// An extend overtaken by Unlock says that the lease was released.
func TestExtendOvertakenByUnlock(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		done := make(chan error)
		go func() { done <- lease.Extend(w.Context(), time.Second) }()
		w.atTime(millis("5"))
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		if err := <-done; matches(err) != "Released" {
			w.Errorf("Extend: %v", err)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.ExtendStarted {
			time.Sleep(millis("20"))
		}
	})))
}

// An extend that fails tells the observer what it returns.
func TestFailedExtendIsTold(t *testing.T) {
	var told []error
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		w.script(driver.OpExtend, "refused refused refused")
		if err := lease.Extend(w.Context(), time.Second); err == nil || len(told) != 1 || told[0] != err {
			w.Errorf("Extend: %v, and %v is told", err, told)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.NotExtended {
			told = append(told, e.Err)
		}
	})))
}

// A holder's commands do not wait for the answer to another acquire of its client which is lost: an extend goes at once, and a
// release as soon as the acquire's batch is no longer waited for.
func TestHolderBehindALostAcquire(t *testing.T) {
	for _, c := range []struct {
		name, at string // when it is done
		call     func(*world, *Lease) error
	}{
		{"extend", "13", func(w *world, l *Lease) error { return l.Extend(w.Context(), time.Second) }},
		{"unlock", "24.5", func(w *world, l *Lease) error { return l.Unlock(w.Context()) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				lease := w.mustLock(time.Second)
				w.atTime(millis("10"))
				w.script(driver.OpAcquire, "no lost lost")
				ctx, cancel := context.WithTimeout(w.Context(), millis("1"))
				defer cancel()
				if _, err := w.TryLock(ctx, "r", time.Second); matches(err) != "NotAcquired DeadlineExceeded" {
					w.Fatal(err)
				}
				if err := c.call(w, lease); err != nil || w.at() > millis(c.at) {
					w.Errorf("at %v: %v", w.at(), err)
				}
			})
		})
	}
}
