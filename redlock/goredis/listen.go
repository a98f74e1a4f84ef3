package goredis

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// listenAgain is how long after a broken connection, or one that could not be made, a new one is tried. Whoever waits for
// a message asks by itself in the meantime.
const listenAgain = time.Second

// Listen implements redlock.Listener by a connection of its own for each call, which is made again when it breaks.
func (n *Node) Listen(channel string, heard func()) (stop func()) {
	ctx, cancel := n.clock.WithCancel(context.Background())
	subscription := n.client.Subscribe(ctx) // connects to nothing yet
	n.tasks.Start(func() {
		_ = subscription.Subscribe(ctx, channel) // an error comes again from Receive, which then subscribes
		for ctx.Err() == nil {
			switch message, err := subscription.Receive(ctx); {
			case err != nil:
				n.pause(ctx, listenAgain)
			default:
				if _, ok := message.(*redis.Message); ok {
					heard()
				}
			}
		}
		_ = subscription.Close()
	})
	return func() {
		cancel(nil)
		n.tasks.Start(func() { _ = subscription.Close() }) // ends a Receive under way
	}
}

// pause waits for d or until ctx ends.
func (n *Node) pause(ctx context.Context, d time.Duration) {
	w := n.tasks.NewWaiter()
	timer := n.clock.AfterFunc(d, w.Wake)
	defer timer.Stop()
	w.Wait(ctx)
}
