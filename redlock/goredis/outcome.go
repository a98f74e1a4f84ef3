package goredis

import (
	"errors"
	"net"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisnode"
	"redlocksim/redlock/driver"
)

// answerTo reads what came of a command. An answer that came is used whatever became of the connection afterwards: when a
// pipeline breaks, go-redis writes the error also into those commands that had been answered.
func answerTo(sent redis.Cmder) (a redisnode.Answer) {
	switch sent := sent.(type) {
	case *redis.StatusCmd:
		a.Status, a.IsNil = sent.Val(), errors.Is(sent.Err(), redis.Nil)
	case *redis.IntCmd:
		if sent.Err() == nil || sent.Val() != 0 {
			a.Value = sent.Val()
		}
	case *redis.Cmd:
		a.Value = sent.Val()
	}
	if a.Err = sent.Err(); a.Err != nil {
		a.Outcome = outcomeOf(a.Err)
	}
	return a
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
