package redis

import (
	"slices"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Subscription is a client's connection to a node over which it is sent what is published on one channel.
//
// It works in the same way on all tiers, above their clients: SUBSCRIBE is a message to the node, and so is every
// message that the node then sends, subject to the delays, cuts and holds of the link. What is lost is lost for good; a
// paused client finds it in its socket buffer. A node that stops forgets the subscription, as does one whose connection is
// reset, or whose client has crashed: its machine closes the connection. Messages can overtake each other and the confirmation.
type Subscription struct {
	exchange network.Exchange // stays open as long as the connection does
	broker   *broker          // of the node
	channel  string
	key      kernel.Key
	sent     uint64 // how many messages the node has sent

	rediscmd.Inbox
	received func(message string) // takes the messages; nil if they are kept for Next
	broke    func()               // is told that the connection is; nil if nobody is
	closed   bool
}

// Subscriber is a node's end of a connection over which it sends what is published.
type Subscriber interface {
	// Client is who has the other end.
	Client() *kernel.Process
	// Hears says whether the connection is there and what is published on the channel goes over it.
	Hears(channel string) bool
	// Publish sends a message to the client.
	Publish(channel, message string)
}

// broker is a node's end of all subscriptions.
type broker struct {
	subscribers []Subscriber             // in the order in which they came
	listened    map[*network.Link]uint64 // how many subscriptions of Listen there were
	counts      *Counts
}

func newBroker(counts *Counts) broker {
	return broker{listened: map[*network.Link]uint64{}, counts: counts}
}

// open asks the node to send what is published on a channel to the client of the link, as messages to received, or to Next
// if that is nil.
func (b *broker) open(l *network.Link, key kernel.Key, channel string, received func(message string)) *Subscription {
	s := &Subscription{broker: b, channel: channel, key: key, received: received,
		Inbox: rediscmd.NewInbox(l.Client().ProgramClock(), l.Client().Tasks().NewWaiter())}
	l.Open(&s.exchange, key, s)
	return s
}

// reconnects is after how long a client makes a connection again that broke while it listened, as the shipped adapters do.
const reconnects = time.Second

// Listen subscribes the client of the link to a channel of the node, and calls received with every message.
func (b *broker) Listen(l *network.Link, channel string, received func(message string)) (stop func()) {
	var open *Subscription
	var again driver.Timer
	var subscribe func()
	clock := l.Client().ProgramClock()
	subscribe = func() {
		b.listened[l]++
		key := l.Client().Kernel().Draw("listen").WithString(channel).With(b.listened[l])
		open = b.open(l, key, channel, received)
		open.broke = func() { again = clock.AfterFunc(reconnects, subscribe) }
	}
	subscribe()
	return func() {
		if again != nil {
			again.Stop()
		}
		open.Close()
	}
}

// Close ends the subscription. The node learns of it by a message, and whatever it sends until then is ignored.
func (s *Subscription) Close() {
	if s.closed {
		return
	}
	s.closed = true
	s.exchange.Abandon()
	if !s.IsBroken() {
		n := &network.Notice{What: "unsubscribe"}
		n.Arrived = func() {
			s.broker.Unsubscribe(s)
			n.Reply() // which nobody waits for
		}
		s.exchange.Link().Open(&n.Exchange, s.key.WithString("unsubscribe"), n)
	}
}

// Answered implements Client. The node never answers the exchange itself, which stays open.
func (s *Subscription) Answered() { panic("sim: a subscription was answered") }

// Purpose implements Purposeful.
func (s *Subscription) Purpose() string { return "subscribe" }

// Broken implements Client.
func (s *Subscription) Broken() {
	s.Break()
	if s.broke != nil && !s.closed {
		s.broke()
	}
}

// Client implements Subscriber.
func (s *Subscription) Client() *kernel.Process { return s.exchange.From() }

// Hears implements Subscriber.
func (s *Subscription) Hears(channel string) bool {
	return s.channel == channel && s.exchange.Connected() && !s.exchange.From().Dead()
}

// Publish implements Subscriber.
func (s *Subscription) Publish(_, message string) {
	s.push(&network.Notice{What: "publish", IsLost: func() { s.broker.counts.Unheard++ }, Received: func() {
		if s.received != nil {
			s.received(message)
		} else {
			s.Deliver(message)
		}
	}})
}

// push has the node send something, which the client takes unless it has closed the subscription.
func (s *Subscription) push(n *network.Notice) {
	received := n.Received
	n.Received = func() {
		if !s.closed {
			received()
		}
	}
	s.sent++
	n.Push(&s.exchange, s.key.WithString("push").With(s.sent), n)
}

// Subscribe has the node send to a subscriber what is published from now on, and Unsubscribe ends that.
func (b *broker) Subscribe(to Subscriber) { b.subscribers = append(b.subscribers, to) }

// Unsubscribe has the node forget a subscriber, if it knows it.
func (b *broker) Unsubscribe(from Subscriber) {
	if i := slices.Index(b.subscribers, from); i >= 0 {
		b.subscribers = append(b.subscribers[:i:i], b.subscribers[i+1:]...)
	}
}

// Arrive implements Arriver: the node has been asked for the subscription.
func (s *Subscription) Arrive() {
	s.broker.Subscribe(s)
	s.push(&network.Notice{What: "subscribe", Received: s.Confirmed})
}

// Listens says whether a client is subscribed to a channel of the node.
func (b *broker) Listens(client *kernel.Process, channel string) bool {
	return slices.ContainsFunc(b.subscribers, func(s Subscriber) bool { return s.Hears(channel) && s.Client() == client })
}

// Publish sends a message to those who subscribed to a channel of the node, in the order in which they did, and returns
// how many these are: the command PUBLISH.
func (b *broker) Publish(channel, message string) int {
	receivers := 0
	for _, to := range b.subscribers {
		if to.Hears(channel) {
			b.counts.Published++
			to.Publish(channel, message)
			receivers++
		}
	}
	return receivers
}
