package redlock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"redlocksim/redlock/driver"
)

var guarded = WithRestartGuard(Guard{MaxTTL: time.Second})

// prepared has the nodes declared fit to vote, and the transcript begin after that.
func (w *world) prepared() {
	w.Helper()
	if err := w.PrepareGuard(w.Context()); err != nil {
		w.Fatal(err)
	}
	time.Sleep(millis("100") - w.at())
	synctest.Wait()
	w.hush()
}

// record is the restart guard's on the node.
func (n *scripted) record() string { return n.get(driver.GuardKey) }

// What ends PrepareGuard before a node has answered; testdata/guard.txt has the rest.
func TestPrepareGuardRefuses(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	var none context.Context
	for _, c := range []struct {
		name          string
		ctx           context.Context
		opts          []Option
		before        func(*world)
		want, matches string
		at            string
	}{
		{name: "no guard", ctx: context.Background(), want: "redlock: invalid argument: the client has no restart guard", matches: "Invalid", at: "0"},
		{name: "nil context", ctx: none, opts: []Option{guarded}, want: "redlock: invalid argument: nil context", matches: "Invalid", at: "0"},
		{name: "closed", ctx: context.Background(), opts: []Option{guarded}, before: func(w *world) { w.Close(w.Context()) },
			want: "redlock: client closed", matches: "Closed", at: "0"},
		{name: "ended context", ctx: ended, opts: []Option{guarded}, at: "0", matches: "NotPrepared Canceled",
			want: `redlock: prepare "redlock:guard": not prepared: context canceled (A unanswered; B unanswered; C unanswered)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 3, func(w *world) {
				if c.before != nil {
					c.before(w)
				}
				if err := w.PrepareGuard(c.ctx); text(err) != c.want || matches(err) != c.matches || w.at() != millis(c.at) {
					w.Errorf("at %v: %v (matches %s)\nwant at %sms: %s (matches %s)", w.at(), err, matches(err), c.at, c.want, c.matches)
				}
				w.Close(w.Context())
				for _, n := range w.nodes {
					if n.record() != "" {
						w.Errorf("%s was prepared", n.name)
					}
				}
			}, c.opts...)
		})
	}
}

// The very nanosecond at which a client has watched for long enough.
func TestWatchedForLongEnough(t *testing.T) {
	var w watching
	start := time.Unix(1000, 0)
	named := func(at time.Duration, g Guard) string {
		all := make([]driver.Conditions, 2)
		w.confirm(all, &settings{maxTTL: g.MaxTTL, trustsNodes: g.TrustNodeClock}, start.Add(at))
		return all[0].Watched + "|" + all[1].Watched
	}
	g := Guard{MaxTTL: time.Second}
	expect := func(at time.Duration, g Guard, want string) {
		t.Helper()
		if got := named(at, g); got != want {
			t.Errorf("after %v: %q, want %q", at, got, want)
		}
	}
	expect(0, g, "|")
	w.saw(1, "a", start)
	w.saw(1, "a", start.Add(time.Hour)) // is the same
	expect(time.Second-1, g, "|")
	expect(time.Second, g, "|a")
	expect(-time.Hour, g, "|")
	expect(0, Guard{MaxTTL: time.Second, TrustNodeClock: true}, "|a")
	w.saw(0, "c", start)
	w.saw(1, "b", start.Add(time.Minute))
	expect(time.Minute, g, "c|")
	expect(time.Minute+time.Second, g, "c|b")
	w.ended(0, "another")
	w.ended(1, "b")
	expect(time.Hour, g, "c|")
}

// Once a node votes again its quarantine is no longer named to it: acquires without one go together in batches.
func TestQuarantineIsForgotten(t *testing.T) {
	for outcome, before := range map[string]func(*world, *scripted){
		"accepted": func(*world, *scripted) {},
		"declined": func(_ *world, n *scripted) { n.hold("r", time.Second) },
		"behind":   func(_ *world, n *scripted) { n.counter("r", 100) },
	} {
		in(t, 1, func(w *world) {
			w.prepared()
			node := w.node(0)
			node.restart()
			watched := func() string {
				if l, err := w.TryLock(w.Context(), "r", time.Second); err == nil {
					_ = l.Unlock(w.Context())
				}
				all := node.received(driver.OpAcquire)
				return all[len(all)-1].Conditions.Watched
			}
			if got := watched(); got != "" {
				t.Errorf("%s: at first %q is named", outcome, got)
			}
			time.Sleep(1100 * time.Millisecond)
			record := node.record()
			before(w, node)
			if w.TryLock(w.Context(), "r", time.Second); node.record() == record {
				t.Fatalf("%s: %q has not ended", outcome, record)
			}
			time.Sleep(2 * time.Second)
			if got := watched(); got != "" {
				t.Errorf("%s: %q is named, and is over", outcome, got)
			}
			node.restart()
			if watched(); node.record() == record {
				t.Errorf("%s: no new quarantine", outcome)
			}
			time.Sleep(1100 * time.Millisecond)
			if record := node.record(); watched() != record {
				t.Errorf("%s: a later quarantine is not named", outcome)
			}
		}, guarded, fenced)
	}
}

// The node's error says what is wrong.
func TestAnotherMaxTTL(t *testing.T) {
	in(t, 1, func(w *world) {
		w.prepared()
		_, err := w.another(WithRestartGuard(Guard{MaxTTL: time.Minute})).TryLock(w.Context(), "r", time.Second)
		const want = `redlock: acquire "r": no quorum of nodes (A failed: redlock: the restart guard's largest TTL is 1s on the node and 1m0s in this client)`
		var e *Error
		var limits *driver.MaxTTLError
		if !errors.As(err, &e) || err.Error() != want || !errors.As(e.Nodes[0].Err, &limits) {
			w.Errorf("got  %v\nwant %s", err, want)
		}
		w.node(0).restart() // with what it knew
		w.node(0).set(driver.GuardKey, "0 0 1000")
		if _, err := w.another(WithRestartGuard(Guard{MaxTTL: time.Minute})).TryLock(w.Context(), "r", time.Second); text(err) != want {
			w.Errorf("after a restart: %v", err)
		}
	}, guarded)
}
