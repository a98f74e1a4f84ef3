package redlock

import (
	"slices"
	"sync/atomic"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// peer is what a client knows of a node from all its commands: whether it answers, and how fast.
type peer struct {
	// suspected: the last command has timed out, or could not be sent. No acquire waits for the node, and it is no gate.
	suspected atomic.Bool
	took      atomic.Int64 // moving average of the time to an answer, in nanoseconds; 0 before the first
}

// heard takes note of the outcome of a command. It reports whether a node that was suspected is back.
func (p *peer) heard(o driver.Outcome, took time.Duration) (isBack bool) {
	switch o {
	case driver.Unanswered:
		return false
	case driver.TimedOut, driver.Refused:
		p.suspected.Store(true)
		return false
	}
	isBack = p.suspected.Swap(false)
	if last := p.took.Load(); last != 0 && !isBack {
		took = (3*time.Duration(last) + took) / 4
	}
	p.took.Store(int64(max(took, 1)))
	return isBack
}

// isSlow says whether a node answers so much later than a quorum does that another is the better gate.
func (p *peer) isSlow(usual time.Duration) bool {
	return p.suspected.Load() || time.Duration(p.took.Load()) > 8*usual+10*time.Millisecond
}

// usual is how long a quorum takes to answer, of the nodes that do: the time of the slowest of these. It is 0 before a node has
// answered. Clients that are each near to another node agree on what is slow by it, as they would not by the fastest.
func (c *Client) usual() time.Duration {
	var known [MaxNodes]time.Duration
	n := 0
	for i := range c.peers {
		p := &c.peers[i]
		if took := time.Duration(p.took.Load()); took != 0 && !p.suspected.Load() {
			known[n] = took
			n++
		}
	}
	if n == 0 {
		return 0
	}
	slices.Sort(known[:n])
	return known[min(n, c.quorum)-1]
}

// patience is how long a node is waited for that keeps an attempt from going on otherwise.
func (c *Client) patience() time.Duration {
	return min(c.nodeTimeout, 8*c.usual()+20*time.Millisecond)
}

// suspected are the nodes that have not answered lately. enough says that the others are a quorum.
func (c *Client) suspected() (nodes quorum.Set, enough bool) {
	for i := range c.peers {
		if c.peers[i].suspected.Load() {
			nodes = nodes.With(i)
		}
	}
	return nodes, len(c.nodes)-nodes.Len() >= c.quorum
}
