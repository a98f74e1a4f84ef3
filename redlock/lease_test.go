package redlock

import (
	"context"
	"slices"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// The context ends before Until, by the client's clock alone: all nodes are black holes once the lease is granted.
func TestContextEndsBeforeUntil(t *testing.T) {
	for _, c := range []struct {
		name  string
		ttl   string
		slow  string // how long the deciding answer takes
		opts  []Option
		until string
		lead  string
	}{
		{name: "a twentieth", ttl: "10000", slow: "2", until: "9898", lead: "500"},
		{name: "at least 1 ms", ttl: "10", slow: "2", until: "7.9", lead: "1"},
		{name: "at most 1 s", ttl: "60000", slow: "2", until: "59398", lead: "1000"},
		{name: "as set", ttl: "10000", slow: "2", opts: []Option{WithLossLead(3 * time.Second)}, until: "9898", lead: "3000"},
		{name: "at most half the validity", ttl: "1000", slow: "38", opts: []Option{WithLossLead(time.Hour)}, until: "988", lead: "475"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				w.script(driver.OpAcquire, "ok:0 ok:"+c.slow+" lost")
				lease := w.mustLock(millis(c.ttl))
				w.silence(w.nodes...)
				if at := lease.Until().Sub(w.began); at != millis(c.until) {
					w.Errorf("until %v, want %sms", at, c.until)
				}
				end := millis(c.until) - millis(c.lead)
				w.atTime(end - 1)
				if err := lease.Context().Err(); err != nil {
					w.Errorf("context ended too early: %v", err)
				}
				<-lease.Context().Done()
				if w.at() != end || context.Cause(lease.Context()) != ErrLost {
					w.Errorf("context ended at %v with %v, want %v", w.at(), context.Cause(lease.Context()), end)
				}
			}, c.opts...)
		})
	}
}

// The lease's context carries the values of the caller's and does not end with it.
func TestContextOfTheCaller(t *testing.T) {
	type key struct{}
	in(t, 3, func(w *world) {
		ctx, end := context.WithCancel(context.WithValue(w.Context(), key{}, "value"))
		lease, err := w.TryLock(ctx, "r", time.Second)
		if err != nil {
			w.Fatal(err)
		}
		end()
		w.atTime(millis("100"))
		if lease.Context().Err() != nil || lease.Context().Value(key{}) != "value" {
			w.Errorf("context: %v, %v", lease.Context().Err(), lease.Context().Value(key{}))
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Fatal(err)
		}
		if context.Cause(lease.Context()) != ErrReleased {
			w.Errorf("cause %v", context.Cause(lease.Context()))
		}
	})
}

// Unlock takes effect at once, even if no node answers.
func TestUnlockEndsTheContextFirst(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(10 * time.Second)
		w.silence(w.nodes...)
		w.atTime(millis("10"))
		done := make(chan error)
		go func() { done <- lease.Unlock(w.Context()) }()
		<-lease.Context().Done()
		if w.at() != millis("10") {
			w.Errorf("context ended at %v", w.at())
		}
		if err := <-done; matches(err) != "NoQuorum" || w.at() != millis("60") {
			w.Errorf("at %v: %v", w.at(), err)
		}
	})
}

