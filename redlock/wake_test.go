package redlock

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
)

// listeners make nodes that can be listened to: each message takes half of the node's round trip.
func (n *scripted) Listen(channel string, heard func()) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := &listener{channel, heard}
	n.listeners = append(n.listeners, l)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		for i, o := range n.listeners {
			if o == l {
				n.listeners = append(n.listeners[:i:i], n.listeners[i+1:]...)
				return
			}
		}
		panic("stopped twice")
	}
}

type listener struct {
	channel string
	heard   func()
}

// publish is called with the node locked.
func (n *scripted) publish(channel string) {
	if n.tell != nil {
		n.tell("  %s publishes on %s", n.name, channel)
	}
	for _, l := range n.listeners {
		if l.channel == channel && !n.mumbles {
			time.AfterFunc(n.trip/2, l.heard)
		}
	}
}

// A client whose attempts are ten seconds apart waits for a lock that is released after 1 s, and listens only while it waits.
func TestWakeUp(t *testing.T) {
	const slow = 10 * time.Second
	for _, c := range []struct {
		name    string
		options []Option      // of the waiting client
		at      time.Duration // when it has the lock
		listens string        // to how many channels on each node while it waits
	}{
		// A release reaches C after 1.5 ms, which is the gate: its message takes 1.5 ms more, the spread 0, and the acquire 3
		// ms.
		{"told", []Option{WithWakeUp(1)}, millis("1006"), "11111"},
		{"does not listen", nil, slow + millis("8"), "00000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, 5, func(w *world) {
				var nodes []driver.Node
				for _, n := range w.nodes {
					nodes = append(nodes, n)
				}
				other, err := New(nodes, append(c.options, WithRetryDelay(slow, slow))...)
				if err != nil {
					w.Fatal(err)
				}
				lease := w.mustLock(time.Minute)
				begin := w.at()
				time.AfterFunc(time.Second, func() {
					var listens strings.Builder
					for _, n := range w.nodes {
						n.mu.Lock()
						fmt.Fprint(&listens, len(n.listeners))
						n.mu.Unlock()
					}
					if listens.String() != c.listens {
						w.Errorf("listens %s, want %s", listens.String(), c.listens)
					}
					if err := lease.Unlock(context.Background()); err != nil {
						w.Error(err)
					}
				})
				got, err := other.Lock(w.Context(), "r", time.Minute)
				if err != nil || w.at()-begin != c.at {
					w.Errorf("after %v: %v; want %v", w.at()-begin, err, c.at)
				}
				for _, n := range w.nodes {
					if len(n.listeners) != 0 {
						w.Errorf("%s is still listened to", n.name)
					}
				}
				if err := got.Unlock(w.Context()); err != nil {
					w.Error(err)
				}
			}, WithWakeUp(1))
		})
	}
}

func TestWakeUpArguments(t *testing.T) {
	for _, spread := range []time.Duration{0, -1} {
		if _, err := New(fakes(3), WithWakeUp(spread)); matches(err) != "Invalid" {
			t.Errorf("%v: %v", spread, err)
		}
	}
	type deaf struct{ driver.Node }
	nodes := fakes(3)
	nodes[1] = deaf{nodes[1]}
	if _, err := New(nodes, WithWakeUp(1)); matches(err) != "Invalid" || !strings.Contains(text(err), `"node1" is no Listener`) {
		t.Error(err)
	}
}
