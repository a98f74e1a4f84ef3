package redlock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// contended has the client remember that another had the lock "r" just now. It returns the order in which it asks for a gate.
func (w *world) contended() (gates []int) {
	w.contention.saw(setOf([]string{"r"}), w.clock.Now())
	first := w.gate([]string{"r"}, 0)
	for k := range w.nodes {
		gates = append(gates, (first+k)%len(w.nodes))
	}
	return gates
}

// acquires lists when each node was sent its first acquire in ms, in an order of nodes; those that were not are left out.
func (w *world) acquires(order []int) string {
	var at []string
	for k, i := range order {
		if got := w.node(i).received(driver.OpAcquire); len(got) > 0 {
			at = append(at, fmt.Sprintf("%d:%d", k, got[0].sent.Sub(w.began).Milliseconds()))
		}
	}
	return strings.Join(at, " ")
}

// Where another wants the lock, one node is asked first, and the others if it says yes. Its no ends the attempt, and nothing
// has to be released. One that does not answer, or has no vote to give, is followed by the next. The plans are in the order of
// gates.
func TestGate(t *testing.T) {
	for _, c := range []struct {
		name     string
		acquire  string
		options  []Option
		acquires string // when each was sent to the nodes
		at       string // of the grant; empty: the call gives up in the delay after the attempt
		reason   error  // then
		releases int    // then: to how many nodes
	}{
		{name: "yes", acquire: "ok:3 ok:3 ok:3 ok:3 ok:3", acquires: "0:0 1:3 2:3 3:3 4:3", at: "6"},
		{name: "its vote counts", acquire: "ok:3 ok:2 no:2 no:2 ok:4", acquires: "0:0 1:3 2:3 3:3 4:3", at: "7"},
		{name: "no", acquire: "no:3 ok:3 ok:3 ok:3 ok:3", acquires: "0:0", reason: ErrTaken},
		{name: "yes, and three say no", acquire: "ok:3 no:2 no:2 no:2 ok:2", acquires: "0:0 1:3 2:3 3:3 4:3", reason: ErrTaken, releases: 2},
		{name: "its counter is higher", acquire: "behind7:3 ok:1 ok:1 ok:1 ok:1", options: []Option{WithFencing(Fencing{})}, acquires: "0:0 1:3 2:3 3:3 4:3", at: "4"},
		{name: "refused, and the next says yes", acquire: "refused:3 ok:2 ok:2 ok:2 ok:2", acquires: "0:0 1:3 2:5 3:5 4:5", at: "7"},
		{name: "failed, and the next says no", acquire: "failed:3 no:2 ok:2 ok:2 ok:2", acquires: "0:0 1:3", reason: ErrTaken, releases: 1},
		// No node has answered yet, so the first one has 20 ms.
		{name: "silent, and the next says yes", acquire: "lost ok:2 ok:2 ok:2 ok:2", acquires: "0:0 1:20 2:22 3:22 4:22", at: "24"},
		// Two nodes may be down. After a third one that does not answer there is no quorum to be had of the others.
		{name: "three are silent", acquire: "lost lost lost ok:2 ok:2", acquires: "0:0 1:20 2:40 3:60 4:60", reason: ErrNoQuorum, releases: 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				order := w.contended()
				for k, plan := range strings.Fields(c.acquire) {
					w.node(order[k]).next(driver.OpAcquire, plan)
				}
				ctx, cancel := context.WithTimeout(w.Context(), time.Second)
				defer cancel()
				lease, err := w.Lock(ctx, "r", 10*time.Second)
				if got := w.acquires(order); got != c.acquires {
					w.Errorf("acquires sent to %s, want %s", got, c.acquires)
				}
				if c.at == "" {
					w.atTime(2 * time.Second)
					if !errors.Is(err, c.reason) || lease != nil {
						w.Errorf("%v, %v", lease, err)
					}
					n := 0
					for _, node := range w.nodes {
						n += min(len(node.received(driver.OpRelease)), 1)
					}
					if n != c.releases || w.holders("r") != "" {
						w.Errorf("%d nodes were sent releases, and %q hold the key", n, w.holders("r"))
					}
					return
				}
				if err != nil || w.at() != millis(c.at) {
					w.Fatalf("at %v: %v", w.at(), err)
				}
				// The validity counts from before the gate was asked.
				if want := w.began.Add(lease.ttl - w.drift.of(lease.ttl)); !lease.Until().Equal(want) {
					w.Errorf("until %v, want %v", lease.Until().Sub(w.began), want.Sub(w.began))
				}
			}, append(c.options, WithRetryDelay(time.Hour, time.Hour))...)
		})
	}
}

