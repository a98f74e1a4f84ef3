package redlock

import (
	"context"
	"errors"
	"sync"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// acquisition is one attempt to get the lock, under a value of its own, and the lease that may come of it. It lasts from the
// first SET until the last key is known to be gone, or left to its TTL.
type acquisition struct {
	client  *Client
	ctx     context.Context // values only: an acquisition outlives the call that made it
	keys    []string        // sorted
	name    string          // of the resources, for people
	value   string
	attempt int    // which one of its call, from 1
	call    string // the value of the call's first attempt
	token   int64  // the fencing token proposed last; 0 without fencing

	mu        sync.Mutex // guards what follows, and the rounds of the acquisition
	keyArgs   []any      // keys and value as nodes use them; nil until one asks for them
	valueArg  any
	rounds    int
	raised    bool // a second token has been proposed
	granted   bool
	released  bool       // a release has begun: votes that come now are taken back
	releasing quorum.Set // nodes that have not answered a release yet
	freed     quorum.Set // nodes that answered a release by deleting the key
	owing     quorum.Set // nodes that voted while releasing: if the answer is not that the key was deleted, release again
}

// valuesOf is a context with the values of another that never ends.
func valuesOf(ctx context.Context) context.Context {
	if ctx.Done() == nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
}

// observe tells the observer of a step.
func (a *acquisition) observe(e observe.Event) {
	if a.client.observer == nil {
		return
	}
	e.Resource, e.Value, e.Attempt, e.Call = a.name, a.value, a.attempt, a.call
	a.client.observer.Observe(a.ctx, e)
}

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

var (
	_ sender       = (*nodeCommand)(nil)
	_ batch.Lender = (*nodeCommand)(nil)
)

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
		cmd.Command = driver.Command{Op: op, Keys: a.keys, Value: a.value, TTL: ttl, Deadline: deadline, Round: number, Done: answered, Shared: cmd}
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
	if r.ballot.Pending() == 0 {
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

// followUp is what has to be done about an answer, beyond counting it.
type followUp uint8

const (
	nothing followUp = iota
	join
	takeBack
)

// straggler decides what an answer means for the acquisition as a whole.
//
// A vote that comes after the decision joins the lease: at once while it is held, or when it is made. A vote that comes after
// a release began may have been cast after that release passed the node, so it is released again, unless the release itself
// says that it deleted the key. If two tokens were proposed, the node may have voted twice, before that release and after it,
// so what the release says settles nothing. The acquisition is locked.
//
// What too few replicas have confirmed is no vote, and joins nothing, but its key is on the node and has to go.
func (a *acquisition) straggler(t *tally, i int, late bool) followUp {
	accepted := t.outcomes[i].Outcome == driver.Accepted
	isUnconfirmed := t.outcomes[i].Outcome == driver.Failed && errors.As(t.outcomes[i].Err, new(*driver.ReplicasError))
	switch t.op {
	case driver.OpAcquire:
		switch {
		case !late || !accepted && !isUnconfirmed:
			return nothing
		case !a.released && isUnconfirmed: // the release that is to come finds the key
			return nothing
		case !a.released && a.granted && a.raised && t.proposal.isFirst:
			return nothing // the answer to the second token is the one that counts
		case !a.released && a.granted:
			return join
		case !a.released: // the lease or the release that is to come finds this vote in place
			t.early = t.early.With(i)
			return nothing
		case a.freed.Has(i) && !a.raised:
			return nothing
		case a.releasing.Has(i):
			a.owing = a.owing.With(i)
			return nothing
		}
		return takeBack
	case driver.OpRelease:
		one := quorum.Set(0).With(i)
		a.releasing = a.releasing.Without(one)
		owed := a.owing.Has(i)
		a.owing = a.owing.Without(one)
		if accepted {
			a.freed = a.freed.With(i)
		}
		if owed && (!accepted || a.raised) {
			return takeBack
		}
	}
	return nothing
}

// conditions are what an acquire asks of each node beyond free keys.
func (c *Client) conditions(token int64, now time.Time) []driver.Conditions {
	all := make([]driver.Conditions, len(c.nodes))
	for i := range all {
		all[i] = driver.Conditions{Token: token, CounterTTL: c.counterTTL, MaxTTL: c.maxTTL}
	}
	c.watching.confirm(all, &c.settings, now)
	return all
}
