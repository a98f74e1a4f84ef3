package redlock

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// DefaultBatches is how many batches are on their way to a node at a time unless set otherwise.
const DefaultBatches = 4

// WithBatches sets how many batches of commands may be on their way to each node at a time; [DefaultBatches] without it.
//
// A command goes at once while fewer are. Otherwise it waits until one of them has been answered, and then goes with all
// others that wait, in one piece: a client that takes hundreds of locks at the same time is several times as fast for it.
// With 1 the batches are largest and cost least; more of them spare calls the wait for the round trips of other calls,
// which counts against their validity and their node timeout.
//
// A batch that is unanswered after a quarter of the node timeout no longer holds up the next, so a slow or silent node
// delays no command by more than that. A command whose deadline passes while it waits is not sent.
func WithBatches(n int) Option {
	return func(c *Client) error {
		if n < 1 {
			return fmt.Errorf("%w: %d batches at a time, must be at least 1", ErrInvalid, n)
		}
		c.batches = n
		return nil
	}
}

// largestBatch bounds how long the first command of a batch waits for the last one's answer: go-redis hands out the
// answers to a pipeline together.
const largestBatch = 256

// batcher is the way of the client's commands to one node, in batches.
type batcher struct {
	node     Node
	clock    Clock
	limit    int           // how many batches may be on their way
	patience time.Duration // after which one is no longer waited for

	mu      sync.Mutex
	waiting []*Command
	spare   []*Command // for the next waiting, to spare allocations
	aloft   []*batch   // those on their way that are waited for, oldest first
	timer   Timer
	armed   bool
}

// batch is what was sent together. The batcher's lock guards it.
type batch struct {
	open int // how many of its commands are unanswered
	sent time.Time
}

func newBatcher(n Node, c *Client) *batcher {
	return &batcher{node: n, clock: c.clock, limit: c.batches, patience: c.nodeTimeout / 4}
}

// ask sends the command, now or with others.
func (b *batcher) ask(cmd *Command) {
	b.mu.Lock()
	b.waiting = append(b.waiting, cmd)
	b.send()
}

// answered is to be called after each reply.
func (b *batcher) answered(cmd *Command) {
	b.mu.Lock()
	cmd.batch.open--
	if cmd.batch.open == 0 {
		b.aloft = slices.DeleteFunc(b.aloft, func(o *batch) bool { return o == cmd.batch })
	}
	b.send()
}

// overdue is called by the timer, which runs while commands wait.
func (b *batcher) overdue() {
	b.mu.Lock()
	b.armed = false
	b.send()
}

// send hands the node what waits, as far as it may go now, and unlocks the batcher, which must be locked. Commands whose
// deadline has passed are left out: their rounds have timed out by themselves.
func (b *batcher) send() {
	for {
		now := b.clock.Now()
		b.aloft = slices.DeleteFunc(b.aloft, func(o *batch) bool { return now.Sub(o.sent) >= b.patience })
		b.waiting = slices.DeleteFunc(b.waiting, func(c *Command) bool { return now.After(c.Deadline) })
		if len(b.waiting) == 0 {
			break
		}
		if len(b.aloft) >= b.limit {
			b.arm(b.aloft[0].sent.Add(b.patience).Sub(now))
			break
		}
		going := b.board(now)
		b.mu.Unlock()
		b.node.Do(going)
		b.mu.Lock()
		clear(going)
		b.spare = going[:0]
	}
	b.mu.Unlock()
}

// board makes a batch of the first that wait. The batcher is locked.
func (b *batcher) board(now time.Time) (going []*Command) {
	n := min(len(b.waiting), largestBatch)
	going = b.waiting[:n:n]
	b.waiting, b.spare = append(b.spare, b.waiting[n:]...), nil
	together := &going[0].own
	*together = batch{open: n, sent: now}
	b.aloft = append(b.aloft, together)
	for _, c := range going {
		c.batch = together
	}
	return going
}

// arm has overdue called after d, if it will not be called earlier. The batcher is locked.
func (b *batcher) arm(d time.Duration) {
	switch {
	case b.armed:
		return
	case b.timer == nil:
		b.timer = b.clock.AfterFunc(d, b.overdue)
	default:
		b.timer.Reset(d)
	}
	b.armed = true
}
