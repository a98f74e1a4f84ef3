package redlock

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Client takes locks on a fixed set of nodes. It is safe for concurrent use.
type Client struct {
	nodes       []Node
	quorum      int
	drift       Drift
	nodeTimeout time.Duration
	retryMin    time.Duration
	retryMax    time.Duration
	lossLead    time.Duration // 0: by the TTL
	observer    Observer
	clock       Clock
	tasks       Tasks
	rand        io.Reader

	names    []string // of the nodes
	lastTerm atomic.Pointer[term]

	closed  atomic.Bool
	open    atomic.Int64 // rounds with unanswered commands
	mu      sync.Mutex
	closers []Waiter // who waits in Close
}

// New returns a client over the nodes. All clients of a lock must be given the same nodes. It refuses none, more than
// [MaxNodes], and a node that is listed twice, whose vote would count twice.
func New(nodes []Node, opts ...Option) (*Client, error) {
	if len(nodes) == 0 || len(nodes) > MaxNodes {
		return nil, fmt.Errorf("%w: %d nodes, must be from 1 to %d", ErrInvalid, len(nodes), MaxNodes)
	}
	names := make(map[string]bool, len(nodes))
	for i, n := range nodes {
		if n == nil {
			return nil, fmt.Errorf("%w: node %d is nil", ErrInvalid, i)
		}
		if names[n.Name()] {
			return nil, fmt.Errorf("%w: node %q is listed twice, its vote would count twice", ErrInvalid, n.Name())
		}
		names[n.Name()] = true
	}
	c := &Client{
		nodes:       append([]Node(nil), nodes...),
		quorum:      Majority(len(nodes)),
		drift:       DefaultDrift(),
		nodeTimeout: DefaultNodeTimeout,
		retryMin:    50 * time.Millisecond,
		retryMax:    150 * time.Millisecond,
		clock:       SystemClock(),
		tasks:       SystemTasks(),
		rand:        rand.Reader,
	}
	for _, n := range nodes {
		c.names = append(c.names, n.Name())
	}
	for _, o := range opts {
		if err := o(c); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Close refuses new calls and waits until every command sent is answered or timed out, at most about twice the node
// timeout, or until ctx ends, whose error it then returns. Leases that are still held are not released: their keys
// expire. The nodes' own clients stay open.
func (c *Client) Close(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrInvalid)
	}
	w := c.tasks.NewWaiter()
	c.mu.Lock()
	c.closers = append(c.closers, w)
	c.mu.Unlock()
	c.closed.Store(true)
	for {
		open := c.open.Load()
		if open == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("redlock: close: %d rounds unanswered: %w", open, err)
		}
		w.Wait(ctx)
	}
}

// roundEnded counts a round out and wakes Close after the last.
func (c *Client) roundEnded() {
	if c.open.Add(-1) > 0 || !c.closed.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range c.closers {
		w.Wake()
	}
}
