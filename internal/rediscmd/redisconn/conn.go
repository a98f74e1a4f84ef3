// Package redisconn sends the requests of package rediscmd over go-redis: on the tier of the simulator that speaks RESP, and
// for clients of real servers.
package redisconn

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
)

// Conn is the connections of a go-redis client, which must be one of goredis.NewClient.
type Conn struct {
	client *redis.Client
	clock  driver.Clock
}

// New makes a Conn whose deadlines are readings of clock.
func New(client *redis.Client, clock driver.Clock) Conn { return Conn{client, clock} }

// hashes are the scripts' hashes, by the *rediscmd.Script.
var hashes sync.Map

// Do sends a request and waits for the reply, at most until the clock reads deadline. A script is sent by its hash, and in
// full to a server that does not know it.
func (c Conn) Do(deadline time.Time, r rediscmd.Request) rediscmd.Reply {
	if r.Script == nil {
		return c.roundTrip(deadline, words(r.Args))
	}
	hash, ok := hashes.Load(r.Script)
	if !ok {
		hash, _ = hashes.LoadOrStore(r.Script, redis.NewScript(r.Script.Lua).Hash())
	}
	rest := append([]any{len(r.Keys)}, append(words(r.Keys), words(r.Argv)...)...)
	reply := c.roundTrip(deadline, append([]any{"evalsha", hash}, rest...))
	e, isError := reply.Err.(rediscmd.ServerError)
	if !isError || !strings.HasPrefix(string(e), "NOSCRIPT") {
		return reply
	}
	if !c.clock.Now().Before(deadline) {
		return rediscmd.Reply{Err: rediscmd.ErrTimeout}
	}
	return c.roundTrip(deadline, append([]any{"eval", r.Script.Lua}, rest...))
}

func words(texts []string) []any {
	all := make([]any, len(texts))
	for i, t := range texts {
		all[i] = t
	}
	return all
}

func (c Conn) roundTrip(deadline time.Time, args []any) rediscmd.Reply {
	ctx, cancel := c.clock.WithDeadline(context.Background(), deadline)
	defer cancel()
	value, err := c.client.Do(ctx, args...).Result()
	if errors.Is(err, redis.Nil) {
		return rediscmd.Reply{}
	}
	if err != nil {
		return rediscmd.Reply{Err: asReplied(err)}
	}
	return rediscmd.Reply{Value: value}
}

// asReplied is an error of go-redis as package rediscmd has it: ErrTimeout for a deadline that has passed, ErrReset for a
// connection that was refused or has ended, a ServerError for what a server answered, and any other as it is.
func asReplied(err error) error {
	var server redis.Error
	var op *net.OpError
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return rediscmd.ErrTimeout
	case errors.As(err, &op), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return rediscmd.ErrReset
	case errors.As(err, &server):
		return rediscmd.ServerError(server.Error())
	}
	return err
}
