package redis

import (
	"slices"

	"redlocksim/internal/rediscmd"
	"redlocksim/internal/subscription"
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
	closed bool
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
	subscribers []Subscriber // in the order in which they came
	listening   map[*kernel.Process]*subscription.Subscription
	counts      *Counts
}

func newBroker(counts *Counts) broker {
	return broker{listening: map[*kernel.Process]*subscription.Subscription{}, counts: counts}
}

// open asks the node to send what is published on a channel to the client of the link.
func (b *broker) open(l *network.Link, key kernel.Key, channel string) *Subscription {
	s := &Subscription{broker: b, channel: channel, key: key,
		Inbox: rediscmd.NewInbox(l.Client().ProgramClock(), l.Client().Tasks().NewWaiter())}
	l.Open(&s.exchange, key, s)
	return s
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
func (s *Subscription) Broken() { s.Break() }

// Client implements Subscriber.
func (s *Subscription) Client() *kernel.Process { return s.exchange.From() }

// Hears implements Subscriber.
func (s *Subscription) Hears(channel string) bool {
	return s.channel == channel && s.exchange.Connected() && !s.exchange.From().Dead()
}

// Publish implements Subscriber.
func (s *Subscription) Publish(_, message string) {
	s.push(&network.Notice{What: "publish", IsLost: func() { s.broker.counts.Unheard++ }, Received: func() { s.Deliver(message) }})
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
