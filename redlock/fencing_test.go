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
	c, err := New(nodes, append([]Option{quick}, opts...)...)
	if err != nil {
		w.Fatal(err)
	}
	return c
}

// counters lists the counters of a key: "3 3 3 0 0".
func (w *world) counters(key string) string {
	var all []string
	for _, n := range w.nodes {
		all = append(all, fmt.Sprint(n.count(key)))
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
			w.node(0).set(driver.GuardKey, "0 0 60000")
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
		w.node(0).set(driver.GuardKey, "1 0 60000")
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
		node := &instant{scripted: newScripted(fmt.Sprint(i), 0)}
		cl.nodes, nodes = append(cl.nodes, node), append(nodes, node)
	}
	for range clients {
		// The nodes answer at once, but a busy machine may not.
		c, err := New(nodes, WithQuorum(q), fenced, WithNodeTimeout(time.Minute))
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
		if n.count("r") == token && reach.Has(i) {
			stored = stored.With(i)
		}
	}
	_ = lease.Unlock(context.Background())
	return token, stored, nil
}

func (cl *cluster) lose(nodes quorum.Set) {
	for i := range nodes.Each {
		cl.nodes[i].memory.Forget(driver.IsTokenKey)
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
