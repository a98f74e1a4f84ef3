package wire

import (
	"slices"

	"github.com/alicebob/miniredis/v2/proto"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Dial implements redis.Streaming.
func (b *backend) Dial(client *kernel.Process, s *redis.Server, l *network.Link, key kernel.Key, changed func()) redis.Stream {
	x := &stream{server: s, memory: b.memories[s], session: newSession(), intents: b.clients.intents, key: key, changed: changed}
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
	asked    []*message // which are not answered yet, the oldest first
	readable []byte
	err      error

	// The node's end.
	server   *redis.Server
	memory   *memory
	session  *session
	channels []string // to which the client has subscribed
	pushes   uint64
	isBusy   bool       // a message is not answered yet
	queued   []*message // which have come since
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
		m := &message{stream: s, request: request{requests: requests, intents: s.intents}}
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

// Broken implements network.Client.
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

// carryOut implements executor.
func (s *stream) carryOut(words []string) []byte {
	switch name := upper(words[0]); name {
	case "SUBSCRIBE", "UNSUBSCRIBE":
		return s.subscribes(name == "SUBSCRIBE", words[1:])
	case "CLUSTER":
		return []byte("-ERR This instance has cluster support disabled\r\n")
	case "SCRIPT":
		return s.memory.manage(words[1:])
	}
	s.memory.lua.Nonsense = nil
	reply := s.memory.doIn(s.session, words)
	if err := s.memory.lua.Nonsense; err != nil {
		s.err = err
		s.changed()
	}
	return reply
}

// gone implements executor.
func (s *stream) gone() bool { return s.hungUp || !s.connection.Connected() }

// over implements executor.
func (s *stream) over() {
	s.isBusy = false
	if len(s.queued) > 0 {
		next := s.queued[0]
		s.queued = s.queued[1:]
		s.server.GoOn(&next.Exchange, func() { next.execute(s.memory) })
	}
}

// message is one or several commands on a stream, and the answers.
type message struct {
	request
	stream *stream
}

// execute carries the commands out, or once those are over that came before on the stream.
func (m *message) execute(x *memory) {
	s := m.stream
	if s.isBusy {
		s.queued = append(s.queued, m)
		return
	}
	s.isBusy = true
	m.request.execute(x.server, s)
}

// Answered implements network.Client.
func (m *message) Answered() {
	answered, reset := m.Answers(len(m.requests))
	m.stream.asked = slices.DeleteFunc(m.stream.asked, func(o *message) bool { return o == m })
	for _, reply := range m.replies[:answered] {
		m.stream.receives(reply)
	}
	if reset {
		m.Broken()
	}
}

// Broken implements network.Client.
func (m *message) Broken() { m.stream.Broken() }
