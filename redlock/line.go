package redlock

import (
	"sync"
	"sync/atomic"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// lines are the places of a client in the lines of the nodes: at most one in the line of a key. The zero value has none.
type lines struct {
	mu     sync.Mutex
	waiter string   // by which nodes know the client; empty before it first waits
	stops  []func() // listening to each node; nil where it does not yet
	places map[string][]*place
	left   int // how often it has told nodes that it stands in their lines no longer
	closed bool
}

// place is where the callers of a queue stand in line. A nil one stands nowhere, and is never called.
type place struct {
	keys   []string
	waiter driver.Waiter
	called atomic.Bool
	nodes  quorum.Set // that may have it in their line. Only the caller whose turn it is uses it.
}

// stand gives callers that want the keys a place, of which it is yet to be said on which node.
func (c *Client) stand(keys []string) *place {
	p := &place{keys: keys, waiter: c.tasks.NewWaiter()}
	l := &c.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.places == nil {
		l.places = map[string][]*place{}
	}
	for _, key := range keys {
		l.places[key] = append(l.places[key], p)
	}
	return p
}

// stands says whether the place may be in a line.
func (p *place) stands() bool { return p != nil && p.nodes != 0 }

// take says whether the place was called since it was asked last.
func (p *place) take() bool { return p != nil && p.called.Swap(false) }

// stepsOutBy takes note of the nodes that have taken the place out of their lines, as they have voted for an attempt, which may
// be nil. One that was asked without a Line, as by an attempt that asks all, has not.
func (p *place) stepsOutBy(a *acquisition) {
	if p != nil && a != nil {
		nodes, _ := a.lineAnswers()
		p.nodes = p.nodes.Without(nodes)
	}
}

// close ends all listening.
func (l *lines) close() {
	l.mu.Lock()
	stops := l.stops
	l.stops, l.closed = make([]func(), len(l.stops)), true
	l.mu.Unlock()
	for _, stop := range stops {
		if stop != nil {
			stop()
		}
	}
}
