package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

var errWork = errors.New("the work failed")

// A lock over 1 s on five nodes, good from 3 ms to 988 ms, and work that takes so long or until its context ends.
func TestHold(t *testing.T) {
	for _, c := range []struct {
		name    string
		renewal Renewal
		before  func(w *world)
		work    string // ms
		fails   error
		ended   string // when work returned
		cause   string // of its context's end
		extends string // rounds sent
		at      string // when Hold returned
		matches string
	}{
		{name: "short work", work: "300", ended: "303", extends: "00000", at: "306"},
		{name: "every third", work: "3000", ended: "3003", extends: "88888", at: "3006"},
		{name: "another period", renewal: Renewal{Period: millis("100")}, work: "300", ended: "303", extends: "22222", at: "306"},
		{name: "the work fails", work: "400", fails: errWork, ended: "403", extends: "11111", at: "406", matches: "Work"},
		{name: "one round fails", before: func(w *world) { w.script(driver.OpExtend, "lost lost lost ok ok") },
			// 336 ⅓ to 386 ⅓, again 10 ms later; the next are due a third after the replies, at 732 ⅔ and 1069.
			work: "800", ended: "803", extends: "33333", at: "806"},
		{name: "three rounds fail", before: func(w *world) {
			for range 3 {
				w.script(driver.OpExtend, "refused failed refused failed ok")
			}
		}, work: "1500", ended: "1503", extends: "77777", at: "1506"},
		// Rounds of 50 ms with 10 ms between them, from a third of the TTL after the last success to 50 ms before the end.
		{name: "a black hole", before: func(w *world) { w.atTime(0); time.AfterFunc(millis("100"), func() { w.silence(w.nodes...) }) },
			work: "3000", ended: "938", cause: "lease lost", extends: "11,11,11,11,11", at: "988", matches: "NoQuorum Lost"},
		{name: "a black hole after a renewal", before: func(w *world) { w.atTime(0); time.AfterFunc(millis("400"), func() { w.silence(w.nodes...) }) },
			work: "3000", fails: errWork, ended: "1274.333333", cause: "lease lost", extends: "12,12,12,12,12", at: "1324.333333", matches: "Work NoQuorum Lost"},
		{name: "the nodes lost it", before: func(w *world) {
			w.atTime(0)
			time.AfterFunc(millis("100"), func() { w.node(0).forget(); w.node(1).forget(); w.node(2).forget() })
		}, work: "3000", ended: "339.333333", cause: "lease lost", extends: "11111", at: "342.333333", matches: "Lost"},
		{name: "a limit on the number", renewal: Renewal{Limit: 2}, work: "3000", ended: "1610.666666", cause: "lease lost", extends: "22222",
			at: "1613.666666", matches: "Lost RenewalLimit"},
		{name: "a limit that is not reached", renewal: Renewal{Limit: 3}, work: "1330", ended: "1333", extends: "33333", at: "1336"},
		{name: "a limit that does no harm", renewal: Renewal{Limit: 3}, work: "1500", fails: errWork, ended: "1503", extends: "33333", at: "1506", matches: "Work"},
		// The third renewal would be at 1012 ms after the grant, and last until 2012 ms.
		{name: "a limit on the time", renewal: Renewal{MaxTime: 2 * time.Second}, work: "3000", ended: "1610.666666", cause: "lease lost", extends: "22222",
			at: "1613.666666", matches: "Lost RenewalLimit"},
		{name: "a longer limit", renewal: Renewal{MaxTime: 2013 * time.Millisecond}, work: "1500", ended: "1503", extends: "33333", at: "1506"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				if c.before != nil {
					c.before(w)
				}
				var ended time.Duration
				var cause error
				var until time.Time
				err := w.Hold(w.Context(), "r", time.Second, c.renewal, func(ctx context.Context, l *Lease) error {
					wait(ctx, millis(c.work))
					ended, cause, until = w.at(), context.Cause(ctx), l.Until()
					return c.fails
				})
				if c.cause != "" && !w.began.Add(ended).Before(until) {
					w.Errorf("told of the loss at %v, the lease ended at %v", ended, until.Sub(w.began))
				}
				if micros(ended) != micros(millis(c.ended)) || (cause != nil || c.cause != "") && text(cause) != c.cause {
					w.Errorf("the work ended at %v with cause %v, want %sms with %q", ended, cause, c.ended, c.cause)
				}
				if got := holdMatches(err); micros(w.at()) != micros(millis(c.at)) || got != c.matches {
					w.Errorf("at %v: %v (matches %s), want at %sms: %s", w.at(), err, got, c.at, c.matches)
				}
				if n := strings.Count(text(err), ErrLost.Error()); n > 1 {
					w.Errorf("the loss is told %d times: %v", n, err)
				}
				if c.cause == "" && (cause != nil || c.fails == nil && err != nil || c.fails != nil && err != c.fails) {
					w.Errorf("%v, cause %v", err, cause)
				}
				sent := w.sent(driver.OpExtend)
				if len(sent) > 5 { // two digits for each node
					sent = fmt.Sprintf("%s,%s,%s,%s,%s", sent[:2], sent[2:4], sent[4:6], sent[6:8], sent[8:])
				}
				if sent != c.extends {
					w.Errorf("sent extends %s, want %s", sent, c.extends)
				}
				time.Sleep(10 * time.Second)
				if more := len(w.node(0).received(driver.OpExtend)); fmt.Sprint(more) != fmt.Sprint(len(w.node(4).received(driver.OpExtend))) {
					w.Error("extends were sent later")
				}
			})
		})
	}
}

