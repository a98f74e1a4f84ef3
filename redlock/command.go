package redlock

import (
	"context"
	"time"

	"redlocksim/internal/quorum"
	"redlocksim/redlock/driver"
)

// nodeCommand is a command of a round for one node, with what the client keeps of it. It lends the node what the commands of
// the round share.
type nodeCommand struct {
	driver.Command
	round *round
	node  int    // index of the node in the client
	batch *batch // with which it went, until it is answered

	ownDeadline bool // the Deadline is not that of its round
}

var _ driver.Shared = (*nodeCommand)(nil)

// answered is the Done of the commands that a client makes.
func answered(command *driver.Command, reply driver.Reply) {
	cmd := command.Shared.(*nodeCommand)
	cmd.round.answer(cmd, reply)
	cmd.round.acquisition.client.batchers[cmd.node].answered(cmd)
}

// isMoot reports whether the acquisition is being released: other commands that were not sent yet would only be in the way.
func (cmd *nodeCommand) isMoot() bool {
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
		a.keyArgs, a.valueArg = driver.KeyArguments(a.keys), a.value
	}
	if r.ttlArg == nil {
		r.ttlOfArg, r.ttlArg = ofTTL, int64(ofTTL/time.Millisecond)
	}
	keys, value, ttl = a.keyArgs, a.valueArg, r.ttlArg
	if len(ofKeys) != len(a.keys) || len(a.keys) > 0 && &ofKeys[0] != &a.keys[0] {
		keys = driver.KeyArguments(ofKeys)
	}
	if ofValue != a.value {
		value = ofValue
	}
	if ofTTL != r.ttlOfArg {
		ttl = int64(ofTTL / time.Millisecond)
	}
	return keys, value, ttl
}
