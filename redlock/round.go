package redlock

import (
	"context"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// round is one command sent to all nodes at once, and their answers. The claim's lock guards it.
type round struct {
	claim    *claim
	op       driver.Op
	start    time.Time // the clock just before the commands were sent
	ballot   quorum.Ballot
	outcomes []observe.NodeOutcome
	settled  bool            // the caller has no reason left to wait, or has gone; what follows is frozen then
	order    [MaxNodes]uint8 // the nodes whose outcomes came before that, in order
	timely   int             // how many they are
	votes    int             // how many of them said yes
	verdict  error           // nil if they are a quorum
	reported bool            // the observer has been told of them
	cleanUp  bool            // what is waited for is that the awaited nodes have answered, not a quorum
	first    bool            // it proposes a fencing token, and a higher one may be proposed after it
	awaited  quorum.Set
	counters []int64 // of the nodes, as far as they said; nil for all but an acquire with a token
	next     int64   // with errBehind: the token to propose next
	commands []nodeCommand
	timer    driver.Timer
	ctx      context.Context // for the nodes; nil until one asks for it
	cancel   context.CancelFunc
	ttlArg   any           // likewise
	ttlOfArg time.Duration // of which ttlArg is the argument
	waiter   driver.Waiter

	// What outcomes and commands are slices of for so many nodes, to spare allocations.
	few struct {
		outcomes [usualNodes]observe.NodeOutcome
		commands [usualNodes]nodeCommand
	}
}

// usualNodes is the number of nodes that the literature takes for an example, and most clients have no more.
const usualNodes = 5

// ask sends the command to all nodes and returns without waiting.
func (cl *claim) ask(op driver.Op, ttl time.Duration) *round {
	r := cl.newRound(op, ttl, quorum.All(len(cl.client.nodes)))
	r.send()
	return r
}

// newRound reads the clock and writes the commands out.
func (cl *claim) newRound(op driver.Op, ttl time.Duration, asked quorum.Set) *round {
	c := cl.client
	r := &round{claim: cl, op: op, ballot: quorum.Ballot{Asked: asked}, waiter: c.tasks.NewWaiter()}
	if n := len(c.nodes); n <= usualNodes {
		r.outcomes, r.commands = r.few.outcomes[:n], r.few.commands[:n]
	} else {
		r.outcomes, r.commands = make([]observe.NodeOutcome, n), make([]nodeCommand, n)
	}
	cl.mu.Lock()
	number := cl.rounds
	cl.rounds++
	cl.mu.Unlock()
	c.begin()
	r.start = c.clock.Now()
	r.first = op == driver.OpAcquire && number == 0 && cl.token != 0
	deadline := r.start.Add(c.nodeTimeout)
	for i := range r.commands {
		r.outcomes[i].Node = c.names[i]
		cmd := &r.commands[i]
		cmd.round, cmd.node = r, i
		cmd.Command = driver.Command{Op: op, Keys: cl.keys, Value: cl.value, TTL: ttl, Deadline: deadline, Round: number, Done: answered, Shared: cmd}
	}
	if op == driver.OpAcquire && c.isConditional() {
		conditions := c.conditions(cl.token, r.start)
		for i := range r.commands {
			r.commands[i].Conditions = &conditions[i]
		}
	}
	if op == driver.OpAcquire && cl.token != 0 {
		r.counters = make([]int64, len(c.nodes))
		for i := range r.counters {
			r.counters[i] = noCounter
		}
	}
	return r
}

// send starts the node timeout and then hands every node its command.
func (r *round) send() {
	c := r.claim.client
	r.timer = c.clock.AfterFunc(c.nodeTimeout, r.timeOut)
	for i := range r.ballot.Asked.Each {
		c.batchers[i].ask(&r.commands[i])
	}
}

// wait returns nil once a quorum said yes; otherwise, as soon as that is impossible or ctx ends, why: ErrTaken,
// ErrNoQuorum, ErrLost, errBehind, or the error of ctx.
func (r *round) wait(ctx context.Context) error {
	for !r.isSettled() {
		if err := ctx.Err(); err != nil {
			r.leave()
			return err
		}
		r.waiter.Wait(ctx)
	}
	r.leave()
	return r.verdict
}

func (r *round) isSettled() bool {
	r.claim.mu.Lock()
	defer r.claim.mu.Unlock()
	return r.settled
}

// leave ends the waiting: the observer is told, on the caller's goroutine, of the answers so far; those that come from
// now on are late.
func (r *round) leave() {
	cl := r.claim
	cl.mu.Lock()
	r.settled = true
	report := !r.reported
	r.reported = true
	cl.mu.Unlock()
	if !report || cl.client.observer == nil {
		return
	}
	for _, i := range r.order[:r.timely] {
		cl.observe(observe.Event{Step: observe.NodeAnswered, Op: r.op, Node: r.outcomes[i]})
	}
}

// failed makes the error of a round that ended with reason, which may be the error of ctx. Nodes whose answers came
// later than that are unanswered in it.
func (r *round) failed(ctx context.Context, reason error) *Error {
	nodes := make([]observe.NodeOutcome, len(r.outcomes))
	for i, name := range r.claim.client.names {
		nodes[i].Node = name
	}
	for _, i := range r.order[:r.timely] {
		nodes[i] = r.outcomes[i]
	}
	err := &Error{Op: r.op, Resource: r.claim.resource(), Reason: reason, Nodes: nodes, NodeTimeout: r.claim.client.nodeTimeout}
	if reason == ctx.Err() || reason == ErrTokensUsedUp {
		err.Reason, err.Cause = nil, reason
	}
	return err
}

// answer takes the reply of one node. One that comes after the node timeout counts as unknown, also if the timer is
// late, as after a pause of the process: the TTL bounds what it may have done.
func (r *round) answer(cmd *nodeCommand, reply driver.Reply) {
	now := r.claim.client.clock.Now()
	if now.After(cmd.Deadline) {
		reply = driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}
	}
	if r.counters != nil {
		r.heardCounter(cmd.node, reply)
	}
	if reply.Outcome == driver.Quarantined {
		r.claim.client.watching.saw(cmd.node, reply.Record, now)
	}
	if r.settle(quorum.Set(0).With(cmd.node), reply, now) {
		r.timer.Stop()
	}
}

