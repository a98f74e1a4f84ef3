package goredis

import (
	"context"
	"slices"
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

// looks reports whether acquires are to find out what the server allows. A server that allows plain commands alone is asked
// again by those that need more.
func (n *Node) looks(commands []*driver.Command, known batch.Scripts) bool {
	if n.able.Load() {
		return false
	}
	return !known.Has(batch.PlainOnly) || slices.ContainsFunc(commands, func(c *driver.Command) bool {
		return c.Op == driver.OpAcquire && !batch.SuitsPlain(c)
	})
}

// trial is what a batch has met so far.
type trial struct {
	isBarred bool // by a server that forbids scripts
	isOver   bool // which has been asked for its plain commands
}

// bars reports whether a server forbids scripts in its answer to a command that plain commands could be enough for.
func (t *trial) bars(c *driver.Command, err error) bool {
	if t.isOver || !isScriptForbidden(err) || !batch.SuitsPlain(c) {
		return false
	}
	t.isBarred = true
	return true
}

// instead is what the node knows when it is sent a command again: nothing, unless it forbids scripts and has plain commands.
func (n *Node) instead(c *driver.Command, t *trial) batch.Scripts {
	if n.known.DoubtPlain() {
		n.able.Store(false)
	}
	if !t.isBarred || t.isOver {
		return 0
	}
	t.isOver = true
	n.known.LearnPlain(n.findPlain(c))
	return n.known.Scripts()
}

// findPlain asks a server that forbids scripts for the plain commands that a lock needs: it tries them with a value that no key
// has. The result is as for batch.Known.LearnPlain, and 0 if they are not enough.
func (n *Node) findPlain(c *driver.Command) (found int64) {
	ctx, cancel := n.clock.WithDeadline(context.Background(), c.Deadline)
	defer cancel()
	key, value := c.Keys[0], c.Value+"?"
	tries := []redis.Cmder{redis.NewCmd(ctx, "delifeq", key, value), redis.NewCmd(ctx, "delex", key, "ifeq", value),
		redis.NewStatusCmd(ctx, "set", key, value, "ifeq", value, "px", 1)}
	pipeline := n.client.Pipeline()
	_ = pipeline.BatchProcess(ctx, tries...)
	_, _ = pipeline.Exec(ctx)
	for i, try := range tries {
		if try.Err() == nil || try.Err() == redis.Nil {
			found |= 1 << i
		}
	}
	if found < 5 { // SET IFEQ and one that deletes
		return 0
	}
	return found | 8
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
