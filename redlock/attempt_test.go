package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// When the decision is taken, what it is, and what it says of each node. The plans are those of scripted.next.
func TestDecision(t *testing.T) {
	const taken, none, late = "NotAcquired Taken", "NotAcquired NoQuorum", "NotAcquired TooLate"
	for _, c := range []struct {
		name    string
		acquire string
		opts    []Option
		ttl     string
		at      string
		matches string // empty: granted
		nodes   string
	}{
		{name: "the third yes decides", acquire: "ok:1 ok:2 ok:3 ok:4 ok:5", at: "3"},
		{name: "in any order", acquire: "ok:5 ok:4 ok:3 ok:2 ok:1", at: "3"},
		{name: "two dead are not waited for", acquire: "ok:1 lost ok:7 mute ok:2", at: "7"},
		{name: "two that say no do not matter", acquire: "no:1 no:2 ok:3 ok:4 ok:5", at: "5"},
		{name: "nor two errors", acquire: "failed:1 refused:2 ok:3 ok:4 ok:5", at: "5"},
		{name: "an answer given twice is one vote", acquire: "twice:1 no:3 lost no:5 no:9", at: "9", matches: taken,
			nodes: "A granted; B held by another; C unanswered; D held by another; E held by another"},
		{name: "answers before Do has returned", acquire: "now now now now now", at: "0"},
		{name: "the third no decides", acquire: "no:1 no:2 no:3 ok:4 lost", at: "3", matches: taken,
			nodes: "A held by another; B held by another; C held by another; D unanswered; E unanswered"},
		{name: "split two, two and one", acquire: "ok:1 ok:2 no:3 no:4 no:5", at: "5", matches: taken,
			nodes: "A granted; B granted; C held by another; D held by another; E held by another"},
		{name: "neither enough yes nor enough no", acquire: "no:1 refused:2 failed:3 ok:4 ok:5", at: "3", matches: none,
			nodes: "A held by another; B refused: scripted; C failed: scripted; D unanswered; E unanswered"},
		// After the first no the others have 20 ms, and 8 times the 2 ms that the slower of those took that had answered
		// before.
		{name: "two of each and a dead one", acquire: "ok:1 ok:2 no:3 no:4 lost", at: "39", matches: none,
			nodes: "A granted; B granted; C held by another; D held by another; E unanswered"},
		{name: "two of each and a slow one", acquire: "ok:1 ok:2 no:3 no:4 ok:38", at: "38"},
		{name: "one no and two dead ones", acquire: "ok:1 ok:2 no:3 lost lost", at: "39", matches: none,
			nodes: "A granted; B granted; C held by another; D unanswered; E unanswered"},
		{name: "a no and three dead ones", acquire: "ok:1 no:2 lost lost lost", at: "50", matches: none,
			nodes: "A granted; B held by another; C timed out after 50ms; D timed out after 50ms; E timed out after 50ms"},
		{name: "a no after silence", acquire: "ok:1 ok:2 no:30 no:31 ok:49", at: "49"},
		{name: "a yes just in time", acquire: "ok:1 ok:2 ok:49 lost lost", at: "49"},
		{name: "a yes after the node timeout", acquire: "ok:1 ok:2 ok:51 failed:3 failed:4", at: "50", matches: none,
			nodes: "A granted; B granted; C timed out after 50ms; D failed: scripted; E failed: scripted"},
		{name: "a node that gave up itself", acquire: "ok:1 timedout:2 refused:3 refused:4 ok:5", at: "4", matches: none,
			nodes: "A granted; B timed out after 50ms; C refused: scripted; D refused: scripted; E unanswered"},
		{name: "another node timeout", acquire: "ok:1 ok:2 ok:9 no:3 no:4", opts: []Option{WithNodeTimeout(millis("8"))}, at: "8", matches: none,
			nodes: "A granted; B granted; C timed out after 8ms; D held by another; E held by another"},
		{name: "quorum of four", acquire: "ok:1 ok:2 ok:3 ok:4 lost", opts: []Option{WithQuorum(4)}, at: "4"},
		{name: "quorum of four, two no", acquire: "ok:1 ok:2 no:3 no:4 lost", opts: []Option{WithQuorum(4)}, at: "4", matches: taken,
			nodes: "A granted; B granted; C held by another; D held by another; E unanswered"},
		{name: "one node", acquire: "ok:1", at: "1"},
		{name: "one node, no", acquire: "no:1", at: "1", matches: taken, nodes: "A held by another"},
		{name: "one node, dead", acquire: "lost", at: "50", matches: none, nodes: "A timed out after 50ms"},
		{name: "two nodes, one dead", acquire: "ok:1 lost", at: "50", matches: none, nodes: "A granted; B timed out after 50ms"},
		{name: "four nodes, split evenly", acquire: "ok:1 ok:2 no:3 no:4", at: "4", matches: taken,
			nodes: "A granted; B granted; C held by another; D held by another"},
		{name: "four nodes", acquire: "ok:1 ok:2 ok:3 no:4", at: "3"},
		// 20 ms less 2.2 ms for drift leave 17.8 ms.
		{name: "a little validity left", acquire: "ok:1 ok:2 ok:17.7 ok:30 ok:30", ttl: "20", at: "17.7"},
		{name: "no validity left", acquire: "ok:1 ok:2 ok:17.8 ok:30 ok:30", ttl: "20", at: "17.8", matches: late,
			nodes: "A granted; B granted; C granted; D unanswered; E unanswered"},
		{name: "too late by far", acquire: "ok:1 ok:2 ok:19 ok:30 ok:30", ttl: "20", at: "19", matches: late,
			nodes: "A granted; B granted; C granted; D unanswered; E unanswered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, len(strings.Fields(c.acquire)), func(w *world) {
				w.script(driver.OpAcquire, c.acquire)
				ttl := 10 * time.Second
				if c.ttl != "" {
					ttl = millis(c.ttl)
				}
				lease, err := w.TryLock(w.Context(), "r", ttl)
				if w.at() != millis(c.at) {
					w.Errorf("decided at %v, want %sms", w.at(), c.at)
				}
				if matches(err) != c.matches || (lease == nil) != (err != nil) {
					w.Fatalf("%v, %v\nmatches %q, want %q", lease, err, matches(err), c.matches)
				}
				if err == nil {
					if want := w.began.Add(ttl - w.drift.of(ttl)); !lease.Until().Equal(want) {
						w.Errorf("until %v, want %v", lease.Until(), want)
					}
					if strings.Trim(w.sent(driver.OpRelease), "0") != "" {
						w.Errorf("sent releases %s after a grant", w.sent(driver.OpRelease))
					}
					return
				}
				var e *Error
				if !errors.As(err, &e) || e.Op != driver.OpAcquire || e.Resource != "r" || e.Attempts != 1 {
					w.Errorf("error %#v", err)
				}
				want := fmt.Sprintf("redlock: acquire %q: %v (%s)", "r", e.Reason, c.nodes)
				if err.Error() != want {
					w.Errorf("got  %v\nwant %s", err, want)
				}
				w.atTime(time.Second)
				for i, plan := range strings.Fields(c.acquire) {
					n := w.nodes[i]
					a, r := n.received(driver.OpAcquire), n.received(driver.OpRelease)
					at, isAsked := releasedAt(plan, w.nodeTimeout)
					switch {
					case isAsked != (len(r) > 0):
						w.Errorf("node %s was sent the releases %+v", n.name, r)
					case isAsked && (r[0].Value != a[0].Value || r[0].sent.Sub(w.began) != max(at, millis(c.at))):
						w.Errorf("node %s was sent the release of %q at %v", n.name, r[0].Value, r[0].sent.Sub(w.began))
					}
				}
				if w.holders("r") != "" {
					w.Errorf("%s still hold the key", w.holders("r"))
				}
			}, c.opts...)
		})
	}
}

