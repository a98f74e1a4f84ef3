package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// another is a client of its own over the same nodes, which nobody observes.
func (w *world) another(opts ...Option) *Client {
	w.Helper()
	nodes := make([]driver.Node, len(w.nodes))
	for i, n := range w.nodes {
		nodes[i] = n
	}
	c, err := New(nodes, append([]Option{WithRetryDelay(10*time.Millisecond, 10*time.Millisecond)}, opts...)...)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// counters lists the counters of a key: "3 3 3 0 0".
func (w *world) counters(key string) string {
	var all []string
	for _, n := range w.nodes {
		n.mu.Lock()
		all = append(all, fmt.Sprint(n.counters[key]))
		n.mu.Unlock()
	}
	return strings.Join(all, " ")
}

func token(t testing.TB, l *Lease) int64 {
	t.Helper()
	if l == nil {
		return 0
	}
	token, ok := l.Token()
	if !ok {
		t.Error("no token")
	}
	return token
}

var fenced = WithFencing(Fencing{})

// A client that had the resource last needs one round, one that did not a second; one that was refused meanwhile knows
// the counter.
func TestTokens(t *testing.T) {
	in(t, 3, func(w *world) {
		other := w.another(fenced)
		for i, want := range []int64{1, 2, 3} {
			w.atTime(time.Duration(i) * 100 * time.Millisecond)
			lease := w.mustLock(time.Second)
			if got := token(w, lease); got != want {
				w.Errorf("token %d, want %d", got, want)
			}
			elsewhere, err := other.TryLock(w.Context(), "another", time.Second)
			if err != nil {
				w.Fatal(err)
			}
			if err := errors.Join(elsewhere.Unlock(w.Context()), lease.Unlock(w.Context())); err != nil {
				w.Error(err)
			}
		}
		if w.sent(driver.OpAcquire) != "666" {
			w.Errorf("sent %s acquires", w.sent(driver.OpAcquire))
		}

		w.atTime(time.Second)
		late := w.another(fenced)
		lease, err := late.TryLock(w.Context(), "r", time.Second)
		if err != nil || token(w, lease) != 4 || w.sent(driver.OpAcquire) != "888" {
			w.Fatalf("%v, %d, sent %s", err, token(w, lease), w.sent(driver.OpAcquire))
		}

		w.atTime(1100 * time.Millisecond)
		waiting := w.another(fenced)
		if _, err := waiting.TryLock(w.Context(), "r", time.Second); matches(err) != "NotAcquired Taken" {
			w.Error(err)
		}
		w.atTime(1150 * time.Millisecond)
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		lease, err = waiting.TryLock(w.Context(), "r", time.Second)
		if err != nil || token(w, lease) != 5 || w.sent(driver.OpAcquire) != "101010" {
			w.Errorf("%v, %d, sent %s", err, token(w, lease), w.sent(driver.OpAcquire))
		}
		// The counters stay when the locks are gone.
		w.atTime(time.Minute)
		if w.counters("r") != "5 5 5" {
			w.Errorf("counters %s", w.counters("r"))
		}
	}, fenced)
}

// A higher token is proposed in the same attempt, under the same value, and the lease is counted from its beginning.
func TestTokenRaised(t *testing.T) {
	in(t, 5, func(w *world) {
		w.script(driver.OpAcquire, "ok:1 ok:2 behind7:3 behind7:4 behind7:5")
		lease := w.mustLock(time.Second)
		w.atTime(millis("100"))
		w.transcript(`
			0s attempt-started 1
			5ms node-answered A granted [acquire]
			5ms node-answered B granted [acquire]
			5ms node-answered C ahead of the token [acquire]
			5ms node-answered D ahead of the token [acquire]
			5ms node-answered E ahead of the token [acquire]
			5ms token-raised to 8 [acquire]
			8ms node-answered A granted [acquire]
			8ms node-answered B granted [acquire]
			8ms node-answered C granted [acquire]
			8ms quorum-reached 3 of 3 [acquire]
			8ms validity-computed 980ms until 988ms [acquire]
			8ms granted 980ms until 988ms [acquire] token 8
			9ms node-answered D granted, late [acquire]
			9ms joined D granted [acquire]
			10ms node-answered E granted, late [acquire]
			10ms joined E granted [acquire]`)
		if token(w, lease) != 8 || w.counters("r") != "8 8 8 8 8" || w.holders("r") != "ABCDE" {
			w.Errorf("token %d, counters %s, held by %s", token(w, lease), w.counters("r"), w.holders("r"))
		}
		for _, n := range w.nodes {
			got := n.received(driver.OpAcquire)
			if len(got) != 2 || got[0].Value != got[1].Value || got[0].Round != 0 || got[1].Round != 1 || got[0].Conditions.Token != 1 ||
				got[1].Conditions.Token != 8 || got[1].Deadline != w.began.Add(millis("55")) || got[1].TTL != time.Second ||
				got[1].Conditions.CounterTTL != defaultCounterTTL {
				w.Errorf("%s was sent %+v", n.name, got)
			}
		}
		if err := lease.Unlock(w.Context()); err != nil {
			w.Error(err)
		}
		w.atTime(millis("200"))
		if w.holders("r") != "" || w.sent(driver.OpRelease) != "11111" {
			w.Errorf("held by %s, sent %s releases", w.holders("r"), w.sent(driver.OpRelease))
		}
	}, fenced)
}

// When the first token is given up for a second one, and what comes of that. The plans are those of scripted.next.
func TestTokenDecision(t *testing.T) {
	for _, c := range []struct {
		name           string
		acquire, again string // again empty: not proposed again
		ttl            string
		at             string
		matches        string // empty: granted
		nodes          string
	}{
		{name: "the first is good", acquire: "ok:1 ok:2 ok:3 behind7:4 behind7:5", at: "3"},
		{name: "two behind do not matter", acquire: "behind7:1 behind7:2 ok:3 ok:4 ok:5", at: "5"},
		{name: "the third behind decides", acquire: "behind7:1 behind7:2 behind7:3 ok:4 ok:5", again: "ok:1 ok:2 ok:3 ok:4 ok:5", at: "6"},
		{name: "so does a no, if a quorum is left", acquire: "behind7:1 ok:2 no:3 no:4 behind7:5", again: "ok:1 ok:2 no:3 no:4 ok:5", at: "10"},
		{name: "a quorum that is not left is not asked for", acquire: "behind7:1 no:2 no:3 no:4 behind7:5", at: "4", matches: "NotAcquired Taken",
			nodes: "A ahead of the token; B held by another; C held by another; D held by another; E unanswered"},
		{name: "more are waited for while a quorum may be left", acquire: "behind7:1 no:2 ok:3 no:4 ok:30", again: "ok:1 no:2 ok:3 no:4 ok:5", at: "35"},
		{name: "and not for longer than a node timeout", acquire: "behind7:1 no:2 ok:3 no:4 lost", at: "50", matches: "NotAcquired Taken",
			nodes: "A ahead of the token; B held by another; C granted; D held by another; E timed out after 50ms"},
		{name: "the dead are none of it", acquire: "behind7:1 ok:2 behind7:3 lost lost", again: "ok:1 ok:2 ok:3 lost lost", at: "53"},
		{name: "too few answer", acquire: "behind7:1 refused:2 refused:3 lost failed:4", at: "4", matches: "NotAcquired NoQuorum",
			nodes: "A ahead of the token; B refused: scripted; C refused: scripted; D unanswered; E failed: scripted"},
		{name: "there is no third", acquire: "behind7:1 behind7:2 behind7:3 ok:4 ok:5", again: "behind7:1 behind7:2 ok:3 behind7:4 no:5", at: "7", matches: "NotAcquired Taken",
			nodes: "A ahead of the token; B ahead of the token; C granted; D ahead of the token; E unanswered"},
		{name: "the votes for the first do not count", acquire: "ok:1 ok:2 behind7:3 behind7:4 behind7:5", again: "lost lost ok:1 no:2 no:3", at: "55", matches: "NotAcquired NoQuorum",
			nodes: "A timed out after 50ms; B timed out after 50ms; C granted; D held by another; E held by another"},
		// 20 ms less 2.2 ms for drift leave 17.8 ms for both rounds.
		{name: "a little validity left", acquire: "behind7:1 behind7:2 behind7:10 lost lost", again: "ok:1 ok:2 ok:7.7 lost lost", ttl: "20", at: "17.7"},
		{name: "no validity left", acquire: "behind7:1 behind7:2 behind7:10 lost lost", again: "ok:1 ok:2 ok:7.8 lost lost", ttl: "20", at: "17.8",
			matches: "NotAcquired TooLate", nodes: "A granted; B granted; C granted; D unanswered; E unanswered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				w.script(driver.OpAcquire, c.acquire)
				rounds := 1
				if c.again != "" {
					w.script(driver.OpAcquire, c.again)
					rounds = 2
				}
				ttl := 10 * time.Second
				if c.ttl != "" {
					ttl = millis(c.ttl)
				}
				lease, err := w.TryLock(w.Context(), "r", ttl)
				if w.at() != millis(c.at) || matches(err) != c.matches {
					w.Errorf("at %v: %v (matches %q), want %s at %sms", w.at(), err, matches(err), c.matches, c.at)
				}
				if got := len(w.node(0).received(driver.OpAcquire)); got != rounds {
					w.Errorf("%d rounds, want %d", got, rounds)
				}
				if err == nil {
					if want := w.began.Add(ttl - w.drift.of(ttl)); !lease.Until().Equal(want) {
						w.Errorf("until %v, want %v", lease.Until(), want)
					}
					if want := int64([]int{1, 8}[rounds-1]); token(w, lease) != want {
						w.Errorf("token %d, want %d", token(w, lease), want)
					}
					return
				}
				var e *Error
				if !errors.As(err, &e) || err.Error() != fmt.Sprintf("redlock: acquire %q: %v (%s)", "r", e.Reason, c.nodes) {
					w.Errorf("got %v\nwant %s", err, c.nodes)
				}
				w.atTime(time.Second)
				if w.holders("r") != "" || w.sent(driver.OpRelease) != "11111" {
					w.Errorf("held by %s, sent releases %s", w.holders("r"), w.sent(driver.OpRelease))
				}
			}, fenced)
		})
	}
}