// A key that stays on the gate keeps nobody out: after sixteen attempts that were refused, one asks all nodes at once.
func TestKeyIsLeftOnTheGate(t *testing.T) {
	in(t, 3, func(w *world) {
		order := w.contended()
		w.node(order[0]).hold("r", time.Hour)
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := w.Lock(ctx, "r", time.Second); err != nil {
			w.Fatal(err)
		}
		for k, i := range order {
			want := map[bool]int{true: allEvery + 1, false: 1}[k == 0]
			if n := len(w.node(i).received(driver.OpAcquire)); n != want {
				w.Errorf("%d acquires sent to node %d in the order of gates, want %d", n, k, want)
			}
		}
	})
}

// Neither does it keep out calls that are too short for sixteen attempts.
func TestShortCallsWithAKeyLeftOnTheGate(t *testing.T) {
	in(t, 3, func(w *world) {
		w.node(w.contended()[0]).hold("r", time.Hour)
		for range allEvery {
			ctx, cancel := context.WithTimeout(w.Context(), millis("20")) // for two attempts
			_, err := w.Lock(ctx, "r", time.Second)
			cancel()
			if err == nil {
				return
			}
		}
		w.Errorf("%d calls got no lock, and two nodes of three are free", allEvery)
	})
}

// A gate that has answered is not suspected, though it has no vote to give.
func TestGateThatFails(t *testing.T) {
	var suspected []quorum.Set // when each gate is asked
	var w *world
	in(t, 3, func(in *world) {
		w = in
		w.node(w.contended()[0]).next(driver.OpAcquire, "failed:1")
		if _, err := w.Lock(w.Context(), "r", time.Second); err != nil || !slices.Equal(suspected, []quorum.Set{0, 0}) {
			w.Errorf("%v, gates were asked while %b were suspected", err, suspected)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.GateAsked {
			nodes, _ := w.suspected()
			suspected = append(suspected, nodes)
		}
	})))
}

// A call that is asking for a gate asks for no other one when the client is closed: Close waits for no more node timeouts than
// without gates. Nodes that have been slow have the whole timeout to answer as a gate.
func TestCloseWhileGatesAreSilent(t *testing.T) {
	in(t, 5, func(w *world) {
		for _, n := range w.nodes {
			n.trip = 4 * time.Millisecond
		}
		w.ask(1, 100*time.Millisecond)
		w.silence(w.nodes...)
		w.contended()
		go func() { _, _ = w.Lock(w.Context(), "r", time.Hour) }()
		w.atTime(w.at() + millis("1"))
		closed := w.at()
		_ = w.Close(w.Context())
		if took := w.at() - closed; took > 3*w.nodeTimeout {
			w.Errorf("Close took %v", took)
		}
	})
}

// A call that an observer ends with a panic while it asks for a gate is over for Close.
func TestObserverPanicsAtTheGate(t *testing.T) {
	in(t, 3, func(w *world) {
		w.contended()
		func() {
			defer func() { _ = recover() }()
			_, _ = w.Lock(w.Context(), "r", time.Second)
		}()
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		if err := w.Close(ctx); err != nil {
			w.Error(err)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.GateAsked {
			panic("observer")
		}
	})))
}

// Clients that were given the nodes in different orders ask for the same gates.
func TestGatesOfNodesInAnotherOrder(t *testing.T) {
	nodes := fakes(5)
	one, _ := New(nodes)
	slices.Reverse(nodes)
	other, _ := New(nodes)
	for i := range 10 {
		keys := []string{fmt.Sprint(i)}
		if a, b := one.names[one.gate(keys, 0)], other.names[other.gate(keys, 0)]; a != b {
			t.Errorf("the gates of %s are %s and %s", keys[0], a, b)
		}
	}
}

