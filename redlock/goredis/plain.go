package goredis

import (
	"context"
	"strings"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// Servers since Valkey 8.1 and Redis 8.4 have commands that compare a key's value and set or delete the key. Such a plain
// command costs a server a small part of what a script does, and may be allowed to users to whom scripts are not. Which ones a
// server has and allows is found out by the script of the first contact, which tries them on a free key; or by findPlain, if
// the server forbids scripts. A server that turns out not to have one after all, as after a failover, gets a script instead.

// The last argument of a script that is the first contact: to look whether the lock can be extended and released, by a script
// or by plain commands as well.
const (
	firstContact      = "first"
	firstContactPlain = "plain"
)

// firstContactOf is what an acquire wants to know.
func firstContactOf(c *driver.Command) string {
	if batch.SuitsPlain(c) {
		return firstContactPlain
	}
	return firstContact
}

// trial is a batch's, with why it is one.
type trial struct {
	batch.Trial
	why error // the last error that forbade a script
}

// bars is Bars of a command that a server has answered with an error.
func (t *trial) bars(c *driver.Command, err error, known batch.Scripts) bool {
	if !isScriptForbidden(err) || !t.Bars(c, known) {
		return false
	}
	t.why = err
	return true
}

// findPlain asks a server that forbids scripts for the plain commands that a lock needs: it tries them with a value that no key
// has. The result is as for batch.FoundEnough.
func (n *Node) findPlain(c *driver.Command) (found int64) {
	ctx, cancel := n.clock.WithDeadline(context.Background(), c.Deadline)
	defer cancel()
	key, value := c.Keys[0], c.Value+"?"
	delIfEq, delEx := redis.NewCmd(ctx, "delifeq", key, value), redis.NewCmd(ctx, "delex", key, "ifeq", value)
	setIfEq := redis.NewStatusCmd(ctx, "set", key, value, "ifeq", value, "px", 1)
	pipeline := n.client.Pipeline()
	_ = pipeline.BatchProcess(ctx, delIfEq, delEx, setIfEq)
	_, _ = pipeline.Exec(ctx)
	if delIfEq.Val() == int64(0) {
		found = 1
	}
	if delEx.Val() == int64(0) {
		found |= 2
	}
	if setIfEq.Err() == redis.Nil {
		found |= 4
	}
	return found
}

// writePlain writes out a request that a plain command carries out.
func writePlain(ctx context.Context, r *batch.Request) redis.Cmder {
	keys, value, ttl := r.First.Arguments()
	switch r.Script {
	case batch.DelIfEq:
		return redis.NewCmd(ctx, "delifeq", keys[0], value)
	case batch.DelEx:
		return redis.NewCmd(ctx, "delex", keys[0], "ifeq", value)
	}
	return redis.NewStatusCmd(ctx, "set", keys[0], value, "ifeq", value, "px", ttl)
}

// isPlainUnknown reports whether a server said that it has no such command, or does not allow it: it has done nothing.
func isPlainUnknown(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	return isForbidden(err) || strings.HasPrefix(text, "ERR syntax error") || strings.HasPrefix(text, "ERR wrong number of arguments")
}

// foundPlain is what the script of the first contact has found, which it adds to its answer; 0 if that is nothing.
func foundPlain(r *batch.Request, answer redis.Cmder) int64 {
	of, isScript := answer.(*redis.Cmd)
	if !isScript {
		return 0
	}
	list, _ := of.Val().([]any)
	without := 1
	switch r.Script {
	case batch.Vote:
		without = 2
	case batch.Votes:
		without = r.Len()
	}
	if len(list) != without+1 {
		return 0
	}
	found, _ := list[without].(int64)
	return found
}