// What becomes of E's votes for two tokens, in every order of its SETs and of the release.
func TestTwoTokensAndTheRelease(t *testing.T) {
	for _, c := range []struct {
		name          string
		first, second string // of E, sent at 0 and 3 ms
		release       string // of E, sent at 10 ms
		joined        bool
	}{
		{name: "both before", first: "ok:1", second: "ok:5+1", release: "ok:1", joined: true},
		{name: "answers after the release", first: "ok:2+30", second: "ok:5+30", release: "ok:1"},
		{name: "the first after the release", first: "ok:20", second: "ok:5", release: "ok:1", joined: true},
		{name: "the second after the release", first: "ok:1", second: "ok:20", release: "ok:1"},
		{name: "the second after the release, before its answer", first: "ok:1", second: "ok:12+1", release: "ok:1+20"},
		{name: "both after the release", first: "ok:20", second: "ok:30", release: "ok:1"},
		{name: "both after the release, in reverse", first: "ok:40", second: "ok:20", release: "ok:1"},
		{name: "the release lost", first: "ok:20", second: "ok:30", release: "lost"},
		{name: "the first lost", first: "lost", second: "ok:30", release: "ok:1"},
		{name: "the second lost", first: "ok:20", second: "lost", release: "ok:1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				e := w.node(4)
				w.script(driver.OpAcquire, "behind7:1 behind7:2 behind7:3 ok:1 "+c.first)
				w.script(driver.OpAcquire, "ok:1 ok:2 ok:3 ok:4 "+c.second)
				w.script(driver.OpRelease, "ok:1 ok:1 ok:1 ok:1 "+c.release)
				lease := w.mustLock(time.Second)
				if w.at() != millis("6") {
					w.Fatalf("granted at %v", w.at())
				}
				w.atTime(millis("10"))
				joined := 0
				for _, line := range w.lines {
					if strings.Contains(line, "joined E") {
						joined++
					}
				}
				if (joined == 1) != c.joined || joined > 1 {
					w.Errorf("E joined %d times", joined)
				}
				if err := lease.Unlock(w.Context()); err != nil {
					w.Error(err)
				}
				if err := w.Close(w.Context()); err != nil {
					w.Error(err)
				}
				w.atTime(millis("500"))
				if e.holder("r") != "" {
					w.Error("E holds the key")
				}
			}, fenced)
		})
	}
}

