package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/goredis"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// clients are what clients have opened in a run, and the connections that go-redis makes for them.
type clients struct {
	closers []func() error
	intents intents
	open    atomic.Int64 // how many connections there are
}

// client makes a go-redis client of a process over a link in place of TCP, for the library or for a program that does without
// it.
//
// It has less than go-redis takes by default. The pool must never be exhausted: a task that waits for a turn stops the kernel
// in real time. Crashed clients keep their turns. Buffers need not be larger than what a lock sends, and go-redis makes two for
// each connection.
func (c *clients) client(process *kernel.Process, l *network.Link, isOfLibrary bool) *redis.Client {
	made := goredis.NewClient(&redis.Options{
		// The address is a literal, so that nobody asks the DNS; the dialer does not look at it.
		Addr: "10.0.0.1:6379",
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return c.connect(process, l, isOfLibrary), nil
		},
		PoolSize: 256, ReadBufferSize: 1024, WriteBufferSize: 1024, ConnMaxIdleTime: -1, ConnMaxLifetime: -1,
	})
	c.closers = append(c.closers, made.Close)
	return made
}

// close closes what was opened, which must leave no connection behind.
func (c *clients) close() error {
	var errs []error
	for _, end := range c.closers {
		errs = append(errs, end())
	}
	if n := c.open.Load(); n > 0 {
		errs = append(errs, fmt.Errorf("wire: the clients are closed, and %d of their connections are not", n))
	}
	return errors.Join(errs...)
}
