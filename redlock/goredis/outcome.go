package goredis

import (
	"errors"
	"fmt"
	"net"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock"
)

// replyTo reads the answer to a command. An answer that came is used whatever became of the connection afterwards:
// when a pipeline breaks, go-redis writes the error also into those commands that had been answered.
func replyTo(c *redlock.Command, answer *redis.Cmd) redlock.Reply {
	value, err := answer.Result()
	if value != nil {
		switch {
		case isPlain(c) && value == "OK", !isPlain(c) && value == int64(1):
			return redlock.Reply{Outcome: redlock.Accepted}
		case !isPlain(c) && value == int64(0):
			return redlock.Reply{Outcome: redlock.Declined}
		}
		return redlock.Reply{Outcome: redlock.Failed, Err: fmt.Errorf("goredis: %v was answered with %v", c.Op, value)}
	}
	if isPlain(c) && errors.Is(err, redis.Nil) {
		return redlock.Reply{Outcome: redlock.Declined}
	}
	return redlock.Reply{Outcome: outcomeOf(err), Err: err}
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
