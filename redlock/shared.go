package redlock

import (
	"context"
	"time"

	"redlocksim/redlock/driver"
)

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
