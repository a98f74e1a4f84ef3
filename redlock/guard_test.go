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

// mustWait makes an attempt that fails for want of nodes that are fit to vote.
func (w *world) mustWait(c *Client) {
	w.Helper()
	if _, err := c.TryLock(w.Context(), "r", time.Second); matches(err) != "NotAcquired NoQuorum" {
		w.Errorf("at %v: %v", w.at(), err)
	}
}

// mustVote makes an attempt that succeeds, and releases.
func (w *world) mustVote(c *Client) {
	w.Helper()
	lease, err := c.TryLock(w.Context(), "r", time.Second)
	if err != nil {
		w.Errorf("at %v: %v", w.at(), err)
		return
	}
	if err := lease.Unlock(w.Context()); err != nil {
		w.Error(err)
	}
}

// A node that was never seen before is in quarantine, and who waits for the lock gets it when that is over.
func TestUnpreparedNodes(t *testing.T) {
	in(t, 3, func(w *world) {
		_, err := w.TryLock(w.Context(), "r", time.Second)
		const want = `redlock: acquire "r": no quorum of nodes (A in quarantine; B in quarantine; C unanswered)`
		if text(err) != want {
			w.Errorf("got  %v\nwant %s", err, want)
		}
		ctx, cancel := context.WithTimeout(w.Context(), 5*time.Second)
		defer cancel()
		if _, err := w.Lock(ctx, "r", time.Second); err != nil {
			w.Error(err)
		}
		if w.at() < time.Second || w.at() > time.Second+millis("30") {
			w.Errorf("granted at %v", w.at())
		}
	}, guarded)
}

func TestPrepareGuard(t *testing.T) {
	in(t, 3, func(w *world) {
		if err := w.PrepareGuard(w.Context()); err != nil || w.at() != millis("6") {
			w.Errorf("at %v: %v", w.at(), err)
		}
		for _, n := range w.nodes {
			if n.record != "run0 0 1000" {
				w.Errorf("%s: record %q", n.name, n.record)
			}
		}
		w.hush()
		w.mustVote(w.Client)
		w.transcript(`
			6ms attempt-started 1
			8ms node-answered A granted [acquire]
			8ms node-answered B granted [acquire]
			8ms quorum-reached 2 of 2 [acquire]
			8ms validity-computed 986ms until 994ms [acquire]
			8ms granted 986ms until 994ms [acquire]
			8ms release-started
			9ms node-answered C granted, late [acquire]
			10ms node-answered A released [release]
			10ms node-answered B released [release]
			10ms released 2 of 2 [release]`)
	}, guarded)
}

func TestPrepareGuardFails(t *testing.T) {
	ended, end := context.WithCancel(context.Background())
	end()
	var none context.Context
	for _, c := range []struct {
		name          string
		ctx           context.Context
		opts          []Option
		before        func(*world)
		want, matches string
		prepared      string
		at            string
	}{
		{name: "no guard", ctx: context.Background(), want: "redlock: invalid argument: the client has no restart guard", matches: "Invalid", at: "0"},
		{name: "nil context", ctx: none, opts: []Option{guarded}, want: "redlock: invalid argument: nil context", matches: "Invalid", at: "0"},
		{name: "closed", ctx: context.Background(), opts: []Option{guarded}, before: func(w *world) { w.Close(w.Context()) },
			want: "redlock: client closed", matches: "Closed", at: "0"},
		{name: "ended context", ctx: ended, opts: []Option{guarded}, at: "0", matches: "NotPrepared Canceled",
			want: `redlock: prepare "redlock:guard": not prepared: context canceled (A unanswered; B unanswered; C unanswered)`},
		{name: "nobody there", ctx: context.Background(), opts: []Option{guarded}, before: func(w *world) { w.silence(w.nodes...) }, at: "50", matches: "NotPrepared",
			want: `redlock: prepare "redlock:guard": not prepared (A timed out after 50ms; B timed out after 50ms; C timed out after 50ms)`},
		{name: "one is not reached at first", ctx: context.Background(), opts: []Option{guarded}, before: func(w *world) { w.script(driver.OpPrepare, "ok:1 refused:2 ok:3") },
			at: "6", matches: "NotPrepared", prepared: "AC",
			want: `redlock: prepare "redlock:guard": not prepared (A prepared; B refused: scripted; C prepared)`},
		{name: "one is not reached then", ctx: context.Background(), opts: []Option{guarded}, before: func(w *world) {
			w.script(driver.OpPrepare, "ok:1 ok:2 ok:3")
			w.script(driver.OpPrepare, "ok:1 lost failed:3")
		}, at: "53", matches: "NotPrepared", prepared: "A",
			want: `redlock: prepare "redlock:guard": not prepared (A prepared; B timed out after 50ms; C failed: scripted)`},
		{name: "one restarts between", ctx: context.Background(), opts: []Option{guarded}, before: func(w *world) {
			w.script(driver.OpPrepare, "ok:1 ok:1 ok:10")
			time.AfterFunc(millis("5"), w.node(1).restart)
		}, at: "13", matches: "NotPrepared", prepared: "AC",
			want: `redlock: prepare "redlock:guard": not prepared (A prepared; B not prepared; C prepared)`},
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
				prepared := ""
				for _, n := range w.nodes {
					if n.record != "" {
						prepared += n.name
					}
				}
				if prepared != c.prepared {
					w.Errorf("prepared %s, want %s", prepared, c.prepared)
				}
			}, c.opts...)
		})
	}
}

