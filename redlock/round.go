package redlock

import (
	"context"
	"time"
)

// round is one command sent to all nodes at once, and their answers. The claim's lock guards it.
type round struct {
	claim    *claim
	op       Op
	start    time.Time // the clock just before the commands were sent
	ballot   ballot
	outcomes []NodeOutcome
	settled  bool            // the caller has no reason left to wait, or has gone
	order    [MaxNodes]uint8 // the nodes whose outcomes came before that, in order
	timely   int             // how many they are
	cleanUp  bool            // what is waited for is that the awaited nodes have answered, not a quorum
	awaited  nodeSet
	commands []Command
	timer    Timer
	waiter   Waiter
}

// ask sends the command to all nodes and returns without waiting.
func (cl *claim) ask(op Op, ttl time.Duration) *round {
	r := cl.newRound(op, ttl, allNodes(len(cl.client.nodes)))
	r.send()
	return r
}

// newRound reads the clock and writes the commands out.
func (cl *claim) newRound(op Op, ttl time.Duration, asked nodeSet) *round {
	c := cl.client
	r := &round{
		claim:    cl,
		op:       op,
		ballot:   ballot{asked: asked},
		outcomes: make([]NodeOutcome, len(c.nodes)),
		commands: make([]Command, len(c.nodes)),
		waiter:   c.tasks.NewWaiter(),
	}
	cl.mu.Lock()
	number := cl.rounds
	cl.rounds++
	cl.mu.Unlock()
	c.open.Add(1)
	r.start = c.clock.Now()
	deadline := r.start.Add(c.nodeTimeout)
	done := r.answer
	for i := range r.commands {
		r.outcomes[i].Node = c.names[i]
		r.commands[i] = Command{Op: op, Keys: cl.keys, Value: cl.value, TTL: ttl, Deadline: deadline, Round: number, Done: done, node: i}
	}
	return r
}

// send starts the node timeout and then hands every node its command.
func (r *round) send() {
	c := r.claim.client
	r.timer = c.clock.AfterFunc(c.nodeTimeout, r.timeOut)
	batch := make([]*Command, len(r.commands))
	for i := range r.commands {
		batch[i] = &r.commands[i]
	}
	for i, node := range c.nodes {
		if r.ballot.asked.has(i) {
			node.Do(batch[i : i+1 : i+1])
		}
	}
}

// wait returns nil once a quorum said yes; otherwise, as soon as that is impossible or ctx ends, why: ErrTaken,
// ErrNoQuorum, ErrLost, or the error of ctx.
func (r *round) wait(ctx context.Context) error {
	for !r.isSettled() {
		if err := ctx.Err(); err != nil {
			r.leave()
			return err
		}
		r.waiter.Wait(ctx)
	}
	r.leave()
	return r.result()
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
	timely := r.timely
	cl.mu.Unlock()
	if cl.client.observer == nil {
		return
	}
	for _, i := range r.order[:timely] {
		cl.observe(Event{Step: NodeAnswered, Op: r.op, Node: r.outcomes[i]})
	}
}

// result is the outcome of a settled round: nil if a quorum said yes.
func (r *round) result() error {
	r.claim.mu.Lock()
	defer r.claim.mu.Unlock()
	n, q := len(r.outcomes), r.claim.client.quorum
	switch {
	case r.ballot.reached(q):
		return nil
	case r.ballot.declined.len() <= n-q:
		return ErrNoQuorum
	case r.op == OpAcquire:
		return ErrTaken
	}
	return ErrLost
}

// votes is how many nodes have said yes so far.
func (r *round) votes() int {
	r.claim.mu.Lock()
	defer r.claim.mu.Unlock()
	return r.ballot.accepted.len()
}

// failed makes the error of a round that ended with reason, which may be the error of ctx.
func (r *round) failed(ctx context.Context, reason error) *Error {
	r.claim.mu.Lock()
	nodes := append([]NodeOutcome(nil), r.outcomes...)
	r.claim.mu.Unlock()
	err := &Error{Op: r.op, Resource: r.claim.resource(), Reason: reason, Nodes: nodes}
	if reason == ctx.Err() {
		err.Reason, err.Cause = nil, reason
	}
	return err
}

// answer takes the reply of one node.
func (r *round) answer(cmd *Command, reply Reply) {
	if r.settle(cmd.node, reply) {
		r.timer.Stop()
	}
}

// timeOut settles every node that has not answered in time.
func (r *round) timeOut() {
	for i := range r.commands {
		if r.ballot.asked.has(i) {
			r.settle(i, Reply{Outcome: TimedOut, Err: context.DeadlineExceeded})
		}
	}
}

// settle takes the outcome of one node, unless it has one: a reply that comes after the node timeout counts as unknown,
// the TTL bounds it. It reports whether this was the last node of the round.
func (r *round) settle(i int, reply Reply) (last bool) {
	cl := r.claim
	now := cl.client.clock.Now()
	cl.mu.Lock()
	if r.ballot.answered.has(i) {
		cl.mu.Unlock()
		return false
	}
	late := r.settled
	r.record(i, reply, now)
	settled, outcome, last := r.settled, r.outcomes[i], r.ballot.pending() == 0
	next := cl.straggler(r, i, late)
	cl.mu.Unlock()

	if late {
		cl.observe(Event{Step: NodeAnswered, Op: r.op, Node: outcome, Late: true})
	} else if settled {
		r.waiter.Wake()
	}
	cl.follow(next, i, outcome)
	if last {
		cl.client.roundEnded()
	}
	return last
}

// record notes the outcome of one node, and whether that decides the round. The claim is locked.
func (r *round) record(i int, reply Reply, now time.Time) {
	r.ballot.record(i, reply.Outcome)
	out := &r.outcomes[i]
	out.Outcome, out.Err, out.Took = reply.Outcome, reply.Err, now.Sub(r.start)
	if !r.settled {
		r.order[r.timely] = uint8(i)
		r.timely++
		r.settled = r.decided()
	}
}

// decided: the caller has no reason left to wait.
func (r *round) decided() bool {
	if r.cleanUp {
		return r.awaited.without(r.ballot.answered) == 0
	}
	q := r.claim.client.quorum
	return r.ballot.reached(q) || r.ballot.lost(q)
}
