package goredis

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/driver"
)

// replyTo reads the answer to a command. An answer that came is used whatever became of the connection afterwards:
// when a pipeline breaks, go-redis writes the error also into those commands that had been answered.
func replyTo(c *driver.Command, answer redis.Cmder) driver.Reply {
	switch answer := answer.(type) {
	case *redis.StatusCmd:
		switch value := answer.Val(); value {
		case "OK":
			return driver.Reply{Outcome: driver.Accepted}
		case "":
		default:
			return strange(c, value)
		}
		if errors.Is(answer.Err(), redis.Nil) {
			return driver.Reply{Outcome: driver.Declined}
		}
	case *redis.Cmd:
		switch value := answer.Val(); {
		case value == nil:
		case c.Conditions != nil:
			return conditionalReply(c, value)
		case isGrantWithPlain(c, value):
			return driver.Reply{Outcome: driver.Accepted}
		case value == int64(1):
			return driver.Reply{Outcome: driver.Accepted}
		case value == int64(0):
			return driver.Reply{Outcome: driver.Declined}
		default:
			return strange(c, value)
		}
	}
	return driver.Reply{Outcome: outcomeOf(answer.Err()), Err: answer.Err()}
}

// isGrantWithPlain reports whether a value is acquire.lua's grant with the plain commands that it found.
func isGrantWithPlain(c *driver.Command, value any) bool {
	list, _ := value.([]any)
	return c.Op == driver.OpAcquire && len(list) == 2 && list[0] == int64(1)
}

// conditionalReply reads the answers of vote.lua and prepare.lua.
func conditionalReply(c *driver.Command, value any) driver.Reply {
	list, _ := value.([]any)
	if len(list) == 3 && list[0] == int64(1) { // the third is what foundPlain reads
		list = list[:2]
	}
	if len(list) != 2 {
		return strange(c, value)
	}
	code, isCode := list[0].(int64)
	number, isNumber := list[1].(int64)
	text, isText := list[1].(string)
	switch {
	case !isCode:
	case isText && code == 1 && c.Op == driver.OpPrepare:
		return driver.Reply{Outcome: driver.Accepted, Record: text}
	case isText && code == 0 && c.Op == driver.OpPrepare:
		return driver.Reply{Outcome: driver.Declined, Record: text}
	case isText && code == -2:
		return driver.Reply{Outcome: driver.Quarantined, Record: text}
	case isNumber && code == 1:
		return driver.Reply{Outcome: driver.Accepted}
	case isNumber && code == 0:
		return driver.Reply{Outcome: driver.Declined, Token: number}
	case isNumber && code == -1:
		return driver.Reply{Outcome: driver.Behind, Token: number}
	case isNumber && code == -3:
		return driver.Reply{Outcome: driver.Failed,
			Err: &driver.MaxTTLError{Node: time.Duration(number) * time.Millisecond, Client: c.Conditions.MaxTTL}}
	}
	return strange(c, value)
}

func strange(c *driver.Command, value any) driver.Reply {
	return driver.Reply{Outcome: driver.Failed, Err: fmt.Errorf("goredis: %v was answered with %v", c.Op, value)}
}

// outcomeOf classifies what go-redis gives for a command that got no answer of its own. The order counts: a dial that
// timed out is a node that was not reached, and nothing was sent.
func outcomeOf(err error) driver.Outcome {
	var (
		server redis.Error
		dial   *net.OpError
		netErr net.Error
	)
	switch {
	case errors.As(err, &server):
		return driver.Failed
	case errors.As(err, &dial) && dial.Op == "dial":
		return driver.Refused
	case errors.As(err, &netErr) && netErr.Timeout(): // context.DeadlineExceeded and os.ErrDeadlineExceeded among them
		return driver.TimedOut
	}
	// A dropped connection, a closed client, and what go-redis itself refuses before anything is sent:
	// redis.ErrPoolTimeout, redis.ErrPoolExhausted, the user's Limiter. No reply is going to come from any of them.
	return driver.Refused
}