// Nothing more is sent when the context has ended.
func TestPrepareGuardEndsWithItsContext(t *testing.T) {
	in(t, 2, func(w *world) {
		w.script(driver.OpPrepare, "ok:1 ok:20")
		ctx, cancel := context.WithTimeout(w.Context(), millis("10"))
		defer cancel()
		err := w.PrepareGuard(ctx)
		const want = `redlock: prepare "redlock:guard": not prepared: context deadline exceeded (A not prepared; B unanswered)`
		if text(err) != want || w.at() != millis("10") {
			w.Errorf("at %v: %v", w.at(), err)
		}
		w.atTime(millis("100"))
		if w.sent(driver.OpPrepare) != "11" || w.node(0).record != "" {
			w.Errorf("sent %s", w.sent(driver.OpPrepare))
		}
	}, guarded)
}

// A command to prepare a node that arrives after the node has restarted does nothing.
func TestPrepareGuardArrivesLate(t *testing.T) {
	in(t, 1, func(w *world) {
		n := w.node(0)
		n.next(driver.OpPrepare, "ok:1")
		n.next(driver.OpPrepare, "mute:100")
		if err := w.PrepareGuard(w.Context()); matches(err) != "NotPrepared" {
			w.Error(err)
		}
		n.restart()
		w.mustWait(w.Client)
		w.atTime(millis("500"))
		w.mustWait(w.Client)
	}, guarded)
}

// A node that restarts sits out for MaxTTL from its first contact on, by its own clock and by the client's.
func TestQuarantine(t *testing.T) {
	contact := millis("500") // of the restarted node: the client has its answer 1 ms later
	for _, c := range []struct {
		name  string
		guard Guard
		step  time.Duration     // of the node's clock, 100 ms after that
		again func(n *scripted) // 200 ms after that
		ends  time.Duration     // after contact, when it first votes
	}{
		{name: "no step", ends: millis("1001")},
		{name: "a step forward", step: time.Hour, ends: millis("1001")},
		{name: "a small step forward", step: millis("500"), ends: millis("1001")},
		{name: "a step back", step: -millis("700"), ends: millis("1701")},
		{name: "a step forward, where that is trusted", guard: Guard{TrustNodeClock: true}, step: time.Hour, ends: millis("101")},
		{name: "no step, where that is trusted", guard: Guard{TrustNodeClock: true}, ends: millis("1001")},
		{name: "another restart", again: (*scripted).restart, ends: millis("1202")},
		{name: "emptied", again: func(n *scripted) { n.forget(); n.mu.Lock(); n.record = ""; n.mu.Unlock() }, ends: millis("1202")},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.guard.MaxTTL = time.Second
			in(t, 1, func(w *world) {
				n := w.node(0)
				n.trip = 0
				w.prepared()
				w.mustVote(w.Client)
				n.restart()
				w.atTime(contact)
				w.mustWait(w.Client)
				if c.again != nil {
					time.AfterFunc(millis("200"), func() { c.again(n) })
				}
				time.AfterFunc(millis("100"), func() { n.mu.Lock(); n.ahead += c.step; n.mu.Unlock() })
				for at := contact; ; at += time.Millisecond {
					w.atTime(at + millis("0.5"))
					lease, err := w.TryLock(w.Context(), "r", time.Second)
					if err == nil {
						if got := at - contact; got != c.ends && got != c.ends-time.Millisecond {
							w.Errorf("voted %v after contact, want %v", got, c.ends)
						}
						lease.Unlock(w.Context())
						return
					}
					if at > contact+5*time.Second {
						w.Fatal("it never votes")
					}
				}
			}, WithRestartGuard(c.guard))
		})
	}
}

