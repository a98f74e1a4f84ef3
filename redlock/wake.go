package redlock

import (
	"context"
	"fmt"
	"slices"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// WithWakeUp has calls of Lock that wait stand in line, between processes too, and a release call the first of them, so that
// nobody sleeps while the lock is free. The resource's gate keeps the line (see [Client.Lock] and [driver.Line]): who is
// refused there stands at its end, and a release calls the first one that listens. For the time of turn only that one gets the
// gate's vote; it should be longer than a message to a client and its answer take: 10 ms suit round trips of about a
// millisecond. It is a whole number of milliseconds.
//
// The line spares delays and decides nothing: a lock needs its quorum as always. A message that is lost, a process that is
// stopped when its turn comes, a gate that has forgotten the line, or a holder without the option cost those who wait what is
// left of a retry delay, and it costs them no more than that to wait beside clients without the option, which take the lock
// when they find it free. Those that wait ask by themselves after a full retry delay, and all nodes after sixteen refusals.
//
// The nodes must be Listeners, and their users allowed to publish, to subscribe to [driver.WakeChannel], and to touch the keys
// of [driver.LineKey] and [driver.TurnKey]. Where they are not, on a cluster or a sharded service, and while listening fails
// for another reason, calls poll, and the outcomes of the node carry an error that matches [driver.ErrWakeUp]. Nodes of
// packages goredis and rueidis use one more connection per server for this, from the first refusal there until the client is
// closed.
func WithWakeUp(turn time.Duration) Option {
	return func(s *settings) error {
		if err := wholeMilliseconds("turn of the wake-up", turn); err != nil {
			return err
		}
		for _, n := range s.nodes {
			if _, ok := n.(driver.Listener); !ok {
				return fmt.Errorf("%w: node %q is no Listener, which the wake-up needs", ErrInvalid, n.Name())
			}
		}
		s.turn = turn
		return nil
	}
}

// listen gives the name under which the client waits, and has it hear what a node calls.
func (c *Client) listen(node int) (waiter string, err error) {
	l := &c.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiter == "" {
		if l.waiter, err = c.newValue(); err != nil {
			return "", err
		}
		l.stops = make([]func(), len(c.nodes))
	}
	if l.stops[node] == nil && !l.closed {
		l.stops[node] = c.nodes[node].(driver.Listener).Listen(driver.WakeChannel(l.waiter), func(key string) { c.called(node, key) })
	}
	return l.waiter, nil
}

// called lets those go on that wait for a key which a node calls. If none does, as they have given up and the node heard of
// that before they came into its line, it is the turn of the next there.
func (c *Client) called(node int, key string) {
	l := &c.lines
	l.mu.Lock()
	all := slices.Clone(l.places[key])
	l.mu.Unlock()
	isClosed := c.begin()
	defer c.end()
	if len(all) == 0 && !isClosed {
		c.stepOut(quorum.Set(0).With(node), []string{key})
	}
	for _, p := range all {
		p.called.Store(true)
		p.waiter.Wake()
	}
}

// leave takes a place out of the lines in which it may be, so that nobody waits for who is not there any more.
func (c *Client) leave(p *place) {
	l := &c.lines
	l.mu.Lock()
	for _, key := range p.keys {
		l.places[key] = slices.DeleteFunc(l.places[key], func(o *place) bool { return o == p })
		if len(l.places[key]) == 0 {
			delete(l.places, key)
		}
	}
	l.mu.Unlock()
	if p.nodes != 0 {
		c.stepOut(p.nodes, p.keys)
	}
}

// stepOut tells nodes that the client no longer stands in their lines.
func (c *Client) stepOut(nodes quorum.Set, keys []string) {
	c.lines.mu.Lock()
	waiter := c.lines.waiter
	c.lines.left++
	value := fmt.Sprintf("%s left %d", waiter, c.lines.left) // which no key has: this releases nothing
	c.lines.mu.Unlock()
	a := &acquisition{client: c, ctx: context.Background(), keys: keys, name: nameOf(keys), value: value, isUntold: true}
	r := a.newRound(driver.OpRelease, 0, c.clock.Now())
	r.settled = true
	for i := range nodes.Each {
		r.commands[i].Line = &driver.Line{Waiter: waiter, Turn: c.turn}
	}
	r.sendTo(nodes, r.start)
}

// sleepUntil returns when the clock reads t, ctx ends, the client is closed, or the place is called. It gives the time until
// which it slept, or would have.
func (c *Client) sleepUntil(ctx context.Context, t time.Time, p *place) time.Time {
	var w driver.Waiter
	if p != nil {
		w = p.waiter
	} else {
		w = c.tasks.NewWaiter()
	}
	defer c.dontWakeOnClose(c.wakeOnClose(w))
	timer := c.clock.AfterFunc(t.Sub(c.clock.Now()), w.Wake)
	defer timer.Stop()
	for ctx.Err() == nil && !c.closed.Load() {
		now := c.clock.Now()
		if p.take() {
			return now
		}
		left := t.Sub(now)
		if left <= 0 {
			break
		}
		timer.Reset(left)
		w.Wait(ctx)
	}
	return t
}

// whyEnded is why a call that waits must end; nil if it need not.
func (c *Client) whyEnded(ctx context.Context) error {
	if c.closed.Load() {
		return ErrClosed
	}
	return ctx.Err()
}