// micros rounds to microseconds: a third of a second has no end.
func micros(d time.Duration) time.Duration { return d.Round(time.Microsecond) }

// wait is work that takes so long, and ends with its context.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func holdMatches(err error) string {
	words := ""
	if errors.Is(err, errWork) {
		words = "Work "
	}
	words += matches(err)
	if errors.Is(err, ErrRenewalLimit) {
		words += " RenewalLimit"
	}
	if n := len(words); n > 0 && words[n-1] == ' ' {
		words = words[:n-1]
	}
	return words
}

// The lease is released however work ends, and whatever became of the caller's context.
func TestHoldReleases(t *testing.T) {
	for _, c := range []struct {
		name    string
		work    func(w *world, ctx context.Context, cancel context.CancelFunc, l *Lease) error
		matches string
		panics  any
	}{
		{name: "returns", work: func(*world, context.Context, context.CancelFunc, *Lease) error { return nil }},
		{name: "panics", panics: "oh", work: func(*world, context.Context, context.CancelFunc, *Lease) error { panic("oh") }},
		{name: "the caller's context ends", matches: "Canceled", work: func(w *world, ctx context.Context, cancel context.CancelFunc, l *Lease) error {
			cancel()
			<-ctx.Done()
			if l.Context().Err() != nil {
				w.Error("the lease has ended with the context of the caller")
			}
			return ctx.Err()
		}},
		{name: "released by the work", work: func(w *world, ctx context.Context, _ context.CancelFunc, l *Lease) error {
			if err := l.Unlock(w.Context()); err != nil {
				w.Error(err)
			}
			if context.Cause(ctx) != ErrReleased {
				w.Error(context.Cause(ctx))
			}
			time.Sleep(time.Second)
			return nil
		}},
		{name: "too few nodes", matches: "NoQuorum", work: func(w *world, _ context.Context, _ context.CancelFunc, _ *Lease) error {
			w.script(driver.OpRelease, "refused refused refused refused refused")
			return nil
		}},
		{name: "too few nodes, and the work fails", matches: "Work NoQuorum", work: func(w *world, _ context.Context, _ context.CancelFunc, _ *Lease) error {
			w.script(driver.OpRelease, "refused refused refused refused refused")
			return errWork
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				ctx, cancel := context.WithCancel(w.Context())
				defer cancel()
				var err error
				func() {
					defer func() {
						if v := recover(); v != c.panics {
							w.Errorf("panics with %v", v)
						}
					}()
					err = w.Hold(ctx, "r", time.Second, Renewal{}, func(ctx context.Context, l *Lease) error { return c.work(w, ctx, cancel, l) })
				}()
				if got := holdMatches(err); got != c.matches {
					w.Errorf("%v (matches %s), want %s", err, got, c.matches)
				}
				w.atTime(w.at() + 10*time.Millisecond)
				if strings.Contains(w.sent(driver.OpRelease), "0") || w.sent(driver.OpExtend) != "00000" {
					w.Errorf("releases %s, extends %s", w.sent(driver.OpRelease), w.sent(driver.OpExtend))
				}
			})
		})
	}
}

