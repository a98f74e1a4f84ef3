package goredis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisnode"
	"redlocksim/internal/subscription"
	"redlocksim/redlock/driver"
)

// listening is a connection of go-redis on which a server publishes. If it breaks while it receives, go-redis makes another one
// within the context.
type listening struct{ *redis.PubSub }

// subscriber is a client that can make one.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

func subscriptionOf(client subscriber, l *redisnode.Listening, clock driver.Clock, tasks driver.Tasks) *subscription.Subscription {
	connect := func() subscription.Connection {
		return listening{client.Subscribe(context.Background())} // connects to nothing yet
	}
	return subscription.New(connect, l.Told, clock, tasks)
}

// Receive implements subscription.Connection.
func (l listening) Receive(ctx context.Context, wait time.Duration) (channel, text string, err error) {
	defer noPanic(&err)
	came, err := l.ReceiveTimeout(ctx, wait)
	if m, is := came.(*redis.Message); is {
		channel, text = m.Channel, m.Payload
	}
	return channel, text, err
}

// Subscribe implements subscription.Connection.
func (l listening) Subscribe(ctx context.Context, channels ...string) (err error) {
	defer noPanic(&err)
	return l.PubSub.Subscribe(ctx, channels...)
}

// Unsubscribe implements subscription.Connection.
func (l listening) Unsubscribe(ctx context.Context, channels ...string) (err error) {
	defer noPanic(&err)
	return l.PubSub.Unsubscribe(ctx, channels...)
}

// Ping implements subscription.Connection.
func (l listening) Ping(ctx context.Context) (err error) {
	defer noPanic(&err)
	return l.PubSub.Ping(ctx)
}