// releasedAt is when a node can be asked to release what an attempt that failed may have left there: once it has voted, or its
// answer did not come or was an error. A node that has said no is not asked.
func releasedAt(plan string, timeout time.Duration) (at time.Duration, isAsked bool) {
	kind, after, _ := strings.Cut(plan, ":")
	if kind == "no" {
		return 0, false
	}
	if after == "" {
		return timeout, true
	}
	return min(millis(after), timeout), true
}

// What a node is asked, and that all are asked at the same time.
func TestCommand(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(10 * time.Second)
		w.atTime(time.Second)
		if err := lease.Extend(w.Context(), 20*time.Second); err != nil {
			w.Fatal(err)
		}
		w.atTime(2 * time.Second)
		if err := lease.Unlock(w.Context()); err != nil {
			w.Fatal(err)
		}
		for _, n := range w.nodes {
			var got []string
			for _, r := range n.got {
				at := r.sent.Sub(w.began)
				got = append(got, fmt.Sprintf("%v %v %v %v, round %d, until %v", at, r.Op, r.Keys, r.TTL, r.Round, r.Deadline.Sub(w.began)))
				if r.Value != lease.Value() {
					w.Errorf("%v under value %q, want %q", r.Op, r.Value, lease.Value())
				}
			}
			want := []string{
				"0s acquire [r] 10s, round 0, until 50ms",
				"1s extend [r] 20s, round 1, until 1.05s",
				"2s release [r] 0s, round 2, until 2.05s",
			}
			if !slices.Equal(got, want) {
				w.Errorf("node %s got\n%s", n.name, strings.Join(got, "\n"))
			}
		}
		if lease.Resource() != "r" {
			w.Errorf("resource %q", lease.Resource())
		}
	})
}

