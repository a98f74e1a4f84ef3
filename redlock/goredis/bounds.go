package goredis

import (
	"context"
	"fmt"
	"runtime"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/resp"
)

// bounds is how much a reply of a server may take. go-redis believes servers: it takes the memory for a list of 10^9
// elements when one is announced, and panics at a length of 2^63-1. So replies are bounded below it, at the connection,
// which ends at one that is too large. Its command is then Refused.
type bounds int

// dialer has all connections of a client bounded, also those that it makes before it is handed out.
func (b bounds) dialer(o *redis.Options) resp.Dial {
	dial := o.Dialer // the caller's own
	if dial == nil {
		dial = redis.NewDialer(o)
	}
	return resp.Dialer(dial, int(b))
}

// DialHook implements redis.Hook, for clients of the caller's own: what they dial from now on is bounded.
func (b bounds) DialHook(next redis.DialHook) redis.DialHook {
	return resp.Dialer(next, int(b))
}

// ProcessHook and ProcessPipelineHook implement redis.Hook: there is nothing to do.
func (bounds) ProcessHook(redis.ProcessHook) redis.ProcessHook                         { return nil }
func (bounds) ProcessPipelineHook(redis.ProcessPipelineHook) redis.ProcessPipelineHook { return nil }

// process has go-redis send a command, and run several. A panic of it at what a server says is the error of the
// commands.
func process(ctx context.Context, client *redis.Client, sent redis.Cmder) {
	defer func() {
		if err := panicked(recover()); err != nil {
			sent.SetErr(err)
		}
	}()
	_ = client.Process(ctx, sent)
}

func run(ctx context.Context, pipeline redis.Pipeliner, sent []redis.Cmder) {
	defer func() {
		if err := panicked(recover()); err != nil {
			for _, c := range sent {
				c.SetErr(err)
			}
		}
	}()
	_, _ = pipeline.Exec(ctx)
}

// noPanic has a call of go-redis return such a panic as its error.
func noPanic(err *error) {
	if p := panicked(recover()); p != nil {
		*err = p
	}
}

// panicked is the error that a panic stands for which was recovered; nil for none. What is no error of the runtime was
// meant, by a hook or a Runtime of the caller's, and goes on.
func panicked(p any) error {
	if p == nil {
		return nil
	}
	if err, is := p.(runtime.Error); is {
		return fmt.Errorf("goredis: panic in go-redis: %w", err)
	}
	panic(p)
}
