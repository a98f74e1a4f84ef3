package redlock

import (
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

// isSlow says whether a node answers so much later than the fastest that another is the better gate.
func (p *peer) isSlow(fastest time.Duration) bool {
	return p.suspected.Load() || time.Duration(p.took.Load()) > 8*fastest+10*time.Millisecond
}

// fastest is how long the fastest node takes to answer; 0 if none has answered yet.
func (c *Client) fastest() (fastest time.Duration) {
	for i := range c.peers {
		p := &c.peers[i]
		if took := time.Duration(p.took.Load()); took != 0 && !p.suspected.Load() && (fastest == 0 || took < fastest) {
			fastest = took
		}
	}
	return fastest
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
