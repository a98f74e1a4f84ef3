package goredis

import (
	"errors"

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

// outcomeOf classifies what go-redis gives for a command that got no answer of its own. What it refuses itself before anything
// is sent is refused: redis.ErrPoolTimeout, redis.ErrPoolExhausted, the user's Limiter.
func outcomeOf(err error) driver.Outcome {
	if server := (redis.Error)(nil); errors.As(err, &server) {
		return driver.Failed
	}
	return redisnode.Unanswered(err)
}

var adapter = redisnode.NewAdapter("goredis")

// ErrCommands matches the error of a server that forbids what a lock needs, by an ACL or by rename-command. Such a server does
// not vote: it would keep locks that cannot be extended or released.
var ErrCommands = adapter.ErrCommands
