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
	tally
	acquisition *acquisition
	reported    bool // the observer has been told of the outcomes in order
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

// nodeCommand is a command of a round for one node. It lends the node what the commands of the round share.
type nodeCommand struct {
	queued
	round *round
	node  int // index of the node in the client
}

var _ sender = (*nodeCommand)(nil)

// newRound makes the commands of a round that starts now.
func (a *acquisition) newRound(op driver.Op, ttl time.Duration, asked quorum.Set, now time.Time) *round {
	c := a.client
	r := &round{acquisition: a, waiter: c.tasks.NewWaiter()}
	r.tally = tally{op: op, quorum: c.quorum, start: now, ballot: quorum.Ballot{Asked: asked}}
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
		cmd.Command = driver.Command{Op: op, Keys: a.keys, Value: a.value, TTL: ttl, Deadline: deadline, Round: number, Done: answered, Shared: cmd,
			OneTTL: a.client.oneTTL}
		if op == driver.OpAcquire || op == driver.OpExtend {
			cmd.Replicas = c.replicas
		}
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
		c.batchers[i].ask(&r.commands[i].queued)
	}
}

// answered is the Done of the commands that a client makes.
func answered(command *driver.Command, reply driver.Reply) {
	cmd := command.Shared.(*nodeCommand)
	cmd.round.answer(cmd, reply)
	cmd.round.acquisition.client.batchers[cmd.node].answered(&cmd.queued)
}

// IsMoot reports whether the acquisition is being released: other commands that were not sent yet would only be in the way.
func (cmd *nodeCommand) IsMoot() bool {
	a := cmd.round.acquisition
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.released
}

// withdraw stops waiting for the answer to a command that will never be sent. Nothing has happened on the node that an observer
// could be told of.
func (cmd *nodeCommand) withdraw(now time.Time) {
	r := cmd.round
	if r.settle(quorum.Set(0).With(cmd.node), driver.Reply{Outcome: driver.Unanswered}, now) {
		r.timer.Stop()
	}
}

// answer takes the reply of one node. A reply after the node timeout counts as unknown even if the timer is late, as after a
// pause of the process: the TTL limits what the command may have done.
func (r *round) answer(cmd *nodeCommand, reply driver.Reply) {
	now := r.acquisition.client.clock.Now()
	if now.After(cmd.Deadline) {
		reply = driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}
	}
	if r.proposal.counters != nil {
		r.heardCounter(cmd, reply)
	}
	r.heardOfQuarantine(cmd, reply, now)
	if r.settle(quorum.Set(0).With(cmd.node), reply, now) {
		r.timer.Stop()
	}
}

// heardOfQuarantine keeps what an answer says of the node's quarantine. It is over once the node answers yes or no to an
// acquire that has named it. What names none goes to the node together with others; see internal/batch.
func (r *round) heardOfQuarantine(cmd *nodeCommand, reply driver.Reply, now time.Time) {
	watching := &r.acquisition.client.watching
	switch reply.Outcome {
	case driver.Quarantined:
		watching.saw(cmd.node, reply.Record, now)
	case driver.Accepted, driver.Declined, driver.Behind:
		if r.op == driver.OpAcquire && cmd.Conditions != nil && cmd.Conditions.Watched != "" {
			watching.ended(cmd.node, cmd.Conditions.Watched)
		}
	}
}

// heardCounter keeps the counter that the answer to an acquire with a token tells of. The client remembers what it can believe
// of those that others have raised.
func (r *round) heardCounter(cmd *nodeCommand, reply driver.Reply) {
	a := r.acquisition
	a.mu.Lock()
	believed := r.proposal.heard(cmd.node, cmd.Conditions.Token, reply, r.quorum)
	a.mu.Unlock()
	if believed > 0 {
		a.client.tokens.learn(a.keys, believed)
	}
}

// timeOut settles every node that has not answered in time. Their commands hold up no others any more, although the batches
// they went with may have longer.
func (r *round) timeOut() {
	c := r.acquisition.client
	r.settle(r.ballot.Asked, driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}, c.clock.Now())
	for i := range r.ballot.Asked.Each {
		c.batchers[i].answered(&r.commands[i].queued)
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
		follow[i] = a.straggler(&r.tally, i, late)
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

// follow does what straggler decided. The acquisition is not locked.
func (a *acquisition) follow(f followUp, i int, outcome observe.NodeOutcome) {
	switch f {
	case join:
		a.observe(observe.Event{Step: observe.Joined, Op: driver.OpAcquire, Node: outcome})
	case takeBack:
		a.observe(observe.Event{Step: observe.TakenBack, Op: driver.OpRelease, Node: outcome})
		r := a.newRound(driver.OpRelease, 0, quorum.Set(0).With(i), a.client.clock.Now())
		r.settled = true // nobody waits for it but Close
		r.send()
	}
}
