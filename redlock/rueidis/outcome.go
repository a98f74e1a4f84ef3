package rueidis

import (
	"errors"
	"fmt"

	"github.com/redis/rueidis"

	"redlocksim/internal/redisnode"
	"redlocksim/redlock/driver"
)

// answerTo reads what came of a command.
func answerTo(result rueidis.RedisResult, kind redisnode.Kind) (a redisnode.Answer) {
	message, err := result.ToMessage()
	if err == nil {
		a.Value, err = message.ToAny()
	}
	switch {
	case kind == redisnode.Status && rueidis.IsRedisNil(err):
		a.IsNil = true
	case err != nil:
		a.Err, a.Outcome = err, outcomeOf(err)
	case kind == redisnode.Status:
		a.Status, a.Value = fmt.Sprint(a.Value), nil
	}
	return a
}

// outcomeOf classifies what rueidis gives for a command that got no answer of its own.
func outcomeOf(err error) driver.Outcome {
	if server := (*rueidis.RedisError)(nil); errors.As(err, &server) {
		return driver.Failed
	}
	return redisnode.Unanswered(err)
}