// Without a sign of others, or a second after it, all nodes are asked at once, and TryLock always asks them all.
func TestWithoutGate(t *testing.T) {
	for _, c := range []struct {
		name  string
		after time.Duration
		lock  func(*world) (*Lease, error)
		gated bool
	}{
		{"just seen", contendedFor - 1, func(w *world) (*Lease, error) { return w.Lock(w.Context(), "r", time.Second) }, true},
		{"a second later", contendedFor, func(w *world) (*Lease, error) { return w.Lock(w.Context(), "r", time.Second) }, false},
		{"another lock", 0, func(w *world) (*Lease, error) { return w.Lock(w.Context(), "s", time.Second) }, false},
		{"TryLock", 0, func(w *world) (*Lease, error) { return w.TryLock(w.Context(), "r", time.Second) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked := 0
			in(t, 3, func(w *world) {
				w.contended()
				w.atTime(c.after)
				if _, err := c.lock(w); err != nil {
					w.Fatal(err)
				}
				if isGated := asked > 0; isGated != c.gated {
					w.Errorf("%d gates were asked", asked)
				}
			}, WithObserver(atStep(func(e observe.Event) {
				if e.Step == observe.GateAsked {
					asked++
				}
			})))
		})
	}
}

// While too few nodes answer no gate is asked: one that says no would hide that no quorum can be had.
func TestNoGateWithoutQuorum(t *testing.T) {
	in(t, 3, func(w *world) {
		order := w.contended()
		w.node(order[0]).hold("r", time.Minute)
		w.silence(w.node(order[1]), w.node(order[2]))
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		if _, err := w.TryLock(ctx, "s", time.Second); matches(err) != "NotAcquired NoQuorum" {
			w.Error(err)
		}
		if _, err := w.Lock(ctx, "r", time.Second); matches(err) != "NotAcquired NoQuorum DeadlineExceeded" {
			w.Error(err)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.GateAsked {
			t.Errorf("a gate was asked by attempt %d", e.Attempt)
		}
	})))
}

// Clients that are each near to another node agree on the gate: what the others are slower is no reason to pass them over.
func TestGatesOfClientsInZones(t *testing.T) {
	in(t, 5, func(w *world) {
		for _, n := range w.nodes {
			n.trip = 30 * time.Millisecond
		}
		first := w.gate([]string{"r"}, 0)
		w.node((first + 1) % 5).trip = time.Millisecond
		w.ask(1, time.Second)
		if got := w.gate([]string{"r"}, 0); got != first {
			w.Errorf("the gate is node %d, and that of others is %d", got, first)
		}
	})
}

// What one call was told of others, the next call of its client knows: its first attempt asks the gate first.
func TestGateOfTheNextCall(t *testing.T) {
	var gated []int // attempts
	in(t, 3, func(w *world) {
		for _, n := range w.nodes {
			n.hold("r", time.Minute)
		}
		for range 2 { // each gives up in the delay after its first attempt
			ctx, cancel := context.WithTimeout(w.Context(), millis("8"))
			if _, err := w.Lock(ctx, "r", time.Second); matches(err) != "NotAcquired Taken DeadlineExceeded" {
				w.Error(err)
			}
			cancel()
			if w.sent(driver.OpAcquire) == "111" && len(gated) > 0 {
				w.Error("the first call has asked a gate")
			}
		}
		if !slices.Equal(gated, []int{1}) {
			w.Errorf("attempts %v have asked a gate first", gated)
		}
	}, WithObserver(atStep(func(e observe.Event) {
		if e.Step == observe.GateAsked {
			gated = append(gated, e.Attempt)
		}
	})))
}

// The gate is another one for other resources, the same for all clients, and no node that is slow or silent if there is a
// better one.
func TestGates(t *testing.T) {
	in(t, 5, func(w *world) {
		gates, other := map[int]bool{}, w.another()
		for i := range 100 {
			keys := []string{fmt.Sprint("resource ", i)}
			gates[w.gate(keys, 0)] = true
			if a, b := w.gate(keys, 0), other.gate(keys, 0); a != b {
				w.Errorf("the gates of %s are %d and %d", keys[0], a, b)
			}
		}
		if len(gates) != 5 {
			w.Errorf("gates are %v", gates)
		}
		order := w.contended()
		for _, n := range w.nodes {
			n.trip = time.Millisecond
		}
		w.silence(w.node(order[0]))
		w.node(order[1]).trip = 19 * time.Millisecond // more than eight times the others' and 10 ms
		w.ask(1, time.Second)
		if got := w.gate([]string{"r"}, 0); got != order[2] {
			w.Errorf("the gate is node %d in the order of gates, where the first is silent and the second slow", slices.Index(order, got))
		}
	})
}
