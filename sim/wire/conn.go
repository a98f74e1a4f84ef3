package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// conn is the client's end of a connection, as go-redis uses it: it writes a message, of one request or several, reads the
// replies, and closes the connection when that fails or takes too long. The kernel sees an exchange for each message.
//
// go-redis makes connections on a goroutine of its own while the task that needs one blocks the kernel, so making one must not
// touch the kernel. Everything else happens in tasks, one at a time.
type conn struct {
	client      *kernel.Process
	link        *network.Link
	intents     intents       // shared by the connections of a run
	open        *atomic.Int64 // how many there are
	isOfLibrary bool

	written  []byte   // what waits for the first Read, which sends it as one message
	request  *request // whose reply has not come; nil if none is under way
	readable []byte
	broken   error
	closed   bool

	deadline time.Time // of Read, by the client's lock clock; zero for none
	reader   driver.Waiter
	reading  bool
}

var _ net.Conn = (*conn)(nil)

// begins and the methods below implement connection. A request comes only once the one before is answered, and the node knows
// nothing of its client.
func (c *conn) begins(*request) bool                     { return true }
func (c *conn) carryOut(m *memory, args []string) []byte { return m.doIn(m.own, args) }
func (c *conn) gone() bool                               { return false }
func (c *conn) over(*memory)                             {}

func (c *conn) answered(x *request, replies [][]byte, isReset bool) {
	for _, reply := range replies {
		c.readable = append(c.readable, reply...)
	}
	switch {
	case len(replies) == len(x.requests):
		c.request = nil
	case isReset:
		c.Broken()
		return
	}
	c.wake()
}

func (c *conn) Broken() {
	c.request = nil
	c.broken = rediscmd.ErrReset
	c.wake()
}

func (c *conn) wake() {
	if c.reading {
		c.reader.Wake()
	}
}

// hello answers go-redis' handshake: RESP 2, a master.
const hello = "*4\r\n$5\r\nproto\r\n:2\r\n$4\r\nrole\r\n$6\r\nmaster\r\n"

// Write keeps what is written until it is read for replies: go-redis' buffer comes in pieces.
func (c *conn) Write(b []byte) (int, error) {
	switch {
	case c.closed:
		return 0, net.ErrClosed
	case c.broken != nil:
		return 0, c.broken
	}
	c.written = append(c.written, b...)
	return len(b), nil
}

// send sends what was written as one message. A handshake, which comes alone, is answered here.
func (c *conn) send() {
	if c.request != nil {
		panic("wire: a second message on a connection whose first is unanswered")
	}
	var requests [][]string
	for rest := c.written; len(rest) > 0; {
		args, n := parse(rest)
		if n == 0 {
			panic(fmt.Sprintf("wire: a reply is waited for before the request is whole: %q", rest))
		}
		requests = append(requests, args)
		rest = rest[n:]
	}
	c.written = c.written[:0]
	if strings.EqualFold(requests[0][0], "hello") && len(requests) == 1 {
		c.readable = append(c.readable, hello...)
		return
	}
	c.request = &request{on: c, requests: requests, deadline: c.deadline, isOfLibrary: c.isOfLibrary, intents: c.intents}
	c.link.Open(&c.request.Exchange, c.key(isWithSource(requests[0])), c.request)
}

// key is what the message is for that the running task sends. One that begins with the source of a script, and one that follows
// another, is told from that other.
func (c *conn) key(withSource bool) kernel.Key {
	b := c.client.Baggage()
	if b == nil {
		return 0
	}
	if withSource || b.Sent > 0 {
		b.Key = b.Key.With(1)
	}
	b.Sent++
	return b.Key
}

// isWithSource: the request carries the source of a script, on the model tier too. There an acquire of one key is always plain;
// the adapter's first ones look by a script what the server allows.
func isWithSource(args []string) bool {
	const firstContact = 7 // words: of all requests for one key, only this has so many
	return strings.EqualFold(args[0], "eval") && !(len(args) == firstContact && args[2] == "1")
}

// Read sends what was written and waits for a reply. One that has come is read also after the deadline, as after a pause of the
// process.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.written) > 0 && !c.closed && c.broken == nil {
		if c.isOfLibrary && !c.deadline.IsZero() && !c.client.ProgramClock().Now().Before(c.deadline) {
			c.written = c.written[:0]
			return 0, os.ErrDeadlineExceeded // as from Write, which has the same deadline
		}
		c.send()
	}
	var timer driver.Timer
	late := false
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case len(c.readable) > 0:
			n := copy(b, c.readable)
			c.readable = c.readable[n:]
			return n, nil
		case c.broken != nil:
			return 0, c.broken
		case late:
			return 0, os.ErrDeadlineExceeded
		}
		if timer == nil && !c.deadline.IsZero() {
			clock := c.client.ProgramClock()
			timer = clock.AfterFunc(c.deadline.Sub(clock.Now()), func() { late = true; c.wake() })
			defer timer.Stop()
		}
		c.wait()
	}
}

func (c *conn) wait() {
	if c.reader == nil {
		c.reader = c.client.Tasks().NewWaiter()
	}
	c.reading = true
	defer func() { c.reading = false }() // also when the run is over and Wait panics
	c.reader.Wait(context.Background())
}

// Close gives up the request under way.
func (c *conn) Close() error {
	if c.closed {
		return net.ErrClosed
	}
	c.closed = true
	c.open.Add(-1)
	if c.request != nil {
		c.request.Abandon()
	}
	c.wake()
	return nil
}

// connect makes a connection over a link, for the library or for a program that does without it.
func (c *clients) connect(client *kernel.Process, l *network.Link, isOfLibrary bool) *conn {
	c.open.Add(1)
	return &conn{client: client, link: l, intents: c.intents, open: &c.open, isOfLibrary: isOfLibrary}
}

// SetDeadline and the like take readings of the client's lock clock. They are for the next Read: go-redis does not change the
// deadline of one that waits. Write does not wait.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

func (c *conn) SetReadDeadline(t time.Time) error {
	if c.reading {
		return errors.New("wire: the deadline of a Read under way cannot be changed")
	}
	c.deadline = t
	return nil
}

func (c *conn) SetWriteDeadline(time.Time) error { return nil }

func (c *conn) LocalAddr() net.Addr  { return addr(c.link.Client().Name()) }
func (c *conn) RemoteAddr() net.Addr { return addr(c.link.Server().Name()) }

// addr is a process's name.
type addr string

func (addr) Network() string  { return "sim" }
func (a addr) String() string { return string(a) }
