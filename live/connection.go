//go:build linux

package live

import (
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
)

// connection is a plain connection to a node.
type connection struct {
	host  *host
	name  string
	redis *redis.Client
	plain redisconn.Conn
}

func (c *connection) Node() string { return c.name }

func (c *connection) Do(deadline time.Time, r rediscmd.Request) rediscmd.Reply {
	c.host.Leave()
	defer c.host.Enter()
	return c.plain.Do(deadline, r)
}
