//go:build linux

package client

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/rediscmd/redisconn"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
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

// subscription is a connection over which a node publishes. If a partition loses something on it, TCP cannot continue. So it
// reconnects, as clients of Redis do: what was published meanwhile is lost, as in the simulator, and the subscription goes on.
// If reconnecting fails it is broken. It would also reconnect after a reset, which breaks it in the simulator; so scenarios
// whose clients subscribe cannot have resets on this tier.
type subscription struct {
	rediscmd.Inbox // under the turn
	turn           *turn
	pubsub         *redis.PubSub
	cancel         context.CancelFunc
}

func (c *connection) Subscribe(channel string) protocols.Subscription {
	ctx, cancel := context.WithCancel(context.Background())
	inbox := rediscmd.NewInbox(turnClock{c.clock, c.turn}, turnTasks{c.turn}.NewWaiter())
	s := &subscription{Inbox: inbox, turn: c.turn, pubsub: c.redis.Subscribe(ctx), cancel: cancel}
	go s.listen(ctx, channel)
	return s
}

// listen reads what the node sends until the subscription is closed or broken.
func (s *subscription) listen(ctx context.Context, channel string) {
	_ = s.pubsub.Subscribe(ctx, channel) // Receive returns an error again, and then subscribes
	for failed := 0; failed < 2; {
		message, err := s.pubsub.Receive(ctx)
		s.turn.Enter()
		switch message := message.(type) {
		case *redis.Subscription:
			failed = 0
			s.Confirmed()
		case *redis.Message:
			s.Deliver(message.Payload)
		}
		if err != nil {
			if failed++; failed == 2 {
				s.Break()
			}
		}
		s.turn.Leave()
		if ctx.Err() != nil {
			return
		}
	}
}

func (s *subscription) Close() {
	s.cancel()
	go s.pubsub.Close() // which waits while a connection is being made
}
