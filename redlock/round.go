package redlock

import (
	"context"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// round is one command sent to all nodes at once, and their answers. The acquisition's lock guards it.
type round struct {
	acquisition *acquisition
	op          driver.Op
	start       time.Time // the clock just before the commands were sent
	ballot      quorum.Ballot
	outcomes    []observe.NodeOutcome
	settled     bool            // the caller has no reason left to wait, or has gone; what follows is frozen then
	order       [MaxNodes]uint8 // the nodes whose outcomes came before that, in order
	timely      int             // how many they are
	votes       int             // how many of them said yes
	early       quorum.Set      // acquires: the nodes whose votes came after that, and before there was a lease to join
	verdict     error           // nil if they are a quorum
	reported    bool            // the observer has been told of them
	cleanUp     bool            // what is waited for is that the awaited nodes have answered, not a quorum
	awaited     quorum.Set
	proposal    proposal // of a fencing token
	commands    []nodeCommand
	timer       driver.Timer
	ctx         context.Context // for the nodes; nil until one asks for it
	cancel      context.CancelFunc
	ttlArg      any           // likewise
	ttlOfArg    time.Duration // of which ttlArg is the argument
	waiter      driver.Waiter

	// What outcomes and commands are slices of for so many nodes, to spare allocations.
	few struct {
		outcomes [usualNodes]observe.NodeOutcome
		commands [usualNodes]nodeCommand
	}
}

// usualNodes is how many nodes most clients have, at most.
const usualNodes = 5

// ask sends the same command to all nodes at once. The error is nil once a quorum has done it. It says why not as soon as no
// quorum can, or ctx ends.
func (a *acquisition) ask(ctx context.Context, op driver.Op, ttl time.Duration, start time.Time) (*round, error) {
	r := a.newRound(op, ttl, quorum.All(len(a.client.nodes)), start)
	r.send()
	err := r.wait(ctx)
	if err == errBehind {
		r, err = a.raise(ctx, r, ttl)
	}
	r.report(err)
	return r, err
}

// newRound makes the commands of a round that starts now.
func (a *acquisition) newRound(op driver.Op, ttl time.Duration, asked quorum.Set, now time.Time) *round {
	c := a.client
	r := &round{acquisition: a, op: op, start: now, ballot: quorum.Ballot{Asked: asked}, waiter: c.tasks.NewWaiter()}
	if n := len(c.nodes); n <= usualNodes {
		r.outcomes, r.commands = r.few.outcomes[:n], r.few.commands[:n]
	} else {
		r.outcomes, r.commands = make([]observe.NodeOutcome, n), make([]nodeCommand, n)
	}
	a.mu.Lock()
	number := a.rounds
	a.rounds++
	a.mu.Unlock()
	c.begin()
	deadline := r.start.Add(c.nodeTimeout)
	for i := range r.commands {
		r.outcomes[i].Node = c.names[i]
		cmd := &r.commands[i]
		cmd.round, cmd.node = r, i
		cmd.Command = driver.Command{Op: op, Keys: a.keys, Value: a.value, TTL: ttl, Deadline: deadline, Round: number, Done: answered, Shared: cmd}
	}
	if op == driver.OpAcquire && c.isConditional() {
		conditions := c.conditions(a.token, now)
		for i := range r.commands {
			r.commands[i].Conditions = &conditions[i]
		}
		r.proposal.begin(a.token, number, len(c.nodes))
	}
	return r
}

// send starts the node timeout and then hands every node its command.
func (r *round) send() {
	c := r.acquisition.client
	r.timer = c.clock.AfterFunc(c.nodeTimeout, r.timeOut)
	for i := range r.ballot.Asked.Each {
		c.batchers[i].ask(&r.commands[i])
	}
}

// wait returns nil once a quorum said yes. As soon as that is impossible, or ctx ends, it returns why: ErrTaken, ErrNoQuorum,
// ErrLost, errBehind, or the error of ctx.
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
	r.acquisition.mu.Lock()
	defer r.acquisition.mu.Unlock()
	return r.settled
}

// leave ends the waiting. It reports the answers so far to the observer, on the caller's goroutine; answers that come from now
// on are late.
func (r *round) leave() {
	a := r.acquisition
	a.mu.Lock()
	r.settled = true
	report := !r.reported
	r.reported = true
	a.mu.Unlock()
	if !report || a.client.observer == nil {
		return
	}
	for _, i := range r.order[:r.timely] {
		a.observe(observe.Event{Step: observe.NodeAnswered, Op: r.op, Node: r.outcomes[i]})
	}
}

// report tells the observer how the vote went: err is why there is no quorum.
func (r *round) report(err error) {
	step := observe.QuorumReached
	if err != nil {
		step = observe.QuorumLost
	}
	r.acquisition.observe(observe.Event{Step: step, Op: r.op, Accepted: r.votes, Quorum: r.acquisition.client.quorum, Err: err})
}

// failed makes the error of a round that ended with reason, which may be the error of ctx. Nodes that answered after that are
// unanswered in it.
func (r *round) failed(ctx context.Context, reason error) *Error {
	nodes := make([]observe.NodeOutcome, len(r.outcomes))
	for i, name := range r.acquisition.client.names {
		nodes[i].Node = name
	}
	for _, i := range r.order[:r.timely] {
		nodes[i] = r.outcomes[i]
	}
	err := &Error{Op: r.op, Resource: r.acquisition.name, Reason: reason, Nodes: nodes, NodeTimeout: r.acquisition.client.nodeTimeout}
	if reason == ctx.Err() || reason == ErrTokensUsedUp {
		err.Reason, err.Cause = nil, reason
	}
	return err
}