// Nothing is renewed any more once the release has begun, also not by a renewal that was under way.
func TestNoRenewalAfterRelease(t *testing.T) {
	for ms := 330; ms <= 345; ms++ {
		in(t, 5, func(w *world) {
			var released time.Time
			err := w.Hold(w.Context(), "r", time.Second, Renewal{}, func(ctx context.Context, l *Lease) error {
				w.atTime(time.Duration(ms)*time.Millisecond + 333333*time.Nanosecond)
				released = time.Now()
				return nil
			})
			if err != nil {
				w.Errorf("released at %d ms: %v", ms, err)
			}
			w.atTime(2 * time.Second)
			for _, r := range w.node(0).received(driver.OpExtend) {
				if r.sent.After(released) {
					w.Errorf("released at %d ms, renewed later", ms)
				}
			}
			if h := w.holders("r"); h != "" {
				w.Errorf("released at %d ms, held by %s", ms, h)
			}
		})
	}
}

// Work that panics leaves no renewals behind: the lease ends with its TTL.
func TestRenewWorkThatPanics(t *testing.T) {
	in(t, 5, func(w *world) {
		lease := w.mustLock(time.Second)
		func() {
			defer func() {
				if v := recover(); v != "oh" {
					w.Errorf("panics with %v", v)
				}
			}()
			_ = lease.Renew(w.Context(), Renewal{}, func(context.Context) error { panic("oh") })
		}()
		w.atTime(5 * time.Second)
		if sent := w.node(0).received(driver.OpExtend); len(sent) > 0 || lease.Context().Err() == nil {
			w.Errorf("renewed %d times after the work panicked, lease: %v", len(sent), lease.Context().Err())
		}
	})
}

// A lease that is not a new one is renewed before half of what is left of it is over.
func TestRenewOldLease(t *testing.T) {
	in(t, 5, func(w *world) {
		lease := w.mustLock(time.Second)
		w.atTime(788 * time.Millisecond)
		err := lease.Renew(w.Context(), Renewal{}, func(ctx context.Context) error { time.Sleep(110 * time.Millisecond); return nil })
		if err != nil || lease.Until().Sub(w.began) != 1851*time.Millisecond {
			w.Errorf("%v, until %v", err, lease.Until().Sub(w.began))
		}
		if lease.Context().Err() != nil || w.sent(driver.OpRelease) != "00000" {
			w.Error("Renew has released it")
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
	})
}

// A lease whose context ends long before it does is renewed before that, however long a period is allowed: when half of the
// time is over.
func TestRenewalsBeforeALongLead(t *testing.T) {
	for _, period := range []time.Duration{500 * time.Millisecond, 400 * time.Millisecond, 0} {
		in(t, 5, func(w *world) {
			err := w.Hold(w.Context(), "r", time.Second, Renewal{Period: period}, func(ctx context.Context, _ *Lease) error {
				wait(ctx, 3*time.Second)
				return ctx.Err()
			})
			// The context would end 492.5 ms after the grant, and after an extend.
			if sent := len(w.node(0).received(driver.OpExtend)); err != nil || sent != 12 {
				w.Errorf("period %v: %v, %d renewals", period, err, sent)
			}
		}, WithLossLead(time.Hour))
	}
}

// Work under a lease that has ended finds its context ended. The lease keeps nothing of it when it is over.
func TestRenewEndedLease(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		if err := lease.Unlock(w.Context()); err != nil {
			w.Fatal(err)
		}
		if err := lease.Renew(w.Context(), Renewal{}, func(ctx context.Context) error { return context.Cause(ctx) }); err != ErrReleased {
			w.Error(err)
		}
		if n := len(lease.contexts.bound); n != 0 {
			w.Errorf("%d contexts are bound to the lease", n)
		}
	})
}

// Close ends renewals, and the work has the rest of the lease.
func TestCloseEndsRenewals(t *testing.T) {
	in(t, 5, func(w *world) {
		time.AfterFunc(millis("500"), func() {
			if err := w.Close(context.Background()); err != nil {
				w.Error(err)
			}
		})
		err := w.Hold(w.Context(), "r", time.Second, Renewal{}, func(ctx context.Context, l *Lease) error { wait(ctx, time.Minute); return nil })
		if got := holdMatches(err); got != "Lost Closed" || w.at().Round(time.Millisecond) != millis("1277") || w.sent(driver.OpExtend) != "11111" {
			w.Errorf("at %v: %v (matches %s), extends %s", w.at(), err, got, w.sent(driver.OpExtend))
		}
	})
}