// A client ends only a quarantine that it has watched itself, whatever the node's clock says; then it has ended for all.
func TestEveryClientWatchesForItself(t *testing.T) {
	in(t, 1, func(w *world) {
		n := w.node(0)
		n.trip = 2 * time.Millisecond
		w.mustWait(w.Client) // has its answer at 2 ms
		n.mu.Lock()
		n.ahead = time.Hour
		n.mu.Unlock()
		w.atTime(millis("999"))
		other := w.another(guarded)
		w.mustWait(other)
		w.atTime(time.Second + millis("2") - 1)
		w.mustWait(w.Client)
		w.atTime(time.Second + millis("5"))
		w.mustWait(other)
		w.mustVote(w.Client)
		w.mustVote(other)
	}, guarded)
}

// The very nanosecond at which a client has watched for long enough.
func TestWatchedForLongEnough(t *testing.T) {
	var w watching
	start := time.Unix(1000, 0)
	named := func(at time.Duration, g Guard) string {
		all := make([]driver.Conditions, 2)
		w.confirm(all, g, start.Add(at))
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
}

// An answer that is late but in time counts as an observation; one after the node timeout is unknown.
func TestLateQuarantine(t *testing.T) {
	in(t, 1, func(w *world) {
		n := w.node(0)
		n.next(driver.OpAcquire, "ok:10+41")
		w.mustWait(w.Client)
		w.atTime(millis("100"))
		n.next(driver.OpAcquire, "ok:10+40")
		w.mustWait(w.Client) // has its answer at 150 ms
		w.atTime(millis("150") + time.Second - 1)
		w.mustWait(w.Client)
		w.mustVote(w.Client)
	}, guarded)
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
		w.node(0).record = "run0 0 1000"
		if _, err := w.another(WithRestartGuard(Guard{MaxTTL: time.Minute})).TryLock(w.Context(), "r", time.Second); text(err) != want {
			w.Errorf("after a restart: %v", err)
		}
	}, guarded)
}

// Scenario 43: a holder that only extends, of whose three nodes one after the other restarts empty. Without the guard
// the two empty ones are a quorum for another while the holder's last extend is still good.
func TestExtendOnlyHolder(t *testing.T) {
	for _, guard := range []bool{true, false} {
		var opts []Option
		if guard {
			opts = append(opts, guarded)
		}
		in(t, 3, func(w *world) {
			if guard {
				w.prepared()
			}
			w.atTime(millis("100"))
			lease := w.mustLock(time.Second)
			other := w.another(opts...)
			for i := range 20 {
				w.atTime(time.Duration(i+2) * millis("100"))
				if i == 2 {
					w.node(0).restart()
				}
				if err := lease.Extend(w.Context(), time.Second); err != nil {
					w.Fatal(err)
				}
				if _, err := other.TryLock(w.Context(), "r", time.Second); err == nil {
					w.Fatal("granted while a quorum holds the key")
				}
			}
			// A is out of quarantine by now. B restarts as well.
			w.node(1).restart()
			until := lease.Until()
			if guard {
				if err := lease.Extend(w.Context(), time.Second); matches(err) != "Lost" {
					w.Errorf("extended on one node: %v", err)
				}
			}
			for {
				_, err := other.TryLock(w.Context(), "r", time.Second)
				if err == nil {
					break
				}
				if w.atTime(w.at() + millis("10")); w.at() > 10*time.Second {
					w.Fatal("never granted")
				}
			}
			if overlap := time.Now().Before(until); overlap == guard {
				w.Errorf("guard %v: granted %v before the end of the lease", guard, time.Until(until))
			}
		}, opts...)
	}
}
