//go:build linux

package client

import (
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/redlock/driver"
)

// connection is a plain connection to a node.
type connection struct {
	turn  *turn
	clock driver.Clock
	name  string
	redis *redis.Client
	plain redisconn.Conn
}

func newConnection(t *turn, clock driver.Clock, name string, rc *redis.Client) *connection {
	return &connection{turn: t, clock: clock, name: name, redis: rc, plain: redisconn.New(rc, clock)}
}

func (c *connection) Node() string { return c.name }

func (c *connection) Do(deadline time.Time, r rediscmd.Request) rediscmd.Reply {
	c.turn.Leave()
	defer c.turn.Enter()
	return c.plain.Do(deadline, r)
}
