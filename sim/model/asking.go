package model

import (
	"fmt"
	"strings"

	"redlocksim/internal/batch"
	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// Name implements redis.Request: whatever the library asks writes.
func (x *exchange) Name() string { return "EVALSHA" }

// Answer implements redis.Request.
func (x *exchange) Answer(value any) {
	requests := x.message.Requests()
	x.answers = make([]answer, min(x.Arriving(x.Requests()), len(requests)))
	x.unconfirmed = driver.Reply{Outcome: driver.Failed}
	switch text := value.(type) {
	case rediscmd.ServerError:
		x.unconfirmed.Err = text
	default: // no number, so that go-redis gives the connection up
		x.unconfirmed = driver.Reply{Outcome: driver.Refused, Err: fmt.Errorf("redis: can't parse int reply: %q", fmt.Sprint("+", text))}
	}
	for i := range x.answers {
		a, r := &x.answers[i], &requests[i]
		a.all.Outcome = driver.Failed
		switch text := value.(type) {
		case rediscmd.ServerError:
			a.all.Err = text
		default:
			a.all.Err = fmt.Errorf("goredis: %v was answered with %v", r.First.Op, text)
			if !r.Script.IsPlain() {
				a.fate = batch.Ran // as far as the shipped adapter can tell
			}
		}
	}
}

// Name implements redis.Request.
func (x *request) Name() string {
	if x.Script != nil {
		return "EVALSHA"
	}
	return strings.ToUpper(x.Args[0])
}

// Answer implements redis.Request.
func (x *request) Answer(value any) {
	switch answer := value.(type) {
	case rediscmd.ServerError:
		x.reply = rediscmd.Reply{Err: answer}
	case rediscmd.Status:
		x.reply = rediscmd.Reply{Value: string(answer)}
	default:
		x.reply = rediscmd.Reply{Value: value}
	}
}

// Commands implements redis.Request.
func (x *exchange) Commands(all []redis.Command) []redis.Command {
	requests, values := x.message.Requests(), x.one.value[:0]
	for i := range requests {
		for j := range requests[i].Len() {
			c := requests[i].Command(j)
			values = append(values, c.Value)
			all = append(all, redis.Command{Intent: redis.IntentOfOp(c.Op), Keys: c.Keys, Shares: j > 0, Args: values[len(values)-1:], Deadline: c.Deadline,
				Source: x.source(&requests[i]), Answer: x.outcome(i, j)})
		}
	}
	return all
}

// sources stand for those of the shipped adapter's scripts.
var sources = [batch.NumScripts]string{batch.Acquire: "acquire", batch.Vote: "vote", batch.Extend: "extend", batch.Release: "release",
	batch.Prepare: "prepare", batch.Votes: "votes", batch.Releases: "releases"}

// source is the script that a request carries in full.
func (x *exchange) source(r *batch.Request) string {
	switch {
	case r.Script == batch.None && x.message.Looks():
		return sources[batch.Acquire]
	case r.InFull:
		return sources[r.Script]
	}
	return ""
}

// outcome is what the node has answered to one of the commands of a request.
func (x *exchange) outcome(request, command int) driver.Outcome {
	switch {
	case request >= len(x.answers):
		return driver.Unanswered
	case x.answers[request].fate == batch.Missed:
		return driver.Failed
	}
	return x.answers[request].reply(command).Outcome
}

// Commands implements redis.Request.
func (x *request) Commands(all []redis.Command) []redis.Command {
	if x.Script != nil {
		return append(all, redis.ScriptCommand(x.Script, x.Keys, x.Argv, x.deadline))
	}
	return append(all, redis.PlainCommand(x.Args, x.deadline))
}

var _, _ redis.Request = (*exchange)(nil), (*request)(nil)

// Phrases implements redis.Request.
func (x *request) Phrases() []redis.Phrase { return nil }

// Phrases implements redis.Request: what the shipped adapter would send.
func (x *exchange) Phrases() []redis.Phrase {
	requests := x.message.Requests()
	all := make([]redis.Phrase, len(requests))
	for i := range requests {
		r, p := &requests[i], &all[i]
		switch {
		case r.Script == batch.None && x.message.Looks(), r.InFull:
			p.Command = "EVAL"
		case r.Script.IsPlain():
			p.Command = names[r.Script]
		default:
			p.Command = "EVALSHA"
		}
		for j := range r.Len() {
			p.Keys += len(r.Command(j).Keys)
		}
		if r.Line != nil {
			p.Keys += 2 * len(r.First.Keys)
		}
		if q := r.First.Conditions; q != nil && r.First.Op == driver.OpAcquire {
			if q.Token != 0 {
				p.Keys += len(r.First.Keys)
			}
			if q.MaxTTL != 0 {
				p.Keys++
			}
		}
	}
	if x.patience > 0 {
		all = append(all, redis.Phrase{Command: "WAIT", Keys: 1})
	}
	return all
}
