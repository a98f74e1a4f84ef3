package wire

import (
	"context"
	"net"

	"github.com/redis/go-redis/v9"

	"redlocksim/redlock/goredis"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// clients are the go-redis clients of a run.
type clients struct {
	made    []*redis.Client
	intents intents
}

// connect makes the go-redis client of a process. Its connections go over the link.
func (c *clients) connect(client *kernel.Process, l *network.Link) *redis.Client {
	if c.intents == nil {
		c.intents = intents{}
	}
	made := goredis.NewClient(options(func() net.Conn { return &conn{client: client, link: l, intents: c.intents} }))
	c.made = append(c.made, made)
	return made
}

// close closes all clients. Their connections do not fail to close.
func (c clients) close() {
	for _, made := range c.made {
		_ = made.Close()
	}
}

// options of a go-redis client whose connections are simulated.
//
// The pool must never be exhausted: a task that waits for a turn stops the kernel in real time. Crashed clients keep their
// turns. Buffers need not be larger than what a lock sends, and go-redis makes two for each connection.
func options(dial func() net.Conn) *redis.Options {
	return &redis.Options{
		Addr:             "127.0.0.1:6379", // a literal, so that nobody asks the DNS; the dialer does not look at it
		Dialer:           func(context.Context, string, string) (net.Conn, error) { return dial(), nil },
		PoolSize:         256,
		PipelinePoolSize: -1,
		ReadBufferSize:   1024,
		WriteBufferSize:  1024,
		ConnMaxIdleTime:  -1,
		ConnMaxLifetime:  -1,
	}
}
