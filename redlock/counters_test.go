package redlock

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

func TestCredible(t *testing.T) {
	const no = noCounter
	for _, c := range []struct {
		counters  []int64
		witnesses int
		slack     int64
		want      int64
	}{
		{[]int64{7}, 1, 10, 7},
		{[]int64{no}, 1, 10, 0},
		{[]int64{7, no, no}, 2, 10, 0},
		{[]int64{7, 9, no}, 2, 10, 9},
		{[]int64{7, 9, 20}, 2, 10, 9}, // 20 is borne out by nobody
		{[]int64{7, 10, 20}, 2, 10, 20},
		{[]int64{7, 20, 20}, 2, 10, 20}, // one that has missed much
		{[]int64{20, 7, 7, 7, no}, 3, 10, 7},
		{[]int64{maxToken, maxToken, 7, 6, 5}, 3, 10, 7},
		{[]int64{maxToken, 5, 6, no, no}, 3, 10, 6},
		{[]int64{0, 0, 0, maxToken}, 2, 10, 0},
	} {
		if got := credible(c.counters, c.witnesses, c.slack); got != c.want {
			t.Errorf("of %v with %d witnesses: %d, want %d", c.counters, c.witnesses, got, c.want)
		}
	}
}

// counter sets a node's counter of a key.
func (n *scripted) counter(key string, to int64) {
	n.set(driver.TokenKey(key), strconv.FormatInt(to, 10))
}

// count is a node's counter of a key.
func (n *scripted) count(key string) int64 {
	count, _ := strconv.ParseInt(n.get(driver.TokenKey(key)), 10, 64)
	return count
}

// A counter that one node has far beyond the others costs it its vote. That it answers first makes no difference, it
// reaches no other node and no other resource, and no client stops.
func TestCounterFarBeyond(t *testing.T) {
	for _, wrong := range []int64{maxToken, maxToken - 1, 1 << 40, 1 << 20} {
		in(t, 5, func(w *world) {
			for _, n := range w.nodes {
				n.counter("r", 7)
			}
			w.node(0).counter("r", wrong)
			clients := []*Client{w.another(fenced), w.another(fenced), w.another(fenced)}
			for i := range int64(9) {
				lease, err := clients[i%3].Lock(w.Context(), "r", time.Second)
				if err != nil {
					w.Fatal(err)
				}
				if got := token(w, lease); got <= 7 || got > 30 {
					w.Errorf("token %d", got)
				}
				if err := lease.Unlock(w.Context()); err != nil {
					w.Error(err)
				}
				time.Sleep(time.Second)
			}
			if got, want := w.counters("r")[:len(fmt.Sprint(wrong))], fmt.Sprint(wrong); got != want {
				w.Errorf("counters %s", w.counters("r"))
			}
			elsewhere, err := clients[0].TryLock(w.Context(), "s", time.Second)
			if err != nil || token(w, elsewhere) != 1 {
				w.Errorf("%v, token %d of another resource", err, token(w, elsewhere))
			}
			both, err := clients[0].TryLockAll(w.Context(), []string{"r", "u"}, time.Second)
			if err != nil || token(w, both) > 30 {
				w.Errorf("%v, token %d of it and another", err, token(w, both))
			}
		}, fenced)
	}
}

// Waiting for what the others say ends with their answers, and where they are silent with the node timeout.
func TestCounterAlone(t *testing.T) {
	in(t, 5, func(w *world) {
		for _, n := range w.nodes {
			n.counter("r", 7)
		}
		w.node(0).counter("r", maxToken-1)
		w.silence(w.node(3), w.node(4))
		lease, err := w.TryLock(w.Context(), "r", time.Second)
		if lease != nil || matches(err) != "NotAcquired NoQuorum" {
			w.Errorf("lease %v, error %v", lease, err)
		}
		if w.at() != DefaultNodeTimeout {
			w.Errorf("it took %v", w.at())
		}
		w.atTime(time.Second)
		if w.counters("r") != fmt.Sprint(maxToken-1, " 7 7 7 7") {
			w.Errorf("counters %s", w.counters("r"))
		}
	}, fenced)
	// A node that has missed much, as after a month on its own, is followed up, not ahead.
	in(t, 3, func(w *world) {
		w.node(0).counter("r", 5)
		w.node(1).counter("r", 1<<30)
		w.silence(w.node(2))
		if got := token(w, w.mustLock(time.Second)); got != 1<<30+1 {
			w.Errorf("token %d", got)
		}
	}, fenced)
}