func TestUnlock(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  func(w *world, l *Lease) // after the grant by A, B, C, D and E at 10 ms
		release string
		bound   string // of the context; empty: none
		at      string // when Unlock returns
		want    string
		matches string
	}{
		{name: "all", release: "ok:1 ok:2 ok:3 ok:4 ok:5", at: "13", want: "nil"},
		{name: "a quorum", release: "ok:1 lost ok:3 lost ok:5", at: "15", want: "nil"},
		{name: "two keys gone", release: "ok:1 no:2 ok:3 no:4 ok:5", at: "15", want: "nil"},
		{name: "three keys gone", release: "ok:1 no:2 ok:3 no:4 no:5", at: "15", matches: "Lost",
			want: `redlock: release "r": lease lost (A released; B not ours any more; C released; D not ours any more; E not ours any more)`},
		{name: "three keys gone at once", release: "no:1 no:2 no:3 ok:4 ok:5", at: "13", matches: "Lost",
			want: `redlock: release "r": lease lost (A not ours any more; B not ours any more; C not ours any more; D unanswered; E unanswered)`},
		{name: "no quorum", release: "ok:1 ok:2 lost lost refused:5", at: "60", matches: "NoQuorum",
			want: `redlock: release "r": no quorum of nodes (A released; B released; C timed out after 50ms; D timed out after 50ms; E refused: scripted)`},
		{name: "context ends", release: "ok:1 ok:2 ok:30 ok:30 ok:30", bound: "20", at: "20", matches: "DeadlineExceeded",
			want: `redlock: release "r": context deadline exceeded (A released; B released; C unanswered; D unanswered; E unanswered)`},
		{name: "context had ended", release: "ok:1 ok:2 ok:30 ok:30 ok:30", bound: "10", at: "10", matches: "DeadlineExceeded",
			want: `redlock: release "r": context deadline exceeded (A unanswered; B unanswered; C unanswered; D unanswered; E unanswered)`},
		{name: "lease over", before: func(w *world, _ *Lease) { w.atTime(990 * time.Millisecond) }, release: "ok:1 ok:2 ok:3 ok:4 ok:5",
			at: "993", matches: "Lost",
			want: `redlock: release "r": lease lost (A released; B released; C released; D unanswered; E unanswered)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				lease := w.mustLock(time.Second)
				w.atTime(millis("10"))
				if c.before != nil {
					c.before(w, lease)
				}
				w.script(driver.OpRelease, c.release)
				ctx := w.Context()
				if c.bound != "" {
					var cancel context.CancelFunc
					ctx, cancel = context.WithDeadline(ctx, w.began.Add(millis(c.bound)))
					defer cancel()
				}
				err := lease.Unlock(ctx)
				if text(err) != c.want || matches(err) != c.matches || w.at() != millis(c.at) {
					w.Errorf("at %v: %v (matches %s)\nwant %s (matches %s) at %sms", w.at(), err, matches(err), c.want, c.matches, c.at)
				}
				if lease.Context().Err() == nil {
					w.Error("the context goes on")
				}
				// However it ended, all nodes were told, once; a second call tells nobody.
				err = lease.Unlock(w.Context())
				if text(err) != `redlock: release "r": lease released` || matches(err) != "Released" || w.at() != millis(c.at) {
					w.Errorf("second Unlock: at %v: %v", w.at(), err)
				}
				if err := lease.Extend(w.Context(), time.Minute); matches(err) != "Released" {
					w.Errorf("Extend after Unlock: %v", err)
				}
				if w.sent(driver.OpRelease) != "11111" || w.sent(driver.OpExtend) != "00000" {
					w.Errorf("sent releases %s, extends %s", w.sent(driver.OpRelease), w.sent(driver.OpExtend))
				}
			})
		})
	}
}

// A lease whose time was over when Unlock came was lost: the error, the context and the observer agree.
func TestUnlockTellsTheLoss(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		w.atTime(time.Second)
		if err := lease.Unlock(w.Context()); matches(err) != "Lost" {
			w.Error(err)
		}
		if cause := context.Cause(lease.Context()); cause != ErrLost {
			w.Errorf("cause %v", cause)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if !slices.ContainsFunc(w.lines, func(l string) bool { return l == "1s   lost until 988ms" }) {
			w.Errorf("no loss in %q", w.lines)
		}
	}, WithRuntime(driver.Runtime{Clock: lateClock{driver.SystemClock(), millis("200")}}))
}

// A node that had no vote for the lease counts as one that has lost the key, like one that has forgotten it since.
func TestUnlockOfALeaseWithoutVotesToSpare(t *testing.T) {
	in(t, 5, func(w *world) {
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:3 no:1 no:1")
		lease := w.mustLock(time.Minute)
		w.atTime(millis("10"))
		w.node(2).forget()
		if err := lease.Unlock(w.Context()); matches(err) != "Lost" {
			w.Error(err)
		}
	})
}

// Unlock with a context that ends with the lease waits for the nodes all the same, but not beyond what else ends that
// context. The nodes take 1 to 5 ms to answer, three of them 3 ms.
func TestUnlockWithTheLeasesContext(t *testing.T) {
	type key struct{}
	for _, c := range []struct {
		name    string
		slow    bool // the nodes answer after 40 ms only
		context func(w *world, l *Lease) context.Context
		took    string
		matches string
	}{
		{name: "its own", took: "3",
			context: func(_ *world, l *Lease) context.Context { return l.Context() }},
		{name: "with a value", took: "3",
			context: func(_ *world, l *Lease) context.Context {
				return context.WithValue(l.Context(), key{}, 1)
			}},
		{name: "with a deadline that is far", took: "3",
			context: func(w *world, l *Lease) context.Context {
				ctx, cancel := context.WithTimeout(l.Context(), millis("20"))
				w.Cleanup(cancel)
				return ctx
			}},
		{name: "with a deadline that passes", slow: true, took: "20", matches: "DeadlineExceeded",
			context: func(w *world, l *Lease) context.Context {
				ctx, cancel := context.WithTimeout(l.Context(), millis("20"))
				w.Cleanup(cancel)
				return ctx
			}},
		{name: "cancelled before", took: "0", matches: "Canceled",
			context: func(_ *world, l *Lease) context.Context {
				ctx, cancel := context.WithCancel(l.Context())
				cancel()
				return ctx
			}},
		{name: "of a lease that was lost", took: "3", matches: "Lost",
			context: func(w *world, l *Lease) context.Context {
				w.atTime(2 * time.Second)
				return l.Context()
			}},
		{name: "below that of another lease", took: "3",
			context: func(w *world, l *Lease) context.Context {
				other, err := w.TryLock(l.Context(), "other", time.Hour)
				if err != nil {
					w.Fatal(err)
				}
				ctx, unbind := other.contexts.bind(l.Context(), w.clock)
				w.Cleanup(unbind)
				return ctx
			}},
		{name: "of work whose context was that of the lease", took: "3",
			context: func(w *world, l *Lease) context.Context {
				ctx, unbind := l.contexts.bind(context.WithValue(l.Context(), key{}, 1), w.clock)
				w.Cleanup(unbind)
				return ctx
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				lease := w.mustLock(time.Second)
				ctx := c.context(w, lease)
				if c.slow {
					w.script(driver.OpRelease, "ok:40 ok:40 ok:40 ok:40 ok:40")
				}
				begin := w.at()
				err := lease.Unlock(ctx)
				if took := w.at() - begin; took != millis(c.took) || matches(err) != c.matches {
					w.Errorf("after %v: %v, want after %s ms: %q", took, err, c.took, c.matches)
				}
				time.Sleep(time.Second)
				if held := w.holders("r"); held != "" {
					w.Errorf("still held on %s", held)
				}
			})
		})
	}
}
