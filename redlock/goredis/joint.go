package goredis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// writeJoint writes out a request for several commands.
func writeJoint(ctx context.Context, r *batch.Request, looks bool) redis.Cmder {
	n := r.Len()
	args := make([]any, 0, 3+n+2+2*n)
	args = append(call(args, r), n)
	for i := range n {
		keys, _, _ := r.Command(i).Arguments()
		args = append(args, keys[0])
	}
	if r.Script == batch.Votes {
		args[2] = n + 1
		args = append(args, driver.GuardKey, int64(r.First.Conditions.MaxTTL/time.Millisecond))
	}
	for i := range n {
		_, value, ttl := r.Command(i).Arguments()
		args = append(args, value)
		if r.Script == batch.Votes {
			args = append(args, ttl)
		}
	}
	if r.Script == batch.Votes && looks {
		args = append(args, firstContact)
	}
	return redis.NewCmd(ctx, args...)
}

// jointReply reads what the answer says to one of the request's commands: 1, 0, or why it failed, or what the guard says
// to all.
func jointReply(r *batch.Request, number int, answer *redis.Cmd) driver.Reply {
	c, value := r.Command(number), answer.Val()
	if value == nil {
		return driver.Reply{Outcome: outcomeOf(answer.Err()), Err: answer.Err()}
	}
	list, _ := value.([]any)
	if len(list) > 0 && r.Script == batch.Votes {
		if code, ok := list[0].(int64); ok && code < 0 {
			return conditionalReply(c, value)
		}
	}
	if len(list) == r.Len()+1 && r.Script == batch.Votes { // the last is what foundPlain reads
		list = list[:r.Len()]
	}
	if len(list) != r.Len() {
		return strange(c, value)
	}
	switch part := list[number].(type) {
	case int64:
		switch part {
		case 1:
			return driver.Reply{Outcome: driver.Accepted}
		case 0:
			return driver.Reply{Outcome: driver.Declined}
		}
	case string:
		return driver.Reply{Outcome: driver.Failed, Err: errors.New(part)}
	}
	return strange(c, value)
}
