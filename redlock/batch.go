package redlock

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"redlocksim/redlock/driver"
)

// WithBatching sets how many commands may be in flight to each node before others wait. The default is 4.
//
// Below the limit each command is sent at once and by itself. Commands above it wait until fewer are unanswered, and are then
// sent together, releases first, in batches of at most 256. A client that takes hundreds of locks at the same time is several
// times as fast for it. A limit of 1 makes the largest batches; a higher one spares more calls the wait for the round trips of
// others, which counts against their validity and their node timeout. In a batch, releases share a script, and so do acquires
// under the restart guard, as far as each is of one resource; not on a cluster or a sharded service, where a script is for the
// keys of one slot. With [WithWakeUp] releases of leases do not, since each may call somebody; with [WithFencing] no acquires
// do.
//
// An acquire or a release also waits until the node has answered what the client has sent it before for another lock on the
// same resources, which it could overtake on another connection.
//
// What is unanswered after a quarter of the node timeout no longer holds up what waits, unless it is an acquire that was given
// up and is in the way of another one. So a slow or silent node hardly delays other commands, unless more wait than fit into a
// batch. Acquires and extends that wait for longer than the node timeout are not sent and count as timed out. Releases are sent
// when their turn comes, however late, and [Lease.Unlock] waits for that until its context ends.
func WithBatching(n int) Option {
	return func(s *settings) error {
		if n < 1 {
			return fmt.Errorf("%w: batching from %d commands on, must be at least 1", ErrInvalid, n)
		}
		s.batching = n
		return nil
	}
}

// largestBatch limits how long the first command of a batch waits for the answer of the last: go-redis returns the answers of a
// pipeline together.
const largestBatch = 256

// batcher sends the client's commands to one node, in batches.
type batcher struct {
	node     driver.Node
	clock    driver.Clock
	limit    int           // how many commands may be on their way before others wait
	timeout  time.Duration // the node timeout
	patience time.Duration // after which a batch is no longer waited for

	mu       sync.Mutex
	releases []*queued // that wait, and go first
	others   []*queued
	busy     map[string]*queued // the last command on its way for a lock, by its first key
	inFlight []*flight          // those on their way that are waited for, oldest first
	spare    []*flight          // to be used again
	timer    driver.Timer
	armed    bool
	sending  bool              // somebody is: what waits meanwhile is sent by them
	going    []*driver.Command // memory for take
	dropped  []*queued         // by take: nobody wants them any more
	freeAt   time.Time         // found by take: when the first may go of those behind one for their lock; zero if none is
}

// flight is what was sent together. The batcher's lock guards it.
type flight struct {
	open int // how many of its commands are unanswered
	sent time.Time
}

// queued is a command with what the batcher keeps of it.
type queued struct {
	driver.Command         // whose Shared is its sender
	batch          *flight // with which it went, until it is answered
	wasSent        bool
	ownDeadline    bool // the Deadline is not that of its round
}

// sender is who asked for a command to be sent. It is the command's Shared, since a field of its own would make every round
// larger.
type sender interface {
	driver.Shared
	// withdraw learns that the command will never be sent.
	withdraw(now time.Time)
}

func newBatcher(n driver.Node, s *settings) *batcher {
	return &batcher{node: n, busy: map[string]*queued{}, clock: s.clock, limit: s.batching, timeout: s.nodeTimeout, patience: s.nodeTimeout / 4}
}

// ask sends the command, now or with others.
func (b *batcher) ask(cmd *queued) {
	b.mu.Lock()
	if cmd.Op == driver.OpRelease {
		b.releases = append(b.releases, cmd)
	} else {
		b.others = append(b.others, cmd)
	}
	b.send()
}

// answered is called after each reply, and when a reply is no longer awaited. Only the first call for a command that was sent
// counts.
func (b *batcher) answered(cmd *queued) {
	b.mu.Lock()
	with := cmd.batch
	if with == nil {
		b.mu.Unlock()
		return
	}
	cmd.batch = nil // which would keep it
	if b.busy[cmd.Keys[0]] == cmd {
		delete(b.busy, cmd.Keys[0])
	}
	with.open--
	if i := slices.Index(b.inFlight, with); with.open == 0 && i >= 0 {
		b.inFlight = slices.Delete(b.inFlight, i, i+1)
		b.spare = append(b.spare, with)
	}
	if b.unanswered() >= b.limit {
		b.mu.Unlock() // those that wait go on waiting
		return
	}
	b.send()
}

// giveUp takes out a command whose time is over, unless it was sent. A release has its time from when it is sent: the time left
// is not 0 then.
func (b *batcher) giveUp(cmd *queued, now time.Time) (wasSent bool, left time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case cmd.wasSent:
		return true, max(cmd.Deadline.Sub(now), 0)
	case cmd.Op == driver.OpRelease:
		return false, b.timeout
	}
	b.others = slices.DeleteFunc(b.others, func(c *queued) bool { return c == cmd })
	return false, 0
}