// timeOut settles every node that has not answered in time. Its command holds up no others any more, though the batch
// with which it went may have longer.
func (r *round) timeOut() {
	c := r.claim.client
	r.settle(r.ballot.Asked, driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}, c.clock.Now())
	for i := range r.ballot.Asked.Each {
		c.batchers[i].answered(&r.commands[i])
	}
}

// settle takes the outcome of some nodes, but not of those that have one already. It reports whether they were the last
// of the round.
func (r *round) settle(nodes quorum.Set, reply driver.Reply, now time.Time) (last bool) {
	cl := r.claim
	var follow [MaxNodes]followUp
	cl.mu.Lock()
	nodes = nodes.Without(r.ballot.Answered)
	if nodes == 0 {
		cl.mu.Unlock()
		return false
	}
	late := r.settled
	for i := range nodes.Each {
		r.record(i, reply, now)
	}
	for i := range nodes.Each {
		follow[i] = cl.straggler(r, i, late)
	}
	decided := !late && r.decide()
	last = r.ballot.Pending() == 0
	cancel := r.cancel
	cl.mu.Unlock()

	if decided {
		r.waiter.Wake()
	}
	if last && cancel != nil {
		cancel()
	}
	for i := range nodes.Each {
		if late && reply.Outcome != driver.Unanswered {
			cl.observe(observe.Event{Step: observe.NodeAnswered, Op: r.op, Node: r.outcomes[i], Late: true})
		}
		cl.follow(follow[i], i, r.outcomes[i])
	}
	if last {
		cl.client.end()
	}
	return last
}

// record notes the outcome of one node. The claim is locked.
func (r *round) record(i int, reply driver.Reply, now time.Time) {
	r.ballot.Record(i, reply.Outcome)
	out := &r.outcomes[i]
	out.Outcome, out.Err, out.Took = reply.Outcome, reply.Err, now.Sub(r.start)
	if !r.settled && reply.Outcome != driver.Unanswered {
		r.order[r.timely] = uint8(i)
		r.timely++
	}
}

// decide settles the round once its caller has no reason left to wait, with what is known at that moment: answers that
// come before the caller runs on do not change it. The claim is locked.
func (r *round) decide() bool {
	n, q := len(r.outcomes), r.claim.client.quorum
	r.votes = r.ballot.Accepted.Len()
	switch {
	case r.cleanUp:
		r.settled = r.awaited.Without(r.ballot.Answered) == 0
	case r.ballot.Reached(q):
		r.settled = true
	case r.ballot.Lost(q) && r.first && r.ballot.BeatableYet(q):
		r.next, r.settled = r.beating()
		r.verdict = errBehind
		if r.next == 0 {
			r.verdict = ErrNoQuorum // so many nodes are alone with their counters
		}
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
