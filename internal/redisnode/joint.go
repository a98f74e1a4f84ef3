package redisnode

import (
	"errors"
	"slices"
	"time"

	"redlocksim/internal/batch"
	"redlocksim/redlock/driver"
)

// appendJoint writes out a request for several commands.
func appendJoint(args []any, r *batch.Request, looks bool) []any {
	n := r.Len()
	args = slices.Grow(args, 3+n+2+2*n)
	args = call(args, r)
	count := len(args)
	args = append(args, n)
	for i := range n {
		keys, _, _ := batch.Arguments(r.Command(i))
		args = append(args, keys[0])
	}
	if r.Script == batch.Votes {
		args[count] = n + 1
		args = append(args, driver.GuardKey, int64(r.First.Conditions.MaxTTL/time.Millisecond))
	}
	for i := range n {
		_, value, ttl := batch.Arguments(r.Command(i))
		args = append(args, value)
		if r.Script == batch.Votes {
			args = append(args, ttl)
		}
	}
	if r.Script == batch.Votes && looks {
		args = append(args, firstContact)
	}
	return args
}

// jointReply reads what the answer says to one of the request's commands: 1, 0, or why it failed, or what the guard says
// to all.
func (of *Adapter) jointReply(r *batch.Request, number int, a Answer) driver.Reply {
	c := r.Command(number)
	if a.Value == nil {
		return a.none()
	}
	list, _ := a.Value.([]any)
	if len(list) > 0 && r.Script == batch.Votes {
		if code, ok := list[0].(int64); ok && code < 0 {
			return of.conditionalReply(c, a.Value)
		}
	}
	if len(list) == r.Len()+1 && r.Script == batch.Votes { // the last is what foundPlain reads
		list = list[:r.Len()]
	}
	if len(list) != r.Len() {
		return of.strange(c, a.Value)
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
	return of.strange(c, a.Value)
}
