package redlock

import (
	"context"
	"fmt"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// round is one command to the nodes, and their answers. The acquisition's lock guards it.
type round struct {
	tally
	acquisition *acquisition
	owner       owner // the acquisition, too
	reported    bool  // the observer has been told of the outcomes in order
	tries       int   // releases: how many before it have failed
	commands    []nodeCommand
	timer       driver.Timer    // of the node timeout
	isIdle      bool            // the timer has come and runs no more
	patientTill time.Time       // for so long nodes are waited for that have not answered; zero: no other has votes yet
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

// owner is told what came of the commands of a round. What it does about that may begin other rounds.
type owner interface {
	// means decides it. The acquisition is locked.
	means(r *round, i int, late bool) followUp
	// follow does it. The acquisition is not locked.
	follow(r *round, i int, late bool, f followUp)
}

// usualNodes is how many nodes most clients have, at most.
const usualNodes = 5

// nodeCommand is a command of a round for one node. It lends the node what the commands of the round share.
type nodeCommand struct {
	queued
	round *round
	node  int           // index of the node in the client
	since time.Duration // from the start of the round to the moment from which its node timeout counts
}

var (
	_ sender       = (*nodeCommand)(nil)
	_ batch.Lender = (*nodeCommand)(nil)
)

// newRound makes the commands of a round that starts now, of which none is sent yet, and starts the node timeout.
func (a *acquisition) newRound(op driver.Op, ttl time.Duration, now time.Time) *round {
	c := a.client
	r := &round{acquisition: a, owner: a, waiter: c.tasks.NewWaiter()}
	r.tally = tally{op: op, quorum: c.quorum, start: now}
	if n := len(c.nodes); n <= usualNodes {
		r.outcomes, r.commands = r.few.outcomes[:n], r.few.commands[:n]
	} else {
		r.outcomes, r.commands = make([]observe.NodeOutcome, n), make([]nodeCommand, n)
	}
	a.mu.Lock()
	number := a.rounds
	a.rounds++
	if op == driver.OpAcquire {
		a.lastVotes = r
		if suspected, enough := c.suspected(); enough {
			r.ballot.Suspected = suspected
		}
	}
	var line *driver.Line
	if op == driver.OpRelease && (a.granted || a.gaveUp) && c.turn != 0 {
		line = &driver.Line{Turn: c.turn}
	}
	if until := now.Add(c.nodeTimeout + ttl); ttl != 0 && until.After(a.keysUntil) {
		a.keysUntil = until
	}
	a.mu.Unlock()
	c.begin()
	for i := range r.commands {
		r.outcomes[i].Node = c.names[i]
		cmd := &r.commands[i]
		cmd.round, cmd.node = r, i
		cmd.Command = driver.Command{Op: op, Keys: a.keys, Value: a.value, TTL: ttl, Line: line, Round: number, Done: answered, Shared: cmd}
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
	r.timer = c.clock.AfterFunc(c.nodeTimeout, r.timeOut)
	return r
}

// sendTo hands some nodes their commands. Their node timeout counts from now, or, of a release that is hardly later than those
// for the other nodes, from when the round began: so they share a context. So do all nodes that are asked after the gate.
func (r *round) sendTo(nodes quorum.Set, now time.Time) {
	r.acquisition.mu.Lock()
	arms := r.mark(nodes, now)
	r.acquisition.mu.Unlock()
	r.send(nodes, arms)
}

// mark notes that nodes are asked, and gives their commands deadlines. It reports whether the timer has to be started again.
// The acquisition is locked.
func (r *round) mark(nodes quorum.Set, now time.Time) (arms bool) {
	shares := r.ballot.Asked == 0
	if r.op == driver.OpRelease && now.Sub(r.start) < r.acquisition.client.nodeTimeout/8 {
		now, shares = r.start, true
	}
	r.ballot.Asked |= nodes
	r.ballot.Later = r.ballot.Later.Without(nodes)
	if r.op == driver.OpAcquire {
		shares = r.ballot.Later == 0
	}
	for i := range nodes.Each {
		cmd := &r.commands[i]
		cmd.since = now.Sub(r.start)
		cmd.Deadline = cmd.due()
		cmd.ownDeadline = !shares
	}
	arms = r.isIdle
	r.isIdle = false
	return arms
}

// send hands nodes that are marked as asked their commands.
func (r *round) send(nodes quorum.Set, arms bool) {
	c := r.acquisition.client
	if arms {
		r.timer.Reset(c.nodeTimeout)
	}
	for i := range nodes.Each {
		c.batchers[i].ask(&r.commands[i].queued)
	}
}

// due is when the round gives up the answer. The batcher may give a release more time.
func (cmd *nodeCommand) due() time.Time {
	return cmd.round.start.Add(cmd.since + cmd.round.acquisition.client.nodeTimeout)
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
	r.settle(quorum.Set(0).With(cmd.node), driver.Reply{Outcome: driver.Unanswered}, now)
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
	if reply.Called {
		r.acquisition.client.contention.saw(setOf(r.acquisition.keys), now)
	}
	r.settle(quorum.Set(0).With(cmd.node), reply, now)
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

// errUnsent: the node timeout was over before the command was sent.
var errUnsent = fmt.Errorf("waited in the client: %w", context.DeadlineExceeded)

// limitPatience has the round wait no longer than the patience for nodes that have not answered, since another has votes: an
// attempt that can win only with such a node would keep its votes from all others for the whole node timeout. It reports
// whether the timer is to come for that. The acquisition is locked.
func (r *round) limitPatience(now time.Time) bool {
	c, pending := r.acquisition.client, r.ballot.Pending()
	if r.op != driver.OpAcquire || r.settled || r.ballot.Declined == 0 || r.ballot.Later != 0 || !r.patientTill.IsZero() {
		return false
	}
	at := now.Add(c.patience())
	for i := range pending.Each {
		if !r.commands[i].due().After(at) {
			return false
		}
	}
	if len(c.nodes)-(pending|r.ballot.Suspected).Len() < c.quorum {
		return false
	}
	r.patientTill = at
	return true
}

// losePatience suspects the nodes that have not answered when the patience is over. It reports whether that decides the round.
// The acquisition is locked.
func (r *round) losePatience(now time.Time) (isDecided bool) {
	if r.settled || r.patientTill.IsZero() || now.Before(r.patientTill) {
		return false
	}
	pending := r.ballot.Pending()
	for i := range pending.Each {
		r.acquisition.client.peers[i].suspected.Store(true)
	}
	r.ballot.Suspected |= pending
	return r.decide()
}

// timeOut settles every node that has not answered in time. Their commands hold up no others any more, although the batches
// they went with may have longer. The timer goes on for nodes that were asked later.
func (r *round) timeOut() {
	a := r.acquisition
	c := a.client
	now := c.clock.Now()
	a.mu.Lock()
	wakes := r.losePatience(now)
	late := r.ballot.Pending()
	for i := range late.Each {
		if r.commands[i].due().After(now) {
			late = late.Without(quorum.Set(0).With(i))
		}
	}
	a.mu.Unlock()
	if wakes {
		r.waiter.Wake()
	}
	var next time.Duration
	unsent := quorum.Set(0)
	for i := range late.Each {
		wasSent, left := c.batchers[i].giveUp(&r.commands[i].queued, now)
		switch {
		case left > 0:
			late = late.Without(quorum.Set(0).With(i))
			if next == 0 || left < next {
				next = left
			}
		case !wasSent:
			unsent = unsent.With(i)
		}
	}
	a.mu.Lock()
	for i := range r.ballot.Pending().Without(late).Each {
		if left := r.commands[i].due().Sub(now); left > 0 && (next == 0 || left < next) {
			next = left
		}
	}
	r.isIdle = next == 0
	a.mu.Unlock()
	if next != 0 {
		r.timer.Reset(next)
	}
	r.settle(unsent, driver.Reply{Outcome: driver.TimedOut, Err: errUnsent}, now)
	r.settle(late, driver.Reply{Outcome: driver.TimedOut, Err: context.DeadlineExceeded}, now)
	for i := range late.Each {
		c.batchers[i].answered(&r.commands[i].queued)
	}
}

// settle records the outcome of those nodes that have none yet.
func (r *round) settle(nodes quorum.Set, reply driver.Reply, now time.Time) {
	a := r.acquisition
	var follow [MaxNodes]followUp
	a.mu.Lock()
	nodes = nodes.Without(r.ballot.Answered)
	if nodes == 0 {
		a.mu.Unlock()
		return
	}
	late := r.settled
	for i := range nodes.Each {
		r.record(i, reply, now)
	}
	for i := range nodes.Each {
		follow[i] = r.owner.means(r, i, late)
	}
	wakes := r.ballot.Later != 0 // who waits for the gate
	wakes = !late && r.decide() || wakes
	last, isLimited := r.isOver(), r.limitPatience(now)
	a.mu.Unlock()
	if isLimited {
		r.timer.Reset(r.patientTill.Sub(now))
	}

	if wakes {
		r.waiter.Wake()
	}
	for i := range nodes.Each {
		r.owner.follow(r, i, late, follow[i])
	}
	if last {
		r.end()
	}
}

// end follows the last answer of a round.
func (r *round) end() {
	a := r.acquisition
	a.mu.Lock()
	cancel := r.cancel
	a.mu.Unlock()
	r.timer.Stop()
	if cancel != nil {
		cancel()
	}
	a.client.end()
}

// isOver says whether all nodes have answered that were asked, or will be. The acquisition is locked.
func (r *round) isOver() bool { return r.ballot.Pending()|r.ballot.Later == 0 }

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
// on are late. Nodes that wait for the answer of the gate are not asked.
func (r *round) leave() {
	a := r.acquisition
	a.mu.Lock()
	r.settled = true
	report := !r.reported
	r.reported = true
	ends := false
	if r.op == driver.OpAcquire && r.ballot.Later != 0 {
		r.ballot.Later = 0
		ends = r.isOver()
	}
	a.mu.Unlock()
	if ends {
		r.end()
	}
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
// unanswered in it. Nodes that were not asked are left out.
func (r *round) failed(ctx context.Context, reason error) *Error {
	timely := quorum.Set(0)
	for _, i := range r.order[:r.timely] {
		timely = timely.With(int(i))
	}
	r.acquisition.mu.Lock()
	asked := r.ballot.Asked // a release asks more nodes later
	r.acquisition.mu.Unlock()
	nodes := make([]observe.NodeOutcome, 0, asked.Len())
	for i := range asked.Each {
		if timely.Has(i) {
			nodes = append(nodes, r.outcomes[i])
		} else {
			nodes = append(nodes, observe.NodeOutcome{Node: r.outcomes[i].Node})
		}
	}
	err := &Error{Op: r.op, Resource: r.acquisition.name, Reason: reason, Nodes: nodes, NodeTimeout: r.acquisition.client.nodeTimeout}
	if reason == ctx.Err() || reason == ErrTokensUsedUp {
		err.Reason, err.Cause = nil, reason
	}
	return err
}

// Context is shared by all commands of the round. It is nil once the round is over: it has ended then, and a batch may hold
// commands of other rounds.
func (cmd *nodeCommand) Context() context.Context {
	if cmd.ownDeadline {
		return nil
	}
	r := cmd.round
	a := r.acquisition
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.isOver() {
		return nil
	}
	if r.ctx == nil {
		r.ctx, r.cancel = a.client.clock.WithDeadline(context.Background(), cmd.Deadline)
	}
	return r.ctx
}

// Arguments are made once per acquisition, and that of the TTL once per round. If somebody changed the command on its way to
// the node, the node gets arguments of the changed one.
func (cmd *nodeCommand) Arguments(ofKeys []string, ofValue string, ofTTL time.Duration) (keys []any, value, ttl any) {
	r := cmd.round
	a := r.acquisition
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keyArgs == nil {
		a.keyArgs, a.valueArg = batch.KeyArguments(a.keys), a.value
	}
	if r.ttlArg == nil {
		r.ttlOfArg, r.ttlArg = ofTTL, int64(ofTTL/time.Millisecond)
	}
	keys, value, ttl = a.keyArgs, a.valueArg, r.ttlArg
	if len(ofKeys) != len(a.keys) || len(a.keys) > 0 && &ofKeys[0] != &a.keys[0] {
		keys = batch.KeyArguments(ofKeys)
	}
	if ofValue != a.value {
		value = ofValue
	}
	if ofTTL != r.ttlOfArg {
		ttl = int64(ofTTL / time.Millisecond)
	}
	return keys, value, ttl
}