// A grant that is held has every late vote counted once.
func TestLateVoteForTheFirstTokenJoinsNothing(t *testing.T) {
	in(t, 5, func(w *world) {
		w.script(driver.OpAcquire, "behind7:1 behind7:2 behind7:3 ok:20 ok:21")
		w.script(driver.OpAcquire, "ok:1 ok:2 ok:3 ok:30 no:40")
		w.mustLock(time.Second)
		w.hush()
		w.atTime(millis("100"))
		w.transcript(`
			20ms node-answered D granted, late [acquire]
			21ms node-answered E granted, late [acquire]
			33ms node-answered D granted, late [acquire]
			33ms joined D granted [acquire]
			43ms node-answered E held by another, late [acquire]`)
	}, fenced)
}

// The counters of late answers are heard as well, unless they come after the node timeout.
func TestLateCounters(t *testing.T) {
	for late, want := range map[string]int64{"50": 8, "51": 2} {
		in(t, 3, func(w *world) {
			w.script(driver.OpAcquire, "ok:1 ok:2 behind7:"+late)
			w.mustLock(time.Second).Unlock(w.Context())
			w.atTime(millis("100"))
			if got := token(w, w.mustLock(time.Second)); got != want {
				w.Errorf("after %s ms: token %d, want %d", late, got, want)
			}
		}, fenced)
	}
}