func TestRenewalArguments(t *testing.T) {
	in(t, 3, func(w *world) {
		none := func(context.Context, *Lease) error { t.Error("called"); return nil }
		for _, r := range []Renewal{{Period: -1}, {Period: time.Second/2 + 1}, {Limit: -2}, {MaxTime: -2}} {
			if err := w.Hold(w.Context(), "r", time.Second, r, none); matches(err) != "Invalid" {
				w.Errorf("%+v: %v", r, err)
			}
		}
		var noContext context.Context
		if err := w.Hold(w.Context(), "r", time.Second, Renewal{}, nil); matches(err) != "Invalid" {
			w.Error(err)
		}
		if err := w.Hold(noContext, "r", time.Second, Renewal{}, none); matches(err) != "Invalid" {
			w.Error(err)
		}
		if w.sent(driver.OpAcquire) != "000" {
			w.Error("something was sent")
		}
		lease := w.mustLock(time.Second)
		if err := lease.Renew(noContext, Renewal{}, func(context.Context) error { return nil }); matches(err) != "Invalid" {
			w.Error(err)
		}
		if err := lease.Renew(w.Context(), Renewal{Period: -1}, func(context.Context) error { return nil }); matches(err) != "Invalid" {
			w.Error(err)
		}
		if err := lease.Renew(w.Context(), Renewal{}, nil); matches(err) != "Invalid" {
			w.Error(err)
		}
		if err := w.Hold(w.Context(), "s", time.Second, Renewal{Period: time.Second / 2, Limit: Unlimited, MaxTime: Unlimited}, func(context.Context, *Lease) error { return nil }); err != nil {
			w.Error(err)
		}
	})
}

// Unlimited is without a limit, and the defaults are limits.
func TestRenewalLimits(t *testing.T) {
	for _, c := range []struct {
		name    string
		renewal Renewal
		lost    time.Duration // 0: not in a day
	}{
		// Each renewal comes a third of the TTL and a round trip of 3 ms after the one before.
		{"the default number", Renewal{MaxTime: Unlimited}, 1000*(20*time.Second+3*time.Millisecond) + 60*time.Second},
		{"the default time", Renewal{Limit: Unlimited}, time.Hour},
		{"neither", Renewal{Limit: Unlimited, MaxTime: Unlimited}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				err := w.Hold(w.Context(), "r", time.Minute, c.renewal, func(ctx context.Context, _ *Lease) error { wait(ctx, 24*time.Hour); return nil })
				switch {
				case c.lost == 0 && err != nil:
					w.Error(err)
				case c.lost != 0 && (holdMatches(err) != "Lost RenewalLimit" || w.at() > c.lost || w.at() < c.lost-22*time.Second):
					w.Errorf("at %v: %v", w.at(), err)
				}
			}, WithObserver(atStep(func(observe.Event) {})))
		})
	}
}

// A renewal may keep the lease for exactly as long as renewals may, and not for longer.
func TestRenewalAtTheLimit(t *testing.T) {
	for _, c := range []struct {
		most time.Duration
		want int
	}{{1400 * time.Millisecond, 1}, {1400*time.Millisecond - 1, 0}} {
		in(t, 5, func(w *world) {
			renewal := Renewal{Period: 400 * time.Millisecond, MaxTime: c.most}
			err := w.Hold(w.Context(), "r", time.Second, renewal, func(ctx context.Context, _ *Lease) error { wait(ctx, time.Hour); return nil })
			if sent := len(w.node(0).received(driver.OpExtend)); sent != c.want || holdMatches(err) != "Lost RenewalLimit" {
				w.Errorf("for %v: %d renewals, %v", c.most, sent, err)
			}
		})
	}
}

