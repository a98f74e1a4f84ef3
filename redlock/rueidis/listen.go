package rueidis

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"redlocksim/redlock/driver"
)

// listening is a connection of rueidis on which a server publishes. It is made by its first call.
type listening struct {
	client rueidis.Client
	clock  driver.Clock

	connecting sync.Once
	made       rueidis.DedicatedClient
	broken     <-chan error // ends when nothing more comes

	mu   sync.Mutex
	came []message     // that nobody has received yet, and empty ones for other signs of life
	more chan struct{} // that there are some
}

// message is what was published on a channel.
type message struct{ channel, text string }

// newListening is a connection that is yet to be made.
func newListening(client rueidis.Client, clock driver.Clock) *listening {
	return &listening{client: client, clock: clock, more: make(chan struct{}, 1)}
}

// connection is the connection, which may take twice the dial timeout to make; nil if it was closed before.
func (l *listening) connection() rueidis.DedicatedClient {
	l.connecting.Do(func() {
		l.made, _ = l.client.Dedicate()
		l.broken = l.made.SetPubSubHooks(rueidis.PubSubHooks{
			OnMessage:      func(m rueidis.PubSubMessage) { l.heard(message{m.Channel, m.Message}) },
			OnSubscription: func(rueidis.PubSubSubscription) { l.heard(message{}) },
		})
	})
	return l.made
}

// maxCame is how many messages are kept that nobody has received. More come only of a server that makes them up.
const maxCame = 1 << 12

// heard notes that something came.
func (l *listening) heard(m message) {
	l.mu.Lock()
	if len(l.came) < maxCame {
		l.came = append(l.came, m)
	}
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// Subscribe implements subscription.Connection.
func (l *listening) Subscribe(ctx context.Context, channels ...string) error {
	return l.change(ctx, l.client.B().Subscribe().Channel(channels...).Build())
}

// Unsubscribe implements subscription.Connection.
func (l *listening) Unsubscribe(ctx context.Context, channels ...string) error {
	return l.change(ctx, l.client.B().Unsubscribe().Channel(channels...).Build())
}

// change has the server publish something else from now on. If it does not say that it will, the connection is of no use.
func (l *listening) change(ctx context.Context, c rueidis.Completed) (err error) {
	defer noPanic(&err)
	open := l.connection()
	if open == nil {
		return rueidis.ErrClosing
	}
	err = open.Do(mayDial(ctx), c).Error() // of an old server, rueidis makes one more connection for that
	if err != nil {
		open.Close()
	}
	return err
}

// Ping implements subscription.Connection.
func (l *listening) Ping(ctx context.Context) (err error) {
	defer noPanic(&err)
	open := l.connection()
	if open == nil {
		return rueidis.ErrClosing
	}
	err = open.Do(ctx, open.B().Ping().Build()).NonRedisError()
	if err == nil {
		l.heard(message{})
	}
	return err
}

// Receive implements subscription.Connection.
func (l *listening) Receive(ctx context.Context, wait time.Duration) (channel, text string, err error) {
	if l.connection() == nil {
		return "", "", rueidis.ErrClosing
	}
	ctx, end := l.clock.WithDeadline(ctx, l.clock.Now().Add(wait))
	defer end()
	for {
		if m, came := l.take(); came {
			return m.channel, m.text, nil
		}
		select {
		case <-l.more:
		case err := <-l.broken:
			if err == nil {
				err = rueidis.ErrClosing
			}
			return "", "", err
		case <-ctx.Done():
			return "", "", ctx.Err()
		}
	}
}

func (l *listening) take() (m message, came bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.came) == 0 {
		return m, false
	}
	m = l.came[0]
	l.came = slices.Delete(l.came, 0, 1)
	return m, true
}

// Close implements subscription.Connection.
func (l *listening) Close() error {
	l.connecting.Do(func() {})
	if l.made != nil {
		l.made.Close()
	}
	return nil
}