func TestTokensUsedUp(t *testing.T) {
	in(t, 3, func(w *world) {
		for _, n := range w.nodes {
			n.counters = map[string]int64{"r": maxToken - 1}
		}
		if got := token(w, w.mustLock(time.Second)); got != maxToken {
			w.Errorf("token %d", got)
		}
		other := w.another(fenced)
		w.atTime(2 * time.Second)
		for range 3 {
			lease, err := other.Lock(w.Context(), "r", time.Second)
			if lease != nil || matches(err) != "NotAcquired TokensUsedUp" {
				w.Errorf("%v, %v (matches %s)", lease, err, matches(err))
			}
		}
		w.atTime(3 * time.Second)
		if w.holders("r") != "" {
			w.Errorf("held by %s", w.holders("r"))
		}
	}, fenced)
}

// Without fencing and the guard the commands are plain, and extends and releases always are.
func TestConditionsOnlyWhereAsked(t *testing.T) {
	for _, c := range []struct {
		opts  []Option
		want  driver.Conditions
		token bool
	}{
		{nil, driver.Conditions{}, false},
		{[]Option{fenced}, driver.Conditions{Token: 1, CounterTTL: defaultCounterTTL}, true},
		{[]Option{WithFencing(Fencing{CounterTTL: time.Hour})}, driver.Conditions{Token: 1, CounterTTL: time.Hour}, true},
		{[]Option{WithRestartGuard(Guard{MaxTTL: time.Minute})}, driver.Conditions{MaxTTL: time.Minute}, false},
	} {
		in(t, 1, func(w *world) {
			w.node(0).record = "run0 0 60000"
			lease := w.mustLock(time.Second)
			if n, ok := lease.Token(); ok != c.token || n != c.want.Token {
				w.Errorf("token %d, %v", n, ok)
			}
			if err := errors.Join(lease.Extend(w.Context(), time.Second), lease.Unlock(w.Context())); err != nil {
				w.Error(err)
			}
			for _, r := range w.node(0).got {
				switch {
				case r.Op != driver.OpAcquire || c.opts == nil:
					if r.Conditions != nil {
						w.Errorf("%v with %+v", r.Op, r.Conditions)
					}
				case r.Conditions == nil || *r.Conditions != c.want:
					w.Errorf("%+v, want %+v", r.Conditions, c.want)
				}
			}
		}, c.opts...)
	}
}

