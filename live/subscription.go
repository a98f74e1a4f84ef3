//go:build linux

package live

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// subscription is a connection over which a node publishes. If a partition loses something on it, TCP cannot continue. So it
// reconnects, as clients of Redis do: what was published meanwhile is lost, as in the simulator, and the subscription goes on.
// If reconnecting fails it is broken. It would also reconnect after a reset, which breaks it in the simulator; so scenarios
// whose clients subscribe cannot have resets on this tier.
type subscription struct {
	host   *host
	pubsub *redis.PubSub
	cancel context.CancelFunc
	waiter driver.Waiter

	// Under the turn:
	confirmed bool
	broken    bool
	heard     []string
}

// Subscribe implements protocols.Redis.
func (c *connection) Subscribe(channel string) protocols.Subscription {
	ctx, cancel := context.WithCancel(context.Background())
	s := &subscription{host: c.host, pubsub: c.redis.Subscribe(ctx), cancel: cancel, waiter: c.host.Tasks().NewWaiter()}
	go s.listen(ctx, channel)
	return s
}

// listen reads what the node sends until the subscription is closed or broken.
func (s *subscription) listen(ctx context.Context, channel string) {
	_ = s.pubsub.Subscribe(ctx, channel) // Receive returns an error again, and then subscribes
	for failed := 0; failed < 2; {
		message, err := s.pubsub.Receive(ctx)
		s.host.Enter()
		switch message := message.(type) {
		case *redis.Subscription:
			failed, s.confirmed = 0, true
		case *redis.Message:
			s.heard = append(s.heard, message.Payload)
		}
		if err != nil {
			failed++
			s.broken = failed == 2
		}
		s.waiter.Wake()
		s.host.Leave()
		if ctx.Err() != nil {
			return
		}
	}
}

// Confirm implements protocols.Subscription.
func (s *subscription) Confirm(ctx context.Context, deadline time.Time) error {
	return s.await(ctx, deadline, func() bool { return s.confirmed })
}

// Next implements protocols.Subscription.
func (s *subscription) Next(ctx context.Context, deadline time.Time) (string, error) {
	if err := s.await(ctx, deadline, func() bool { return len(s.heard) > 0 }); err != nil {
		return "", err
	}
	message := s.heard[0]
	s.heard = s.heard[1:]
	return message, nil
}

func (s *subscription) await(ctx context.Context, deadline time.Time, isReady func() bool) error {
	clock := s.host.LockClock()
	late := false
	timer := clock.AfterFunc(deadline.Sub(clock.Now()), func() { late = true; s.waiter.Wake() })
	defer timer.Stop()
	for {
		switch {
		case isReady():
			return nil
		case s.broken:
			return rediscmd.ErrReset
		case ctx.Err() != nil:
			return ctx.Err()
		case late:
			return rediscmd.ErrTimeout
		}
		s.waiter.Wait(ctx)
	}
}

// Close implements protocols.Subscription.
func (s *subscription) Close() {
	s.cancel()
	go s.pubsub.Close() // which waits while a connection is being made
}
