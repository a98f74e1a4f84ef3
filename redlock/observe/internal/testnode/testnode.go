// Package testnode is a node in memory for the tests and examples of observers.
package testnode

import (
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// Node does what a Redis server does with plain commands. Make one with [New].
type Node struct {
	name string

	mu   sync.Mutex
	keys map[string]entry
	trip time.Duration
	down bool
	mute error // of refused acquires and of releases
}

type entry struct {
	value string
	until time.Time
}

// New makes a node that answers before Do returns.
func New(name string) *Node { return &Node{name: name, keys: map[string]entry{}} }

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
	n.keys[key] = entry{"another", time.Now().Add(ttl)}
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
	now := time.Now()
	for _, k := range cmd.Keys {
		e, there := n.keys[k]
		there = there && now.Before(e.until)
		if there != (cmd.Op != driver.OpAcquire) || there && e.value != cmd.Value {
			return n.reply(driver.Declined, cmd.Op == driver.OpAcquire)
		}
	}
	for _, k := range cmd.Keys {
		if cmd.Op == driver.OpRelease {
			delete(n.keys, k)
		} else {
			n.keys[k] = entry{cmd.Value, now.Add(cmd.TTL)}
		}
	}
	return n.reply(driver.Accepted, cmd.Op == driver.OpRelease)
}

// reply is one that says whether the wake-up works, if that concerns it. The node is locked.
func (n *Node) reply(o driver.Outcome, concerns bool) driver.Reply {
	if !concerns {
		return driver.Reply{Outcome: o}
	}
	return driver.Reply{Outcome: o, Err: n.mute}
}