func TestConditionalArguments(t *testing.T) {
	in(t, 1, func(w *world) {
		guarded := WithRestartGuard(Guard{MaxTTL: time.Minute})
		for _, c := range []struct {
			resource string
			ttl      time.Duration
			opts     []Option
			want     string // empty: sent
		}{
			{"r", time.Minute, []Option{guarded}, ""},
			{"r", time.Minute + time.Millisecond, []Option{guarded}, "TTL 1m0.001s is larger than 1m0s, the largest by the restart guard"},
			{"r", time.Minute, []Option{WithFencing(Fencing{CounterTTL: time.Minute})}, ""},
			{"r", time.Minute + time.Millisecond, []Option{WithFencing(Fencing{CounterTTL: time.Minute})}, "TTL 1m0.001s is larger than 1m0s, for which the fencing counters are kept"},
			{driver.GuardKey, time.Second, []Option{guarded}, `resource "redlock:guard" has a name that fencing and the restart guard keep for themselves`},
			{driver.GuardKey, time.Second, []Option{fenced}, `resource "redlock:guard" has a name that fencing and the restart guard keep for themselves`},
			{driver.TokenKey("x"), time.Second, []Option{fenced}, `resource "redlock:token:x" has a name that fencing and the restart guard keep for themselves`},
			{driver.TokenKey("x"), time.Second, nil, ""},
			{"redlock:", time.Second, []Option{fenced}, ""},
		} {
			before := w.sent(driver.OpAcquire)
			_, err := w.another(c.opts...).TryLock(w.Context(), c.resource, c.ttl)
			if errors.Is(err, ErrInvalid) != (c.want != "") || c.want != "" && err.Error() != "redlock: invalid argument: "+c.want {
				w.Errorf("got %v, want %s", err, c.want)
			}
			if (w.sent(driver.OpAcquire) == before) != (c.want != "") {
				w.Errorf("%q, %v: sent %s before and %s after", c.resource, c.ttl, before, w.sent(driver.OpAcquire))
			}
		}
		w.node(0).restart()
		w.node(0).record = "run1 0 60000"
		lease, err := w.another(guarded).TryLock(w.Context(), "r", time.Second)
		if err != nil {
			w.Fatal(err)
		}
		if err := lease.Extend(w.Context(), time.Hour); !errors.Is(err, ErrInvalid) || w.sent(driver.OpExtend) != "0" {
			w.Errorf("extend beyond the largest TTL: %v", err)
		}
	})
	if !driver.IsLockKey("r") || driver.IsLockKey(driver.GuardKey) || driver.IsLockKey(driver.TokenKey("r")) {
		t.Error("IsLockKey")
	}
}

// instant is a node that answers before Do returns, or refuses.
type instant struct {
	*scripted
	away bool
}

func (n *instant) Do(batch []*driver.Command) {
	for _, cmd := range batch {
		reply := driver.Reply{Outcome: driver.Refused, Err: errScripted}
		if !n.away {
			reply = n.apply(cmd)
		}
		cmd.Done(cmd, reply)
	}
}

// cluster is instant nodes and clients with fencing.
type cluster struct {
	nodes   []*instant
	clients []*Client
}

func newCluster(n, q, clients int) *cluster {
	cl := &cluster{}
	var nodes []driver.Node
	for i := range n {
		node := &instant{scripted: &scripted{name: fmt.Sprint(i), keys: map[string]held{}}}
		cl.nodes, nodes = append(cl.nodes, node), append(nodes, node)
	}
	for range clients {
		c, err := New(nodes, WithQuorum(q), fenced, WithNodeTimeout(time.Minute)) // they answer at once, and a busy machine may not
		if err != nil {
			panic(err)
		}
		cl.clients = append(cl.clients, c)
	}
	return cl
}

// lock takes and gives back the lock with only the given nodes in reach. It returns the token and who has stored it.
func (cl *cluster) lock(client int, reach quorum.Set) (int64, quorum.Set, error) {
	for i, n := range cl.nodes {
		n.away = !reach.Has(i)
	}
	lease, err := cl.clients[client].TryLock(context.Background(), "r", time.Hour)
	if err != nil {
		return 0, 0, err
	}
	token, _ := lease.Token()
	var stored quorum.Set
	for i, n := range cl.nodes {
		if n.counters["r"] == token && reach.Has(i) {
			stored = stored.With(i)
		}
	}
	_ = lease.Unlock(context.Background())
	return token, stored, nil
}

func (cl *cluster) lose(nodes quorum.Set) {
	for i := range nodes.Each {
		clear(cl.nodes[i].counters)
	}
}

func nodesOf(members ...int) (s quorum.Set) {
	for _, i := range members {
		s = s.With(i)
	}
	return s
}

// drawNodes draws some of n nodes.
func drawNodes(t *rapid.T, n, size int, label string) quorum.Set {
	return nodesOf(rapid.Permutation(slices.Collect(quorum.All(n).Each)).Draw(t, label)[:size]...)
}

