package goredis

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
)

// replyTo reads the answer to a command. An answer that came is used whatever became of the connection afterwards:
// when a pipeline breaks, go-redis writes the error also into those commands that had been answered.
func replyTo(c *redlock.Command, answer redis.Cmder) redlock.Reply {
	switch answer := answer.(type) {
	case *redis.StatusCmd:
		switch value := answer.Val(); value {
		case "OK":
			return redlock.Reply{Outcome: redlock.Accepted}
		case "":
		default:
			return strange(c, value)
		}
		if errors.Is(answer.Err(), redis.Nil) {
			return redlock.Reply{Outcome: redlock.Declined}
		}
	case *redis.Cmd:
		switch value := answer.Val(); {
		case value == nil:
		case c.Conditions != nil:
			return conditionalReply(c, value)
		case value == int64(1):
			return redlock.Reply{Outcome: redlock.Accepted}
		case value == int64(0):
			return redlock.Reply{Outcome: redlock.Declined}
		default:
			return strange(c, value)
		}
	}
	return redlock.Reply{Outcome: outcomeOf(answer.Err()), Err: answer.Err()}
}

// conditionalReply reads the answers of vote.lua and prepare.lua.
func conditionalReply(c *redlock.Command, value any) redlock.Reply {
	list, _ := value.([]any)
	if len(list) != 2 {
		return strange(c, value)
	}
	code, isCode := list[0].(int64)
	number, isNumber := list[1].(int64)
	text, isText := list[1].(string)
	switch {
	case !isCode:
	case isText && code == 1 && c.Op == redlock.OpPrepare:
		return redlock.Reply{Outcome: redlock.Accepted, Record: text}
	case isText && code == 0 && c.Op == redlock.OpPrepare:
		return redlock.Reply{Outcome: redlock.Declined, Record: text}
	case isText && code == -2:
		return redlock.Reply{Outcome: redlock.Quarantined, Record: text}
	case isNumber && code == 1:
		return redlock.Reply{Outcome: redlock.Accepted}
	case isNumber && code == 0:
		return redlock.Reply{Outcome: redlock.Declined, Token: number}
	case isNumber && code == -1:
		return redlock.Reply{Outcome: redlock.Behind, Token: number}
	case isNumber && code == -3:
		return redlock.Reply{Outcome: redlock.Failed,
			Err: &redlock.MaxTTLError{Node: time.Duration(number) * time.Millisecond, Client: c.Conditions.MaxTTL}}
	}
	return strange(c, value)
}

func strange(c *redlock.Command, value any) redlock.Reply {
	return redlock.Reply{Outcome: redlock.Failed, Err: fmt.Errorf("goredis: %v was answered with %v", c.Op, value)}
}

// outcomeOf classifies what go-redis gives for a command that got no answer of its own. The order counts: a dial that
// timed out is a node that was not reached, and nothing was sent.
func outcomeOf(err error) redlock.Outcome {
	var (
		server redis.Error
		dial   *net.OpError
		netErr net.Error
	)
	switch {
	case errors.As(err, &server):
		return redlock.Failed
	case errors.As(err, &dial) && dial.Op == "dial":
		return redlock.Refused
	case errors.As(err, &netErr) && netErr.Timeout(): // context.DeadlineExceeded and os.ErrDeadlineExceeded among them
		return redlock.TimedOut
	}
	// A dropped connection, a closed client, and what go-redis itself refuses before anything is sent:
	// redis.ErrPoolTimeout, redis.ErrPoolExhausted, the user's Limiter. No reply is going to come from any of them.
	return redlock.Refused
}
