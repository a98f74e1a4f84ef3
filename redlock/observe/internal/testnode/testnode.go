// Package testnode is a node in memory for the tests and examples of observers.
package testnode

import (
	"sync"
	"time"

	"redlocksim/internal/votes"
	"redlocksim/redlock/driver"
)

// Node does what a Redis server does with plain commands. Make one with [New].
type Node struct {
	name string

	mu     sync.Mutex
	memory votes.Memory
	trip   time.Duration
	down   bool
	mute   error // of refused acquires and of releases
}

// New makes a node that answers before Do returns.
func New(name string) *Node { return &Node{name: name} }

// Three are nodes a, b and c, whose answers take 1, 2 and 3 ms.
func Three() (a, b, c *Node) {
	a, b, c = New("a"), New("b"), New("c")
	a.trip, b.trip, c.trip = time.Millisecond, 2*time.Millisecond, 3*time.Millisecond
	return a, b, c
}

// Down has the node refuse all commands, or no longer.
func (n *Node) Down(down bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.down = down
}

// NoWakeUp has redlock.WithWakeUp not work on the node.
func (n *Node) NoWakeUp() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.mute = driver.ErrWakeUp
}

// Hold has another client hold the key for so long.
func (n *Node) Hold(key string, ttl time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory.Set(key, "another", time.Now().Add(ttl-1).UnixMilli()) // Redis keeps it until its clock reads more
}

// Name gives the node's name.
func (n *Node) Name() string { return n.name }

// Do applies the commands when they are sent and answers them after the node's round trip.
func (n *Node) Do(batch []*driver.Command) {
	for _, cmd := range batch {
		reply := n.apply(cmd)
		if n.trip == 0 {
			cmd.Done(cmd, reply)
		} else {
			time.AfterFunc(n.trip, func() { cmd.Done(cmd, reply) })
		}
	}
}

func (n *Node) apply(cmd *driver.Command) driver.Reply {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.down {
		return driver.Reply{Outcome: driver.Refused}
	}
	reply := votes.Do(&n.memory, cmd, time.Now().UnixMilli())
	if cmd.Op == driver.OpAcquire && reply.Outcome == driver.Declined || cmd.Op == driver.OpRelease && reply.Outcome == driver.Accepted {
		reply.Err = n.mute
	}
	return reply
}