// The bound on nodes that may ever have lost their counter: fewer than w + q − N of those that stored the token.
func TestFencingBound(t *testing.T) {
	for _, c := range []struct {
		name         string
		n, q         int
		stored, lost quorum.Set
		next         quorum.Set // whom a client that knows nothing reaches afterwards
		grows        bool
	}{
		{"5 nodes, 3 votes, none lost", 5, 3, nodesOf(0, 1, 2), 0, nodesOf(2, 3, 4), true},
		{"5 nodes, 3 votes, one lost", 5, 3, nodesOf(0, 1, 2), nodesOf(2), nodesOf(2, 3, 4), false},
		{"5 nodes, 4 votes, one lost", 5, 3, nodesOf(0, 1, 2, 3), nodesOf(2), nodesOf(2, 3, 4), true},
		{"5 nodes, 4 votes, two lost", 5, 3, nodesOf(0, 1, 2, 3), nodesOf(2, 3), nodesOf(2, 3, 4), false},
		{"5 nodes, 5 votes, two lost", 5, 3, nodesOf(0, 1, 2, 3, 4), nodesOf(2, 3), nodesOf(2, 3, 4), true},
		{"5 nodes, 5 votes, three lost", 5, 3, nodesOf(0, 1, 2, 3, 4), nodesOf(2, 3, 4), nodesOf(2, 3, 4), false},
		{"quorum 4, two lost", 5, 4, nodesOf(0, 1, 2, 3), nodesOf(2, 3), nodesOf(1, 2, 3, 4), true},
		{"quorum 4, three lost", 5, 4, nodesOf(0, 1, 2, 3), nodesOf(1, 2, 3), nodesOf(1, 2, 3, 4), false},
		{"3 nodes, 2 votes, one lost", 3, 2, nodesOf(0, 1), nodesOf(1), nodesOf(1, 2), false},
		{"3 nodes, 3 votes, one lost", 3, 2, nodesOf(0, 1, 2), nodesOf(1), nodesOf(1, 2), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if want := c.lost.Len() < c.stored.Len()+c.q-c.n; want != c.grows {
				t.Fatalf("by the bound it grows: %v", want)
			}
			cl := newCluster(c.n, c.q, 2)
			cl.clients[0].tokens.learn([]string{"r"}, 9)
			first, stored, err := cl.lock(0, c.stored)
			if err != nil || first != 10 || stored != c.stored {
				t.Fatalf("%d, %b, %v", first, stored, err)
			}
			cl.lose(c.lost)
			second, _, err := cl.lock(1, c.next)
			if err != nil || (second > first) != c.grows {
				t.Errorf("%d after %d, %v", second, first, err)
			}
		})
	}
}

// Whoever locks with whichever nodes, the tokens grow as long as the bound holds for every earlier grant.
func TestTokensGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "n")
		q := rapid.IntRange(quorum.Majority(n), n).Draw(t, "quorum")
		cl := newCluster(n, q, 3)
		type grant struct {
			token        int64
			stored, lost quorum.Set
		}
		var grants []grant
		t.Repeat(map[string]func(*rapid.T){
			"lock": func(t *rapid.T) {
				reach := drawNodes(t, n, rapid.IntRange(0, n).Draw(t, "size"), "reach")
				token, stored, err := cl.lock(rapid.IntRange(0, 2).Draw(t, "client"), reach)
				if (err == nil) != (reach.Len() >= q) {
					t.Fatalf("with %d of %d nodes: %v", reach.Len(), n, err)
				}
				if err != nil {
					return
				}
				if stored.Without(reach) != 0 || stored.Len() < q { // others may be ahead, after an attempt that failed
					t.Fatalf("stored by %b of %b", stored, reach)
				}
				for _, g := range grants {
					if token <= g.token {
						t.Fatalf("%d after %+v", token, g)
					}
				}
				grants = append(grants, grant{token: token, stored: stored})
			},
			"lose": func(t *rapid.T) {
				node := nodesOf(rapid.IntRange(0, n-1).Draw(t, "node"))
				for _, g := range grants {
					if lost := (g.lost | node) & g.stored; lost.Len() >= g.stored.Len()+q-n {
						t.Skip("beyond the bound")
					}
				}
				cl.lose(node)
				for i := range grants {
					grants[i].lost |= node
				}
			},
		})
	})
}
