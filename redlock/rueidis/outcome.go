package rueidis

import (
	"errors"
	"fmt"
	"runtime"

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
		return noAnswer(err)
	case kind == redisnode.Status:
		a.Status, a.Value = fmt.Sprint(a.Value), nil
	}
	return a
}

// noAnswer reads what rueidis gives for a command that got no answer of its own.
func noAnswer(err error) redisnode.Answer {
	if server := (*rueidis.RedisError)(nil); errors.As(err, &server) {
		return redisnode.Answer{Err: err, Outcome: driver.Failed}
	}
	return redisnode.Answer{Err: err, Outcome: redisnode.Unanswered(err)}
}

// noPanic has a call of rueidis return a panic at what a server says as its error.
func noPanic(err *error) {
	if p := panicked(recover()); p != nil {
		*err = p
	}
}

// panicked is the error that a panic stands for which was recovered; nil for none. What is neither an error of the
// runtime nor one of rueidis' texts was meant, by a Runtime of the caller's, and goes on.
func panicked(p any) error {
	switch p := p.(type) {
	case nil:
		return nil
	case runtime.Error, string:
		return fmt.Errorf("rueidis: panic in rueidis: %v", p)
	}
	panic(p)
}
