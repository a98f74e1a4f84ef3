package redis

import (
	"context"
	"slices"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/subscription"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Listen has the client of the link hear what is published on a channel of the node. The connection for that is kept by the
// same code as that of the shipped adapters, package subscription: it asks a node that is silent whether it is there, and makes
// the connection anew where that broke, or where nothing is answered. What becomes of the connection, nobody is told.
func (b *broker) Listen(l *network.Link, channel string, received func(message string)) (stop func()) {
	client := l.Client()
	s := b.listening[client]
	if s == nil {
		made := uint64(0)
		connect := func() subscription.Connection {
			made++
			return b.connect(l, client.Draw("listen").WithString(l.Server().Name()).With(made))
		}
		s = subscription.New(connect, func(error) {}, client.ProgramClock(), client.Tasks())
		b.listening[client] = s
	}
	return s.Listen(channel, received)
}

// listening is both ends of a connection on which a node publishes, and the client of the exchange that asks for it. What is
// sent on it arrives in order, and behind a message that was lost nothing arrives any more: then it is half open.
type listening struct {
	connection network.Connection
	key        kernel.Key

	// The client's end.
	clock    driver.Clock
	waiter   driver.Waiter
	asked    uint64 // how many messages it has sent
	came     []published
	isBroken bool // or closed

	// The node's end.
	broker   *broker
	channels []string
	pushed   uint64 // how many messages it has published
}

var (
	_ subscription.Connection = (*listening)(nil)
	_ Subscriber              = (*listening)(nil)
	_ Arriver                 = (*listening)(nil)
)

// published is what comes from a node: a message, or the zero value, which stands for anything else.
type published struct{ channel, message string }

// connect asks the node for a connection, and does not wait for that.
func (b *broker) connect(l *network.Link, key kernel.Key) *listening {
	client := l.Client()
	x := &listening{broker: b, key: key, clock: client.ProgramClock(), waiter: client.Tasks().NewWaiter()}
	l.Dial(&x.connection, key, x)
	return x
}

// Arrive implements Arriver: the node has been asked for the connection, which it does not answer.
func (*listening) Arrive() {}

// Answered implements network.Client.
func (*listening) Answered() { panic("sim: the request for a connection was answered") }

// Purpose implements network.Purposeful.
func (*listening) Purpose() string { return "connect" }

// Broken implements network.Client.
func (x *listening) Broken() {
	x.isBroken = true
	x.waiter.Wake()
}

func (x *listening) comes(p published) {
	if !x.isBroken {
		x.came = append(x.came, p)
		x.waiter.Wake()
	}
}

// ask has the node do something, and answer.
func (x *listening) ask(what string, does func()) error {
	if x.isBroken {
		return rediscmd.ErrReset
	}
	x.asked++
	n := &network.Notice{What: what, Received: func() { x.comes(published{}) }, Broke: x.Broken}
	n.Arrived = func() {
		does()
		n.Reply()
	}
	x.connection.Open(&n.Exchange, x.key.WithString(what).With(x.asked), n)
	return nil
}

// Subscribe implements subscription.Connection.
func (x *listening) Subscribe(_ context.Context, channels ...string) error {
	return x.ask("subscribe", func() {
		if len(x.channels) == 0 {
			x.broker.Subscribe(x)
		}
		x.channels = append(x.channels, channels...)
	})
}

// Unsubscribe implements subscription.Connection.
func (x *listening) Unsubscribe(_ context.Context, channels ...string) error {
	return x.ask("unsubscribe", func() {
		x.channels = slices.DeleteFunc(x.channels, func(c string) bool { return slices.Contains(channels, c) })
		if len(x.channels) == 0 {
			x.broker.Unsubscribe(x)
		}
	})
}

// Ping implements subscription.Connection.
func (x *listening) Ping(context.Context) error { return x.ask("ping", func() {}) }

// Receive implements subscription.Connection.
func (x *listening) Receive(ctx context.Context, wait time.Duration) (channel, message string, err error) {
	until, cancel := x.clock.WithDeadline(ctx, x.clock.Now().Add(wait))
	defer cancel()
	for len(x.came) == 0 && !x.isBroken && until.Err() == nil {
		x.waiter.Wait(until)
	}
	switch {
	case len(x.came) > 0:
		first := x.came[0]
		x.came = x.came[1:]
		return first.channel, first.message, nil
	case x.isBroken:
		return "", "", rediscmd.ErrReset
	}
	return "", "", until.Err()
}

// Close implements subscription.Connection. The node learns of it by a message.
func (x *listening) Close() error {
	if x.isBroken {
		return nil
	}
	n := &network.Notice{What: "close"}
	n.Arrived = func() {
		x.channels = nil
		x.broker.Unsubscribe(x)
		n.Abandon()
	}
	x.connection.Open(&n.Exchange, x.key.WithString("close"), n)
	x.connection.Abandon()
	x.Broken()
	return nil
}

// Client implements Subscriber.
func (x *listening) Client() *kernel.Process { return x.connection.From() }

// Hears implements Subscriber.
func (x *listening) Hears(channel string) bool {
	return slices.Contains(x.channels, channel) && x.connection.Connected() && !x.Client().Dead()
}

// Publish implements Subscriber.
func (x *listening) Publish(channel, message string) {
	x.pushed++
	n := &network.Notice{What: "publish", IsLost: func() { x.broker.counts.Unheard++ }, Received: func() { x.comes(published{channel, message}) }}
	n.Push(&x.connection.Exchange, x.key.WithString("push").With(x.pushed), n)
}
