package redlock

import (
	"context"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// answer takes the reply of one node. A reply after the node timeout counts as unknown even if the timer is late, as after a
// pause of the process: the TTL limits what the command may have done.
func (r *round) answer(cmd *nodeCommand, reply driver.Reply) {
	now := r.acquisition.client.clock.Now()
	if now.After(cmd.Deadline) {
		reply = driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}
	}
	if r.proposal.counters != nil {
		r.heardCounter(cmd.node, reply)
	}
	if reply.Outcome == driver.Quarantined {
		r.acquisition.client.watching.saw(cmd.node, reply.Record, now)
	}
	if r.settle(quorum.Set(0).With(cmd.node), reply, now) {
		r.timer.Stop()
	}
}

// timeOut settles every node that has not answered in time. Their commands hold up no others any more, although the batches
// they went with may have longer.
func (r *round) timeOut() {
	c := r.acquisition.client
	r.settle(r.ballot.Asked, driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}, c.clock.Now())
	for i := range r.ballot.Asked.Each {
		c.batchers[i].answered(&r.commands[i])
	}
}

// settle records the outcome of those nodes that have none yet. It reports whether they were the last of the round.
func (r *round) settle(nodes quorum.Set, reply driver.Reply, now time.Time) (last bool) {
	a := r.acquisition
	var follow [MaxNodes]followUp
	a.mu.Lock()
	nodes = nodes.Without(r.ballot.Answered)
	if nodes == 0 {
		a.mu.Unlock()
		return false
	}
	late := r.settled
	for i := range nodes.Each {
		r.record(i, reply, now)
	}
	for i := range nodes.Each {
		follow[i] = a.straggler(r, i, late)
	}
	decided := !late && r.decide()
	last = r.ballot.Pending() == 0
	cancel := r.cancel
	a.mu.Unlock()

	if decided {
		r.waiter.Wake()
	}
	if last && cancel != nil {
		cancel()
	}
	for i := range nodes.Each {
		if late && reply.Outcome != driver.Unanswered {
			a.observe(observe.Event{Step: observe.NodeAnswered, Op: r.op, Node: r.outcomes[i], Late: true})
		}
		a.follow(follow[i], i, r.outcomes[i])
	}
	if last {
		a.client.end()
	}
	return last
}

// record notes the outcome of one node. The acquisition is locked.
func (r *round) record(i int, reply driver.Reply, now time.Time) {
	r.ballot.Record(i, reply.Outcome)
	out := &r.outcomes[i]
	out.Outcome, out.Err, out.Took = reply.Outcome, reply.Err, now.Sub(r.start)
	if !r.settled && reply.Outcome != driver.Unanswered {
		r.order[r.timely] = uint8(i)
		r.timely++
	}
}

// decide settles the round once its caller has no reason left to wait. The verdict is what is known at that moment: answers
// that come before the caller runs on do not change it. The acquisition is locked.
func (r *round) decide() bool {
	n, q := len(r.outcomes), r.acquisition.client.quorum
	r.votes = r.ballot.Accepted.Len()
	switch {
	case r.cleanUp:
		r.settled = r.awaited.Without(r.ballot.Answered) == 0
	case r.ballot.Reached(q):
		r.settled = true
	case r.ballot.Lost(q) && r.proposal.isFirst && r.ballot.BeatableYet(q):
		r.settled, r.verdict = r.decideNext()
	case r.ballot.Lost(q):
		r.settled = true
		switch {
		case (r.ballot.Declined | r.ballot.Behind).Len() <= n-q:
			r.verdict = ErrNoQuorum
		case r.op == driver.OpAcquire:
			r.verdict = ErrTaken
		default:
			r.verdict = ErrLost
		}
	}
	return r.settled
}
