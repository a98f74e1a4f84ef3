// Package redlocktest has nodes in memory for the tests of services that use package redlock. They need no server, fail on
// request, and notice locks that were never unlocked.
//
//	nodes := redlocktest.New(t, 5)
//	sent := 0
//	s := sender{locks: nodes.Client(), send: func(int) { sent++ }}
//	time.AfterFunc(30500*time.Millisecond, func() { nodes.Steal("invoices", time.Minute) })
//
//	err := s.sendAll(t.Context())
//	if !errors.Is(err, redlock.ErrLost) {
//		t.Errorf("the error is %v", err)
//	}
//
// In a bubble of testing/synctest a minute passes at once, and a test takes the same course every time: the nodes use package
// time only, and the first answers after a microsecond, the second after two, and so on. Only retry delays are random; see
// redlock.WithRetryDelay. Outside of a bubble the nodes work as well, in real time.
//
// A node does what [redlocksim/redlock/driver] says, as a Redis server does. It carries commands out on other goroutines, when
// they arrive, even if nobody waits for them any more: the client itself gives up on a node that has not answered within its
// node timeout.
package redlocktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// Nodes are independent nodes, for redlock.New or [Nodes.Client]. Faults name nodes by their indexes, from 0; without an index
// they are faults of all.
type Nodes []driver.Node

// New makes n nodes, which are healthy and empty. Within a bubble it must be given the bubble's t.
//
// When the test ends, after the test's own cleanups, each lock that was granted and never unlocked fails it, even if its lease
// had ended. The message says where it was taken, where that is known.
func New(t testing.TB, n int) Nodes {
	t.Helper()
	if n < 1 || n > redlock.MaxNodes {
		t.Fatalf("redlocktest: %d nodes, must be from 1 to %d", n, redlock.MaxNodes)
	}
	shared := &test{TB: t}
	nodes := make(Nodes, n)
	for i := range nodes {
		nodes[i] = newNode(i, shared)
	}
	t.Cleanup(nodes.end)
	return nodes
}

// test is what the nodes of a test share.
type test struct {
	testing.TB
	leases leases

	mu      sync.Mutex
	clients []*redlock.Client
}

// Client makes a client of the nodes. It is closed when the test ends.
func (n Nodes) Client(options ...redlock.Option) *redlock.Client {
	t := n.at(0).test
	t.Helper()
	c, err := redlock.New(n, options...)
	if err != nil {
		t.Fatalf("redlocktest: %v", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients = append(t.clients, c)
	return c
}

// Node is the only one of one node, for New of package redlocksim/redlock/single. Its replicas confirm whatever is asked for.
func (n Nodes) Node() driver.Node {
	if len(n) != 1 {
		n.at(0).test.Fatalf("redlocktest: a lock on one Redis is on one node, and there are %d", len(n))
	}
	return n[0]
}

// closing is how long a client may take to close. It waits for no work, so that only an observer that hangs takes so long.
const closing = 10 * time.Second

// end closes the clients, reports the locks that are left, and stops the nodes, so that nothing is left running.
func (n Nodes) end() {
	t := n.at(0).test
	t.mu.Lock()
	clients := t.clients
	t.mu.Unlock()
	for _, c := range clients {
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		if err := c.Close(ctx); err != nil {
			t.Errorf("redlocktest: %v", err)
		}
		cancel()
	}
	for _, left := range t.leases.left() {
		t.Errorf("redlocktest: %s", left)
	}
	for i := range n {
		n.at(i).set(func(f *faults) { f.ended = true })
	}
}

func (n Nodes) at(i int) *node { return n[i].(*node) }
