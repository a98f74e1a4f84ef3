// Package resp keeps what a Redis server says within bounds. Client libraries believe a server: thirteen bytes that
// announce a list of 10^9 elements have them take gigabytes, and a length of 2^63-1 is a panic in their goroutines. So
// each reply is followed below them, at the connection, and a connection on which more is announced than a reply may
// take ends there.
package resp

import (
	"context"
	"math"
	"net"
	"syscall"
)

// Bound is a connection to a Redis server that fails for its reader before a reply that would take more than limit
// bytes, counting 64 for each element of a list, and before anything that is not Redis' protocol. Each reply has the
// limit for itself. A connection that is bound already stays as it is.
func Bound(c net.Conn, limit int) net.Conn {
	if _, is := c.(interface{ isBound() }); is {
		return c
	}
	b := newConn(c, limit)
	if raw, is := c.(syscall.Conn); is {
		return &rawConn{b, raw}
	}
	return b
}

// Dial connects to a server.
type Dial = func(ctx context.Context, network, addr string) (net.Conn, error)

// Dialer dials as another one does, and bounds what it connects to.
func Dialer(dial Dial, limit int) Dial {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return Bound(c, limit), nil
	}
}

// What the limits of this program's connections are.
const (
	// Lock is that of a connection to a node of a lock, whose replies are a few numbers and texts.
	Lock = 1 << 20
	// Keys is that of a connection on which a cluster's nodes describe themselves and their commands, or keys are
	// listed.
	Keys = 16 << 20
	// Jobs is that of a connection to the Redis of workers, where programs of locks are kept.
	Jobs = 80 << 20
)

// Follow is Bound, and tells of each command before it is sent, and of each reply before its last bytes are read. An
// error of replied is a reply that is refused. The frames are only to be looked at.
func Follow(c net.Conn, limit int, sent func(*Frame), replied func(*Frame) error) net.Conn {
	b := newConn(c, limit)
	b.frames.ended = replied
	b.commands = new(newFrames(math.MaxInt))
	b.commands.ended = func(f *Frame) error { sent(f); return nil }
	return b
}

func newConn(c net.Conn, limit int) *conn { return &conn{Conn: c, frames: newFrames(limit)} }

type conn struct {
	net.Conn
	frames   frames
	commands *frames // nil if nobody is told
	err      error   // what was refused
}

func (*conn) isBound() {}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.Conn.Read(p)
	good, refused := c.frames.take(p[:n])
	if refused == nil {
		return n, err
	}
	c.err = refused
	if good > 0 {
		return good, nil
	}
	return 0, c.err
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.commands != nil {
		if _, err := c.commands.take(p); err != nil {
			return 0, err
		}
	}
	return c.Conn.Write(p)
}

// rawConn is one of which a client library can ask the system whether it is still open.
type rawConn struct {
	*conn
	raw syscall.Conn
}

// SyscallConn implements syscall.Conn.
func (c *rawConn) SyscallConn() (syscall.RawConn, error) { return c.raw.SyscallConn() }