// overdue is called by the timer, which runs while commands wait, and no longer.
func (b *batcher) overdue() {
	b.mu.Lock()
	b.armed = false
	b.send()
}

// send sends the node what waits and may go now. It is called with the batcher locked, and unlocks it. A node may answer before
// Do returns, and others may ask meanwhile: whoever sends goes on until nothing may go any more.
func (b *batcher) send() {
	if b.sending {
		b.mu.Unlock()
		return
	}
	b.sending = true
	for len(b.releases)+len(b.others) > 0 {
		now := b.clock.Now()
		b.inFlight = slices.DeleteFunc(b.inFlight, func(o *flight) bool { return now.Sub(o.sent) >= b.patience })
		if b.unanswered() >= b.limit {
			b.arm(b.inFlight[0].sent.Add(b.patience).Sub(now))
			break
		}
		going := b.take(now)
		if len(going)+len(b.dropped) == 0 { // all that is left is behind another command for its lock
			if !b.freeAt.IsZero() {
				b.arm(b.freeAt.Sub(now))
			}
			break
		}
		b.mu.Unlock()
		for _, c := range b.dropped {
			c.Shared.(sender).withdraw(now)
		}
		if len(going) > 0 {
			b.node.Do(going)
		}
		b.mu.Lock()
		clear(b.dropped)
		clear(going)
	}
	b.sending = false
	if b.armed && len(b.releases)+len(b.others) == 0 {
		b.timer.Stop() // if that comes too late, overdue finds nothing to send
		b.armed = false
	}
	b.mu.Unlock()
}

// unanswered is the number of commands in flight in batches that are still waited for. The batcher is locked.
func (b *batcher) unanswered() (n int) {
	for _, o := range b.inFlight {
		n += o.open
	}
	return n
}

// isBehind says whether a command of another acquisition of the same lock, which this one must not overtake on another
// connection, went in an earlier batch that is still waited for. An acquire whose release has to wait for its answer is in the
// way until that comes, or is given up: else this one would find its own client's key. The batcher is locked.
func (b *batcher) isBehind(c *queued, batch *flight, now time.Time) bool {
	before := b.busy[c.Keys[0]]
	if before == nil || before.batch == batch || before.Value == c.Value || !slices.Equal(before.Keys, c.Keys) {
		return false
	}
	if c.Op == driver.OpAcquire && before.IsMoot() {
		return true
	}
	free := before.batch.sent.Add(b.patience)
	if !now.Before(free) {
		return false
	}
	if b.freeAt.IsZero() || free.Before(b.freeAt) {
		b.freeAt = free
	}
	return true
}

// takes adds a command to a batch. The batcher is locked.
func (b *batcher) takes(c *queued, batch *flight, going []*driver.Command) []*driver.Command {
	c.wasSent, c.batch, b.busy[c.Keys[0]] = true, batch, c
	return append(going, &c.Command)
}

// take makes a batch of the first commands that wait and may go, and drops those without a point. The batcher is locked.
func (b *batcher) take(now time.Time) (going []*driver.Command) {
	var together *flight
	if n := len(b.spare); n > 0 {
		together, b.spare = b.spare[n-1], b.spare[:n-1]
	} else {
		together = &flight{}
	}

	going, b.dropped, b.freeAt = b.going[:0], b.dropped[:0], time.Time{}
	b.releases = slices.DeleteFunc(b.releases, func(c *queued) bool {
		if len(going) == largestBatch || b.isBehind(c, together, now) {
			return false
		}
		if c.Deadline.Sub(now) < b.timeout-b.patience {
			// It has waited, or its client stood still. That is no reason to leave the key where it is.
			c.Deadline, c.ownDeadline = now.Add(b.timeout), true
		}
		going = b.takes(c, together, going)
		return true
	})
	b.others = slices.DeleteFunc(b.others, func(c *queued) bool {
		switch {
		case len(going) == largestBatch:
			return false
		case !now.Before(c.Deadline): // it times out
		case c.IsMoot():
			b.dropped = append(b.dropped, c)
		case c.Op == driver.OpAcquire && b.isBehind(c, together, now):
			return false
		default:
			going = b.takes(c, together, going)
		}
		return true
	})
	b.going = going

	if len(going) == 0 {
		b.spare = append(b.spare, together)
		return nil
	}
	*together = flight{open: len(going), sent: now}
	b.inFlight = append(b.inFlight, together)
	return going
}

// arm makes sure that overdue is called within d. The batcher is locked.
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
