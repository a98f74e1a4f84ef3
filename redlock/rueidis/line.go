package rueidis

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"

	"redlocksim/redlock/driver"
)

// line is the connection that a node's commands share.
//
// rueidis dials within the deadline of the command that finds no connection. Where connecting takes longer than that, no
// command would ever find one. So a command does not dial: what it misses is made by a task with a deadline of its own, for
// all.
type line struct {
	clock    driver.Clock
	tasks    driver.Tasks
	patience time.Duration // for a connection, its handshake and a PING
	dial     dialFunc
	ping     func(context.Context) error // nil while the client is being made: it connects to nothing yet

	up atomic.Bool // there was a connection the last time that somebody looked

	mu     sync.Mutex
	making *making
	closed bool
}

type dialFunc func(context.Context, string, *net.Dialer, *tls.Config) (net.Conn, error)

// making is a connection under way.
type making struct {
	ctx  context.Context
	end  context.CancelFunc
	made *connection   // nil if none was
	done chan struct{} // closed when it has come to an end, with err
	err  error
}

// errNotConnected is the error of commands that find no connection. Nothing of them was sent.
var errNotConnected = errors.New("rueidis: not connected")

// dialling is the key of a context with which a connection may be made, and its value the *making, if there is one.
type dialling struct{}

// mayDial has commands dial by themselves.
func mayDial(ctx context.Context) context.Context {
	return context.WithValue(ctx, dialling{}, (*making)(nil))
}

// newLine is the line of a client that is yet to be made with the options, which will have it dial.
func newLine(o *rueidis.ClientOption, clock driver.Clock, tasks driver.Tasks) *line {
	l := &line{clock: clock, tasks: tasks, patience: 3 * o.Dialer.Timeout, dial: dialerOf(o)}
	o.DialFn, o.DialCtxFn = nil, l.connection
	return l
}

func dialerOf(o *rueidis.ClientOption) dialFunc {
	switch {
	case o.DialCtxFn != nil:
		return o.DialCtxFn
	case o.DialFn != nil:
		dial := o.DialFn
		return func(_ context.Context, to string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
			return dial(to, d, config)
		}
	}
	return func(ctx context.Context, to string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
		if config != nil {
			return (&tls.Dialer{NetDialer: d, Config: config}).DialContext(ctx, "tcp", to)
		}
		return d.DialContext(ctx, "tcp", to)
	}
}

// connect waits for the connection, and makes one if there is none.
func (l *line) connect(ctx context.Context) error {
	if l.up.Load() {
		return nil
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return rueidis.ErrClosing
	}
	m := l.making
	if m == nil {
		m = &making{done: make(chan struct{})}
		m.ctx, m.end = l.clock.WithDeadline(context.WithValue(context.Background(), dialling{}, m), l.clock.Now().Add(l.patience))
		l.making = m
		l.tasks.Start(func() { l.make(m) })
	}
	l.mu.Unlock()
	select {
	case <-m.done:
		return m.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// make has rueidis connect, by a PING.
func (l *line) make(m *making) {
	err := l.ping(m.ctx)
	m.end()
	if server := (*rueidis.RedisError)(nil); errors.As(err, &server) && m.made != nil && !m.made.isClosed.Load() {
		err = nil // not of the handshake: the server does not let its user send a PING
	}
	l.mu.Lock()
	m.err, l.making = err, nil
	l.up.Store(err == nil && !l.closed)
	l.mu.Unlock()
	close(m.done)
}

// connection dials for rueidis, whose context is that of the call for which it does so, or none if that is not for commands.
func (l *line) connection(ctx context.Context, to string, d *net.Dialer, config *tls.Config) (net.Conn, error) {
	m, may := ctx.Value(dialling{}).(*making)
	if l.ping == nil || !may && ctx.Done() != nil {
		l.up.Store(false)
		return nil, errNotConnected
	}
	c, err := l.dial(ctx, to, d, config)
	if err != nil {
		return nil, err
	}
	if c = follow(c); m == nil {
		return c, nil
	}
	m.made = &connection{Conn: c}
	return m.made, nil
}

// close closes the client, and waits for a connection under way: rueidis would keep it.
func (l *line) close(client func()) {
	l.mu.Lock()
	l.closed = true
	l.up.Store(false)
	m := l.making
	l.mu.Unlock()
	if m != nil {
		m.end()
		<-m.done
	}
	client()
}

// connection is one that says whether it was closed.
type connection struct {
	net.Conn
	isClosed atomic.Bool
}

func (c *connection) Close() error {
	c.isClosed.Store(true)
	return c.Conn.Close()
}
