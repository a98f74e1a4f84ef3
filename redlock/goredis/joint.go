package goredis

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
)

// kind is how commands can be joined: several of one kind go to the server as one script, which answers with a list.
// Starting a script costs the server more than what most of them do, and the restart guard's look at the server's run far
// more.
type kind uint8

const (
	alone kind = iota
	release
	vote
	kinds
)

// kindOf: a release of one key, which nobody is told of, or an acquire of one key under the restart guard, without a token
// and with no quarantine to end. guard is the largest TTL of those votes that are joined.
func kindOf(c *redlock.Command, guard time.Duration) kind {
	switch q := c.Conditions; {
	case len(c.Keys) != 1:
	case c.Op == redlock.OpRelease && !c.Wake:
		return release
	case c.Op == redlock.OpAcquire && q != nil && q.MaxTTL != 0 && q.MaxTTL == guard && q.Token == 0 && q.Watched == "":
		return vote
	}
	return alone
}

// step is one request of a pipeline, for one command or several of a kind.
type step struct {
	kind    kind
	first   *redlock.Command
	others  []*redlock.Command
	script  *script // nil for a plain SET
	answer  redis.Cmder
	answers int // how many of the commands were answered
}

// plan arranges a batch in steps, and says in which of them each command is. A command joins an earlier one of its kind
// unless something in between concerns its key: for each key the order is kept.
func plan(commands []*redlock.Command) (steps []step, of []int) {
	var guard time.Duration
	for _, c := range commands {
		if c.Conditions != nil && c.Conditions.MaxTTL != 0 {
			guard = c.Conditions.MaxTTL
			break
		}
	}
	separate := int(kinds)
	for _, c := range commands {
		if kindOf(c, guard) == alone {
			separate++
		}
	}
	steps, of = make([]step, 0, min(separate, len(commands))), make([]int, len(commands))
	var open [kinds]int // the last step of a kind, from 1
	for i, c := range commands {
		k := kindOf(c, guard)
		at := open[k] - 1
		isLast := at == len(steps)-1 // as in a client's batches, which begin with its releases
		if k != alone && at >= 0 && (isLast || !isTouched(c.Keys[0], commands[:i], of, at)) {
			s := &steps[at]
			s.others = append(s.others, c)
			of[i] = at
			continue
		}
		steps = append(steps, step{kind: k, first: c})
		open[k], of[i] = len(steps), len(steps)-1
	}
	return steps, of
}

// isTouched reports whether one of those commands, which are in these steps, concerns the key after the step at.
func isTouched(key string, commands []*redlock.Command, of []int, at int) bool {
	for i, c := range commands {
		if of[i] > at && slices.Contains(c.Keys, key) {
			return true
		}
	}
	return false
}

// isJoint reports whether the step has several commands.
func (s *step) isJoint() bool { return len(s.others) > 0 }

// request writes the step out, its script by the hash if it is one of those known.
func (s *step) request(ctx context.Context, known uint32) redis.Cmder {
	switch {
	case s.isJoint() && s.kind == release:
		s.script = releasesScript
	case s.isJoint():
		s.script = votesScript
	case !isPlain(s.first):
		s.script = scriptOf(s.first)
	}
	if !s.isJoint() {
		s.answer = request(ctx, s.first, known)
		return s.answer
	}
	n := 1 + len(s.others)
	args := make([]any, 0, 3+n+2+2*n)
	args = append(s.script.call(args, known), n)
	for i := range n {
		keys, _, _ := s.command(i).Arguments()
		args = append(args, keys[0])
	}
	if s.kind == vote {
		args[2] = n + 1
		args = append(args, redlock.GuardKey, int64(s.first.Conditions.MaxTTL/time.Millisecond))
	}
	for i := range n {
		_, value, ttl := s.command(i).Arguments()
		args = append(args, value)
		if s.kind == vote {
			args = append(args, ttl)
		}
	}
	s.answer = redis.NewCmd(ctx, args...)
	return s.answer
}

func (s *step) command(i int) *redlock.Command {
	if i == 0 {
		return s.first
	}
	return s.others[i-1]
}

// replyTo reads what the answer says to the next of the step's commands: of a joint 1, 0, or why it failed, or what the
// guard says to all.
func (s *step) replyTo(c *redlock.Command) redlock.Reply {
	if !s.isJoint() {
		return replyTo(c, s.answer)
	}
	number := s.answers
	s.answers++
	answer := s.answer.(*redis.Cmd)
	value := answer.Val()
	if value == nil {
		return redlock.Reply{Outcome: outcomeOf(answer.Err()), Err: answer.Err()}
	}
	list, _ := value.([]any)
	if len(list) > 0 && s.kind == vote {
		if code, ok := list[0].(int64); ok && code < 0 {
			return conditionalReply(c, value)
		}
	}
	if len(list) != 1+len(s.others) {
		return strange(c, value)
	}
	switch part := list[number].(type) {
	case int64:
		switch part {
		case 1:
			return redlock.Reply{Outcome: redlock.Accepted}
		case 0:
			return redlock.Reply{Outcome: redlock.Declined}
		}
	case string:
		return redlock.Reply{Outcome: redlock.Failed, Err: errors.New(part)}
	}
	return strange(c, value)
}