// A source of random bytes that fails does not cost the lock.
func TestRenewalWithoutRandomness(t *testing.T) {
	in(t, 5, func(w *world) {
		lease := w.mustLock(time.Second)
		w.Client.rand = failingReader{}
		w.script(driver.OpExtend, "lost lost lost lost lost")
		if err := lease.Renew(w.Context(), Renewal{}, func(ctx context.Context) error { wait(ctx, 2*time.Second); return nil }); err != nil {
			w.Error(err)
		}
	})
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errScripted }

// Work may release its own lock with the context that it was given.
func TestUnlockWithTheContextOfHold(t *testing.T) {
	in(t, 5, func(w *world) {
		err := w.Hold(w.Context(), "r", time.Second, Renewal{}, func(ctx context.Context, l *Lease) error {
			return l.Unlock(ctx)
		})
		w.atTime(w.at() + millis("10")) // the last vote comes after the release began
		if err != nil || w.holders("r") != "" {
			w.Errorf("%v, held by %s", err, w.holders("r"))
		}
	})
}

// Renewal.Wait bounds the wait for the lock and nothing else.
func TestHoldWait(t *testing.T) {
	for _, c := range []struct {
		wait, freeAfter, work string // ms
		at                    string // when Hold returned, in whole ms; the lock takes 3 ms, and so does its release
		worked                bool
		matches               string
	}{
		{wait: "1000", freeAfter: "0", work: "5000", at: "5006", worked: true},
		{wait: "100", freeAfter: "50", work: "5000", worked: true},
		{wait: "100", freeAfter: "5000", work: "1", at: "100", matches: "NotAcquired Taken DeadlineExceeded"},
		{wait: "0", freeAfter: "5000", work: "1", worked: true},
	} {
		in(t, 5, func(w *world) {
			if c.freeAfter != "0" {
				for _, n := range w.nodes {
					n.hold("r", millis(c.freeAfter))
				}
			}
			worked := false
			err := w.Hold(w.Context(), "r", time.Second, Renewal{Wait: millis(c.wait)}, func(ctx context.Context, _ *Lease) error {
				if _, bounded := ctx.Deadline(); bounded {
					w.Error("the work has a deadline")
				}
				worked = true
				wait(ctx, millis(c.work))
				return ctx.Err()
			})
			if matches(err) != c.matches || worked != c.worked || c.at != "" && w.at() != millis(c.at) {
				w.Errorf("%+v: at %v %v, worked: %v", c, w.at(), err, worked)
			}
			time.Sleep(time.Second)
			if held := w.holders("r"); held != "" && worked {
				w.Errorf("held by %s", held)
			}
		})
	}
	in(t, 1, func(w *world) {
		err := w.Hold(w.Context(), "r", time.Second, Renewal{Wait: -1}, func(context.Context, *Lease) error { return nil })
		if matches(err) != "Invalid" {
			w.Error(err)
		}
	})
}

// With jitter each renewal comes at a random time between the period less the jitter and the period.
func TestRenewalJitter(t *testing.T) {
	in(t, 1, func(w *world) {
		var gaps []time.Duration
		last := time.Now()
		w.observer = atStep(func(e observe.Event) {
			switch e.Step {
			case observe.ExtendStarted:
				gaps = append(gaps, time.Since(last))
			case observe.Granted, observe.Extended:
				last = time.Now()
			}
		})
		r := Renewal{Period: 300 * time.Millisecond, Jitter: 200 * time.Millisecond, Limit: Unlimited}
		err := w.Hold(w.Context(), "r", time.Second, r, func(ctx context.Context, _ *Lease) error { time.Sleep(time.Minute); return ctx.Err() })
		if err != nil {
			t.Fatal(err)
		}
		low, high := slices.Min(gaps), slices.Max(gaps)
		if low < 100*time.Millisecond || low > 120*time.Millisecond || high > 300*time.Millisecond || high < 280*time.Millisecond || len(gaps) < 200 {
			t.Errorf("%d renewals, after %v to %v", len(gaps), low, high)
		}
	})
	in(t, 1, func(w *world) {
		for _, jitter := range []time.Duration{-1, time.Second/3 + 1} {
			err := w.Hold(w.Context(), "r", time.Second, Renewal{Jitter: jitter}, func(context.Context, *Lease) error { return nil })
			if !errors.Is(err, ErrInvalid) || w.sent(driver.OpAcquire) != "0" {
				t.Errorf("jitter %v: %v, sent %s", jitter, err, w.sent(driver.OpAcquire))
			}
		}
	})
}
