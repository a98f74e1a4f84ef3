package wire

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Dial implements redis.Streaming.
func (b *backend) Dial(client *kernel.Process, s *redis.Server, l *network.Link, key kernel.Key, changed func()) redis.Stream {
	x := &stream{server: s, session: newSession(), intents: b.clients.intents, key: key, changed: changed}
	l.Dial(&x.connection, key, x)
	return x
}

// stream implements redis.Stream: both ends of a connection, and the client of the exchange that asks for it.
type stream struct {
	connection network.Connection
	key        kernel.Key
	changed    func()

	// The client's end.
	state    redis.StreamState
	written  []byte // the beginning of a command
	messages uint64
	asked    []*request // which are not answered yet, the oldest first
	readable []byte
	err      error

	// The node's end.
	server   *redis.Server
	session  *session
	channels []string // to which the client has subscribed
	pushes   uint64
	isBusy   bool       // a message is not answered yet
	queued   []*request // which have come since
	hungUp   bool       // the client has closed the stream

	intents intents
}

var _ redis.Stream = (*stream)(nil)

// State implements redis.Stream.
func (s *stream) State() redis.StreamState { return s.state }

// Buffered implements redis.Stream.
func (s *stream) Buffered() int { return len(s.readable) }

// Read implements redis.Stream.
func (s *stream) Read(b []byte) int {
	n := copy(b, s.readable)
	s.readable = s.readable[n:]
	return n
}

// Write implements redis.Stream.
func (s *stream) Write(b []byte) error {
	if s.state != redis.Established {
		return nil
	}
	s.written = append(s.written, b...)
	var requests [][]string
	rest := s.written
	for len(rest) > 0 {
		words, size, err := command(rest)
		if err != nil {
			return &redis.Nonsense{What: err.Error()}
		}
		if size == 0 {
			break
		}
		if reason := isNotSimulated(words); reason != "" {
			return &redis.Nonsense{What: reason}
		}
		requests, rest = append(requests, words), rest[size:]
	}
	s.written = append(s.written[:0], rest...)
	if requests != nil {
		s.messages++
		m := &request{on: s, requests: requests, intents: s.intents}
		s.asked = append(s.asked, m)
		s.connection.Open(&m.Exchange, s.key.WithString("message").With(s.messages), m)
	}
	return nil
}

// Err implements redis.Stream.
func (s *stream) Err() error { return s.err }

// Close implements redis.Stream.
func (s *stream) Close() {
	if s.state == redis.Established || s.state == redis.Dialing {
		if s.state == redis.Established {
			n := &network.Notice{What: "close"}
			n.Arrived = func() {
				s.channels, s.hungUp = nil, true
				s.server.Unsubscribe(s)
				n.Abandon()
			}
			s.connection.Open(&n.Exchange, s.key.WithString("close"), n)
		}
		s.connection.Abandon()
		for _, m := range s.asked {
			m.Abandon()
		}
	}
	s.state = redis.Closed
}

func (s *stream) become(state redis.StreamState) {
	if s.state == redis.Dialing || s.state == redis.Established {
		s.state = state
		s.changed()
	}
}

// Arrive implements redis.Arriver: the node has been asked for the connection.
func (s *stream) Arrive() { s.push(func() { s.become(redis.Established) }) }

// push has the node send something that nobody asked for, and then is what happens where it arrives.
func (s *stream) push(then func()) {
	s.pushes++
	n := &network.Notice{What: "push", Received: then}
	n.Push(&s.connection.Exchange, s.key.WithString("push").With(s.pushes), n)
}

// Answered implements network.Client. What asks for the connection is never answered; see push.
func (s *stream) Answered() { panic("wire: the request for a connection was answered") }

// Broken implements network.Client and connection.
func (s *stream) Broken() {
	if s.state == redis.Dialing {
		s.become(redis.NotAccepted)
		return
	}
	s.become(redis.BrokenOff)
}

// Purpose implements network.Purposeful.
func (s *stream) Purpose() string { return "connect" }

// receives has bytes come to the client.
func (s *stream) receives(b []byte) {
	if s.state == redis.Established {
		s.readable = append(s.readable, b...)
		s.changed()
	}
}

// Client implements redis.Subscriber.
func (s *stream) Client() *kernel.Process { return s.connection.From() }

// Hears implements redis.Subscriber.
func (s *stream) Hears(channel string) bool {
	return slices.Contains(s.channels, channel) && s.connection.Connected() && !s.Client().Dead()
}

// Publish implements redis.Subscriber.
func (s *stream) Publish(channel, message string) {
	b := s.session.pushed(proto.String("message"), proto.String(channel), proto.String(message))
	s.push(func() { s.receives(b) })
}

// begins implements connection: a request is carried out once those are over that came before.
func (s *stream) begins(x *request) bool {
	if s.isBusy {
		s.queued = append(s.queued, x)
		return false
	}
	s.isBusy = true
	return true
}

// carryOut implements connection.
func (s *stream) carryOut(m *memory, words []string) []byte {
	switch name := strings.ToUpper(words[0]); name {
	case "SUBSCRIBE", "UNSUBSCRIBE":
		return s.subscribes(name == "SUBSCRIBE", words[1:])
	case "CLUSTER":
		return []byte("-ERR This instance has cluster support disabled\r\n")
	case "SCRIPT":
		return m.manage(words[1:])
	}
	m.lua.Nonsense = nil
	reply := m.doIn(s.session, words)
	if err := m.lua.Nonsense; err != nil {
		s.err = err
		s.changed()
	}
	return reply
}

// gone implements connection.
func (s *stream) gone() bool { return s.hungUp || !s.connection.Connected() }

// over implements connection.
func (s *stream) over(m *memory) {
	s.isBusy = false
	if len(s.queued) > 0 {
		next := s.queued[0]
		s.queued = s.queued[1:]
		s.server.GoOn(&next.Exchange, func() { next.execute(m) })
	}
}

// answered implements connection.
func (s *stream) answered(x *request, replies [][]byte, isReset bool) {
	s.asked = slices.DeleteFunc(s.asked, func(o *request) bool { return o == x })
	for _, reply := range replies {
		s.receives(reply)
	}
	if isReset {
		s.Broken()
	}
}
