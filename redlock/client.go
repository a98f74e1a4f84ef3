package redlock

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// MaxNodes is the largest number of nodes of a Client.
const MaxNodes = 64

const _ uint = quorum.Max - MaxNodes // no fewer fit into a quorum.Set

// Client takes locks on a fixed set of nodes. It is safe for concurrent use.
type Client struct {
	settings

	names    []string   // of the nodes
	batchers []*batcher // likewise
	lastTerm atomic.Pointer[term]
	peers    []peer // likewise
	owed     []owed // likewise
	byName   []int  // the nodes in the order of their names
	tokens   tokens
	watching watching
	queues   queues

	contention contention
	lines      lines

	closed  atomic.Bool
	open    atomic.Int64 // calls under way, and rounds with unanswered commands
	mu      sync.Mutex
	closing list.List // of the Waiters in Close, in queues, and in the delay before a retry
}

// New returns a client over the nodes. All clients of a lock must have the same nodes. It rejects an empty list, more than
// [MaxNodes], and a node that is listed twice, because its vote would count twice.
func New(nodes []driver.Node, opts ...Option) (*Client, error) {
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
	c := &Client{settings: defaultsFor(nodes)}
	for _, n := range nodes {
		c.names = append(c.names, n.Name())
	}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w: a nil option", ErrInvalid)
		}
		if err := o(&c.settings); err != nil {
			return nil, err
		}
	}
	if c.isFenced() && c.source != nil {
		return nil, fmt.Errorf("%w: WithFencing and WithTokens: a grant has one token", ErrInvalid)
	}
	for _, n := range c.nodes {
		c.batchers = append(c.batchers, newBatcher(n, &c.settings))
	}
	c.peers, c.owed = make([]peer, len(nodes)), make([]owed, len(nodes))
	for i := range c.owed {
		c.owed[i].client, c.owed[i].node = c, i
	}
	for i := range nodes {
		c.byName = append(c.byName, i)
	}
	slices.SortFunc(c.byName, func(a, b int) int { return strings.Compare(c.names[a], c.names[b]) })
	c.queues.tasks = c.tasks
	return c, nil
}

// Runtime is what the client runs on: for packages that make locks of other kinds from those of this one.
func (c *Client) Runtime() driver.Runtime {
	return driver.Runtime{Clock: c.clock, Tasks: c.tasks, Rand: c.rand}
}

// Close stops the client. New calls of Lock, TryLock and Extend fail with ErrClosed, calls that wait end, and Close returns
// when every call has returned and every command was answered or timed out: within about three node timeouts, four with
// fencing, if not many releases wait for their turn ([WithBatching]). If ctx ends first, Close returns its error.
//
// Close does not release leases. Their holders still can, and otherwise their keys expire. The nodes' own clients stay open.
func (c *Client) Close(ctx context.Context) error {
	if ctx == nil {
		return fmt.Errorf("%w: nil context", ErrInvalid)
	}
	w := c.tasks.NewWaiter()
	defer c.dontWakeOnClose(c.wakeOnClose(w))
	c.closed.Store(true)
	c.lines.close()
	c.wakeClosing()
	for {
		open := c.open.Load()
		if open == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("redlock: close: %d calls and rounds under way: %w", open, err)
		}
		w.Wait(ctx)
	}
}

// begin counts a call or round in, and reports whether the client was already closed.
func (c *Client) begin() (closed bool) {
	c.open.Add(1)
	return c.closed.Load()
}

// end counts it out, and wakes Close after the last one.
func (c *Client) end() {
	if c.open.Add(-1) == 0 && c.closed.Load() {
		c.wakeClosing()
	}
}

// wakeOnClose wakes w when the client is closed, and again when nothing is open any more, until dontWakeOnClose.
func (c *Client) wakeOnClose(w driver.Waiter) *list.Element {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closing.PushBack(w)
}

func (c *Client) dontWakeOnClose(e *list.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing.Remove(e)
}

func (c *Client) wakeClosing() {
	c.mu.Lock()
	var all []driver.Waiter
	for e := c.closing.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(driver.Waiter))
	}
	c.mu.Unlock()
	for _, w := range all {
		w.Wake()
	}
}