// The commands of a round share a context, without those that have a deadline of their own, until the round is over.
func TestContextOfCommands(t *testing.T) {
	in(t, 3, func(w *world) {
		lease := w.mustLock(time.Second)
		r := lease.acquisition.newRound(driver.OpExtend, time.Second, w.clock.Now())
		r.ballot.Later = quorum.All(3)
		for i := range r.commands {
			r.commands[i].Deadline = r.start.Add(DefaultNodeTimeout)
		}
		shared := r.commands[0].Context()
		if shared == nil || r.commands[1].Context() != shared {
			w.Errorf("%v is not shared", shared)
		}
		if deadline, _ := shared.Deadline(); !deadline.Equal(r.commands[0].Deadline) {
			w.Errorf("ends at %v, not at %v", deadline, r.commands[0].Deadline)
		}
		r.commands[2].ownDeadline = true
		if ctx := r.commands[2].Context(); ctx != nil {
			w.Errorf("with a deadline of its own: %v", ctx)
		}
		r.sendTo(quorum.All(3), r.start)
		if err := r.wait(w.Context()); err != nil {
			w.Fatal(err)
		}
		w.atTime(w.at() + millis("10"))
		if ctx := r.commands[0].Context(); shared.Err() == nil || ctx != nil {
			w.Errorf("after the round: %v, and %v", shared.Err(), ctx)
		}
	})
}

// Somebody between the client and a node may give the node another command, and its arguments are those of that.
func TestArgumentsOfAnotherCommand(t *testing.T) {
	in(t, 1, func(w *world) {
		l := &ledger{}
		c, err := New([]driver.Node{l})
		if err != nil {
			t.Fatal(err)
		}
		w.Client = c
		w.ask(1, millis("1"))
		l.mu.Lock()
		given := l.batches[0][0]
		l.mu.Unlock()
		arguments := func(c *driver.Command) string {
			keys, value, ttl := batch.Arguments(c)
			return fmt.Sprint(keys, value, ttl)
		}
		for range 2 { // also after others have asked
			if got, want := arguments(given), fmt.Sprint(given.Keys, given.Value, 1000); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			for _, alter := range []func(*driver.Command){
				func(c *driver.Command) { c.TTL *= 2 },
				func(c *driver.Command) { c.Value = "another" },
				func(c *driver.Command) { c.Keys = []string{"another"} },
				func(c *driver.Command) { c.Keys = append([]string{"another"}, c.Keys...) },
			} {
				other := *given
				alter(&other)
				if got, want := arguments(&other), fmt.Sprint(other.Keys, other.Value, other.TTL.Milliseconds()); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		}
	})
}

// Clean-up goes on when the caller has gone.
func TestContextEndsDuringAcquire(t *testing.T) {
	for _, c := range []struct {
		name    string
		call    func(*world, context.Context) (*Lease, error)
		acquire string
	}{
		{"TryLock", func(w *world, ctx context.Context) (*Lease, error) { return w.TryLock(ctx, "r", time.Second) }, "ok:1 ok:2 mute lost refused:3"},
		{"Lock", func(w *world, ctx context.Context) (*Lease, error) { return w.Lock(ctx, "r", time.Second) }, "ok:1 ok:2 mute lost refused:3"},
		{"no answer at all", func(w *world, ctx context.Context) (*Lease, error) { return w.TryLock(ctx, "r", time.Second) }, "mute mute mute mute mute"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				w.script(driver.OpAcquire, c.acquire)
				ctx, cancel := context.WithTimeout(w.Context(), millis("10"))
				defer cancel()
				lease, err := c.call(w, ctx)
				if lease != nil || matches(err) != "NotAcquired DeadlineExceeded" || w.at() != millis("10") {
					w.Errorf("at %v: %v, %v (matches %s)", w.at(), lease, err, matches(err))
				}
				w.atTime(millis("60"))
				if w.sent(driver.OpRelease) != "11111" {
					w.Errorf("sent releases %s", w.sent(driver.OpRelease))
				}
				if w.holders("r") != "" {
					w.Errorf("%s still hold the key", w.holders("r"))
				}
			})
		})
	}
}