// With as many wrong counters as there may be, a lock can be had whenever a quorum of the other nodes can be reached, the
// tokens grow, and no counter but theirs is moved by them.
func TestWrongCountersAreOutvoted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 7).Draw(t, "n")
		q := rapid.IntRange(quorum.Majority(n), n).Draw(t, "quorum")
		cl := newCluster(n, q, 3)
		bad := drawNodes(t, n, rapid.IntRange(0, n-q).Draw(t, "wrong ones"), "bad")
		for i := range bad.Each {
			cl.nodes[i].counter("r", rapid.SampledFrom([]int64{maxToken, maxToken - 1, 1 << 50, 1 << 34}).Draw(t, "counter"))
		}
		last, attempts := int64(0), int64(0)
		t.Repeat(map[string]func(*rapid.T){
			"lock": func(t *rapid.T) {
				attempts++
				reach := drawNodes(t, n, rapid.IntRange(0, n).Draw(t, "size"), "reach")
				token, _, err := cl.lock(rapid.IntRange(0, 2).Draw(t, "client"), reach)
				if good := reach.Without(bad); (err == nil) != (good.Len() >= q) {
					t.Fatalf("with %b of %d nodes, of which %b are wrong: %v", reach, n, bad, err)
				}
				if err != nil {
					if !errors.Is(err, ErrNoQuorum) && reach.Len() >= q {
						t.Fatal(err)
					}
				} else if token <= last {
					t.Fatalf("%d after %d", token, last)
				} else {
					last = token
				}
				for i := range quorum.All(n).Without(bad).Each {
					if c := cl.nodes[i].count("r"); c > 2*attempts {
						t.Fatalf("the counter of %d is %d after %d attempts", i, c, attempts)
					}
				}
			},
		})
	})
}

// What a client remembers of tokens is bounded. A resource that it has forgotten costs a second round.
func TestTokensAreForgotten(t *testing.T) {
	cl := newCluster(3, 2, 1)
	lock := func(resource string) {
		lease, err := cl.clients[0].TryLock(context.Background(), resource, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		_ = lease.Unlock(context.Background())
	}
	lock("first")
	for i := range remembered {
		lock(fmt.Sprint(i))
	}
	lock("0") // which is remembered, and more recent then
	for i := range remembered {
		lock(fmt.Sprint("more-", i))
	}
	known := &cl.clients[0].tokens
	if len(known.known.newer)+len(known.known.older) > 2*remembered || known.of("first") != 0 || known.of("0") != 2 {
		t.Errorf("%d and %d resources are remembered, the first with %d, the second with %d", len(known.known.newer), len(known.known.older),
			known.of("first"), known.of("0"))
	}
	lock("first")
	if got := cl.nodes[0].count("first"); got != 2 {
		t.Errorf("the counter is %d", got)
	}
}

// A client that knows the last token of a resource proposes the next one, and is told of no higher one.
func TestTheNextTokenIsProposed(t *testing.T) {
	raised := 0
	in(t, 3, func(w *world) {
		for range 3 {
			if err := w.mustLock(time.Second).Unlock(w.Context()); err != nil {
				w.Error(err)
			}
		}
		if raised > 0 {
			w.Errorf("a token was raised %d times", raised)
		}
	}, WithFencing(Fencing{}), WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.TokenRaised {
			raised++
		}
	})))
}

// Counters that are used up stop their resource, until they are mended, and no other.
func TestTokensUsedUpAreForgotten(t *testing.T) {
	cl := newCluster(3, 2, 1)
	set := func(to int64) {
		for _, n := range cl.nodes {
			n.counter("r", to)
		}
	}
	set(maxToken)
	for range 3 {
		if _, _, err := cl.lock(0, quorum.All(3)); !errors.Is(err, ErrTokensUsedUp) {
			t.Fatal(err)
		}
	}
	set(9)
	if _, _, err := cl.lock(0, quorum.All(3)); err != nil {
		t.Error(err)
	}
}
