package redlocktest

import (
	"context"
	"errors"
	"time"

	"redlocksim/redlock"
)

// Down has nodes refuse connections, also for what is under way, until [Nodes.Heal]. They keep what they hold.
func (n Nodes) Down(nodes ...int) { n.each("Down", nodes, func(f *faults) { f.down = true }) }

// Slow has nodes take d longer to carry out and answer what they are sent from now on, until [Nodes.Heal]. If that is longer
// than the node timeout, redlock.DefaultNodeTimeout unless set otherwise, they time out.
func (n Nodes) Slow(d time.Duration, nodes ...int) {
	n.each("Slow", nodes, func(f *faults) { f.slow = d })
}

// DropRequests loses what is sent to nodes, until [Nodes.Heal].
func (n Nodes) DropRequests(nodes ...int) {
	n.each("DropRequests", nodes, func(f *faults) { f.dropsRequests = true })
}

// DropReplies loses what nodes answer and publish, until [Nodes.Heal]. They carry commands out.
func (n Nodes) DropReplies(nodes ...int) {
	n.each("DropReplies", nodes, func(f *faults) { f.dropsReplies = true })
}

// Heal ends what Down, Slow, DropRequests and DropReplies began.
func (n Nodes) Heal(nodes ...int) {
	n.each("Heal", nodes, func(f *faults) { *f = faults{ended: f.ended} })
}

// Forget restarts nodes without their data: locks, fencing counters and the restart guard's record are gone.
func (n Nodes) Forget(nodes ...int) {
	n.at(0).test.Helper()
	for _, node := range n.chosen("Forget", nodes) {
		node.forget()
	}
}

// Steal has another client hold the lock on every node for ttl from now, whoever held it before. Its holder learns of that as
// in production: when it extends or unlocks. With fencing, the other has the next token.
func (n Nodes) Steal(resource string, ttl time.Duration) {
	for i := range n {
		n.at(i).steal(resource, ttl)
	}
}

// Lose deletes the lock of a lease, and has the lease extended, which finds that out: its context has ended with
// redlock.ErrLost when Lose returns. A quorum of nodes must be well.
func (n Nodes) Lose(lease *redlock.Lease) {
	t := n.at(0).test
	t.Helper()
	ttl, known := t.leases.ttl(lease.Value())
	if !known {
		t.Fatalf("redlocktest: Lose: the lease of %q was not taken on these nodes", lease.Resource())
	}
	for i := range n {
		n.at(i).drop(lease.Resources(), lease.Value())
	}
	if err := lease.Extend(context.Background(), ttl); !errors.Is(err, redlock.ErrLost) {
		t.Fatalf("redlocktest: Lose: the lease of %q could not be lost: %v", lease.Resource(), err)
	}
}

// each changes the faults of nodes.
func (n Nodes) each(call string, nodes []int, change func(*faults)) {
	n.at(0).test.Helper()
	for _, node := range n.chosen(call, nodes) {
		node.set(change)
	}
}

// chosen are the nodes with these indexes, or all.
func (n Nodes) chosen(call string, indexes []int) (nodes []*node) {
	t := n.at(0).test
	t.Helper()
	for _, i := range indexes {
		if i < 0 || i >= len(n) {
			t.Fatalf("redlocktest: %s: there is no node %d, the last one is %d", call, i, len(n)-1)
		}
		nodes = append(nodes, n.at(i))
	}
	if len(indexes) == 0 {
		for i := range n {
			nodes = append(nodes, n.at(i))
		}
	}
	return nodes
}