// A decision that was taken stands, also when the context ends in the same instant.
func TestGrantAndContextEndTogether(t *testing.T) {
	in(t, 1, func(w *world) {
		ctx, end := context.WithCancel(w.Context())
		c, err := New([]driver.Node{callback{func(cmd *driver.Command) {
			cmd.Done(cmd, driver.Reply{Outcome: driver.Accepted})
			end()
		}}})
		if err != nil {
			w.Fatal(err)
		}
		lease, err := c.TryLock(ctx, "r", time.Second)
		if err != nil {
			w.Fatal(err)
		}
		if lease.Context().Err() != nil {
			w.Error("the lease's context ended with the caller's")
		}
	})
}

// callback is a node that does what a test wants.
type callback struct{ do func(*driver.Command) }

func (callback) Name() string { return "callback" }

func (n callback) Do(batch []*driver.Command) {
	for _, cmd := range batch {
		n.do(cmd)
	}
}

// Answers that come after the decision but before the caller runs on change neither error nor events.
func TestDecisionIsFrozen(t *testing.T) {
	t.Run("lost", func(t *testing.T) {
		in(t, 5, func(w *world) {
			w.script(driver.OpAcquire, "no:1 no:2 refused:3 no:4 no:5")
			_, err := w.TryLock(w.Context(), "r", time.Second)
			const want = `redlock: acquire "r": no quorum of nodes (A held by another; B held by another; C refused: scripted; D unanswered; E unanswered)`
			if err.Error() != want {
				w.Errorf("got  %v\nwant %s", err, want)
			}
		}, WithObserver(atStep(func(e observe.Event) {
			if e.Step == observe.NodeAnswered && e.Node.Node == "A" && e.Op == driver.OpAcquire {
				time.Sleep(millis("10"))
			}
		})))
	})
	t.Run("reached", func(t *testing.T) {
		in(t, 5, func(w *world) {
			w.mustLock(time.Second)
		}, WithObserver(atStep(func(e observe.Event) {
			switch {
			case e.Step == observe.NodeAnswered && !e.Late:
				time.Sleep(millis("1"))
			case e.Step == observe.QuorumReached && e.Accepted != 3:
				t.Errorf("the quorum of 3 was reached with %d", e.Accepted)
			}
		})))
	})
	// All five time out at once; the third decides.
	t.Run("timed out after 50ms", func(t *testing.T) {
		in(t, 5, func(w *world) {
			w.script(driver.OpAcquire, "lost lost lost lost lost")
			_, err := w.TryLock(w.Context(), "r", time.Second)
			const want = `redlock: acquire "r": no quorum of nodes (A timed out after 50ms; B timed out after 50ms; C timed out after 50ms; D timed out after 50ms; E timed out after 50ms)`
			if err.Error() != want {
				w.Errorf("got  %v\nwant %s", err, want)
			}
		}, WithObserver(atStep(func(e observe.Event) {
			if e.Late {
				time.Sleep(millis("1"))
			}
		})))
	})
}

// A reply that comes after the node timeout counts as unknown, also if the timer has not run yet.
func TestReplyAfterNodeTimeout(t *testing.T) {
	in(t, 1, func(w *world) {
		w.script(driver.OpAcquire, "ok:60")
		if _, err := w.TryLock(w.Context(), "r", time.Second); matches(err) != "NotAcquired NoQuorum" {
			w.Errorf("a reply 10 ms after the node timeout: %v", text(err))
		}
	}, WithRuntime(driver.Runtime{Clock: lateClock{driver.SystemClock(), millis("20")}}))
}
