//go:build unix

package goredis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
)

const (
	short   = 50 * time.Millisecond // a deadline, as in production
	tooLong = 2 * time.Second       // generous for a busy machine, and far less than go-redis' own timeouts
)

// stub is a server that answers HELLO with an error, which go-redis takes for an old redis-server, and then gives the
// replies in turn; then it closes the connection, or stays silent.
func stub(t *testing.T, silent bool, replies ...string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r := bufio.NewReader(conn)
			for i := -1; i < len(replies); i++ {
				reply := "-ERR unknown command 'HELLO'"
				if i >= 0 {
					reply = replies[i]
				}
				if readCommand(r) != nil {
					break
				}
				_, _ = io.WriteString(conn, reply+"\r\n")
			}
			if silent {
				<-end
			}
			_ = readCommand(r)
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { close(end); _ = l.Close(); <-closed })
	return l.Addr().String()
}

func readCommand(r *bufio.Reader) error {
	var words int
	if _, err := fmt.Fscanf(r, "*%d\r\n", &words); err != nil {
		return err
	}
	for range words {
		var size int
		if _, err := fmt.Fscanf(r, "$%d\r\n", &size); err != nil {
			return err
		}
		if _, err := r.Discard(size + 2); err != nil {
			return err
		}
	}
	return nil
}

// acquire asks for the lock k, with a short deadline.
func acquire(t *testing.T, node driver.Node) driver.Reply {
	t.Helper()
	return acquireWithin(t, node, short)
}

func acquireWithin(t *testing.T, node driver.Node, d time.Duration) driver.Reply {
	t.Helper()
	c := command(t, "acquire k", ttl)
	start := time.Now()
	c.Deadline = start.Add(d)
	reply := do(t, node, c)[0]
	if took := time.Since(start); took > d+tooLong {
		t.Errorf("took %v with a deadline of %v", took, d)
	}
	return reply
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func prefix(p string) func(error) bool {
	return func(err error) bool { return redis.HasErrorPrefix(err, p) }
}

func TestOutcomes(t *testing.T) {
	closedPort := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		return l.Addr().String()
	}
	reply := func(text string) func(*testing.T) string {
		return func(t *testing.T) string { return stub(t, false, text) }
	}
	tests := []struct {
		name    string
		server  func(*testing.T) string
		options func(*redis.Options)
		want    driver.Outcome
		err     func(error) bool // nil: no error
	}{
		{"accepted", reply(":1"), nil, driver.Accepted, nil},
		{"declined", reply(":0"), nil, driver.Declined, nil},
		{"nothing listens", closedPort, nil, driver.Refused, is(syscall.ECONNREFUSED)},
		{"dropped before the reply", func(t *testing.T) string { return stub(t, false) }, nil, driver.Refused, is(io.EOF)},
		{"never a reply", func(t *testing.T) string { return stub(t, true) }, nil, driver.TimedOut, is(os.ErrDeadlineExceeded)},
		{"never a connection", closedPort, func(o *redis.Options) {
			o.DialTimeout = 200 * time.Millisecond
			o.Dialer = func(ctx context.Context, _, _ string) (net.Conn, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			}
		}, driver.TimedOut, is(context.DeadlineExceeded)},
		{"dial timeout before the deadline", closedPort, func(o *redis.Options) {
			o.Dialer = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.ErrDeadlineExceeded}
			}
		}, driver.Refused, is(os.ErrDeadlineExceeded)},
		{"no reply that can be read", reply("?"), nil, driver.Refused, func(err error) bool { return err != nil }},
		{"an unexpected reply", reply("+QUEUED"), nil, driver.Failed, func(err error) bool {
			return err != nil && err.Error() == "goredis: acquire was answered with QUEUED"
		}},
		{"LOADING", reply("-LOADING Redis is loading the dataset in memory"), nil, driver.Failed, redis.IsLoadingError},
		{"READONLY", reply("-READONLY You can't write against a read only replica."), nil, driver.Failed, redis.IsReadOnlyError},
		{"NOREPLICAS", reply("-NOREPLICAS Not enough good replicas to write."), nil, driver.Failed, redis.IsNoReplicasError},
		{"MOVED", reply("-MOVED 3999 127.0.0.1:6381"), nil, driver.Failed, prefix("MOVED")},
		{"NOSCRIPT for a plain command", reply("-ERR NOSCRIPT"), nil, driver.Failed, prefix("NOSCRIPT")},
		{"no credentials", func(t *testing.T) string {
			s := miniredis.RunT(t)
			s.RequireAuth("secret")
			return s.Addr()
		}, nil, driver.Failed, redis.IsAuthError},
		{"wrong credentials", func(t *testing.T) string {
			s := miniredis.RunT(t)
			s.RequireAuth("secret")
			return s.Addr()
		}, func(o *redis.Options) { o.Password = "guess" }, driver.Failed, redis.IsAuthError},
		{"the user's limiter", reply("+OK"), func(o *redis.Options) { o.Limiter = deny{} }, driver.Refused, is(errDenied)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			client := newClient(t, test.server(t), test.options)
			within := patience // which a reply does not take, on a busy machine either
			if test.want == driver.TimedOut {
				within = short
			}
			got := acquireWithin(t, newNode(t, client), within)
			if got.Outcome != test.want || (test.err == nil) != (got.Err == nil) || test.err != nil && !test.err(got.Err) {
				t.Errorf("got %v, %T %v; want %v", got.Outcome, got.Err, got.Err, test.want)
			}
			_ = client.Close()
		})
	}
}

var errDenied = errors.New("denied")

type deny struct{}

func (deny) Allow() error       { return errDenied }
func (deny) ReportResult(error) {}

func TestClosedClient(t *testing.T) {
	client := newClient(t, miniredis.RunT(t).Addr(), nil)
	_ = client.Close()
	node := newNode(t, client)
	if got := acquire(t, node); got.Outcome != driver.Refused || !errors.Is(got.Err, redis.ErrClosed) {
		t.Errorf("got %v", got)
	}
	for _, got := range do(t, node, command(t, "release a", 0), command(t, "acquire a", ttl)) {
		if got.Outcome != driver.Refused || !errors.Is(got.Err, redis.ErrClosed) {
			t.Errorf("in a pipeline: got %v", got)
		}
	}
}

// A command for which the pool has no connection was not sent: it is refused, also when the pool itself calls that a
// timeout. When the deadline comes first it has timed out like any other.
func TestPoolExhausted(t *testing.T) {
	for _, test := range []struct {
		poolTimeout time.Duration
		want        driver.Outcome
		err         error
	}{
		{time.Millisecond, driver.Refused, redis.ErrPoolTimeout},
		{time.Minute, driver.TimedOut, context.DeadlineExceeded},
	} {
		client := newClient(t, stub(t, true), func(o *redis.Options) { o.PoolSize, o.PoolTimeout = 1, test.poolTimeout })
		node := newNode(t, client)
		slow := command(t, "acquire a", ttl)
		slow.Deadline = time.Now().Add(time.Second)
		done := make(chan driver.Reply, 1)
		slow.Done = func(_ *driver.Command, r driver.Reply) { done <- r }
		node.Do([]*driver.Command{slow})
		for client.PoolStats().TotalConns == 0 {
			time.Sleep(time.Millisecond)
		}
		if got := acquire(t, node); got.Outcome != test.want || !errors.Is(got.Err, test.err) {
			t.Errorf("PoolTimeout %v: got %v, want %v, %v", test.poolTimeout, got, test.want, test.err)
		}
		if got := <-done; got.Outcome != driver.TimedOut {
			t.Errorf("the command that had the connection: %v", got)
		}
	}
}

// A pipeline that breaks half-way keeps the replies that had come.
func TestBrokenPipeline(t *testing.T) {
	for _, test := range []struct {
		silent bool
		want   driver.Outcome
	}{{false, driver.Refused}, {true, driver.TimedOut}} {
		node := newNode(t, newClient(t, stub(t, test.silent, ":1", ":0", ":0", "-OOM command not allowed"), nil))
		var batch []*driver.Command
		for _, text := range []string{"acquire a", "acquire b", "release c", "acquire d", "acquire e", "extend f"} {
			c := command(t, text, ttl)
			c.Deadline = time.Now().Add(short)
			batch = append(batch, c)
		}
		want := []driver.Outcome{driver.Accepted, driver.Declined, driver.Declined, driver.Failed, test.want, test.want}
		for i, got := range do(t, node, batch...) {
			if got.Outcome != want[i] || (got.Err == nil) != (want[i] <= driver.Declined) {
				t.Errorf("silent %v, command %d: got %v, want %v", test.silent, i, got, want[i])
			}
		}
	}
}

// realServer is a redis-server, with a node and a connection of the test's own.
type realServer struct {
	*redisserver.Server
	node  driver.Node
	admin *redis.Client
}

func startReal(t *testing.T) *realServer {
	server := redisserver.Start(t)
	return &realServer{server, newNode(t, newClient(t, server.Addr, nil)), newClient(t, server.Addr, nil)}
}

func (r *realServer) one(t *testing.T, text string) driver.Reply {
	t.Helper()
	return do(t, r.node, command(t, text, ttl))[0]
}

// knowsScripts lets the node send every script once, and leaves nothing.
func (r *realServer) knowsScripts(t *testing.T) {
	t.Helper()
	for _, text := range []string{"acquire a b", "extend a b", "release a b"} {
		expect(t, "at first, "+text, r.one(t, text), driver.Accepted)
	}
}

func expect(t *testing.T, when string, got driver.Reply, want driver.Outcome) {
	t.Helper()
	if got.Outcome != want {
		t.Errorf("%s: got %v, %v; want %v", when, got.Outcome, got.Err, want)
	}
}

// Both the plain acquire and the scripted one need memory, extending and releasing need none.
func TestServerOutOfMemory(t *testing.T) {
	r, ctx := startReal(t), context.Background()
	expect(t, "at first", r.one(t, "acquire a"), driver.Accepted)
	r.admin.ConfigSet(ctx, "maxmemory", "1")
	for _, text := range []string{"acquire b", "acquire b c"} {
		got := r.one(t, text)
		expect(t, "out of memory, "+text, got, driver.Failed)
		if !redis.IsOOMError(got.Err) {
			t.Errorf("error %v", got.Err)
		}
	}
	expect(t, "out of memory, extend", r.one(t, "extend a"), driver.Accepted)
	expect(t, "out of memory, release", r.one(t, "release a"), driver.Accepted)
	r.admin.ConfigSet(ctx, "maxmemory", "0")
	if state := getState(t, r.admin); state != "" {
		t.Errorf("left over: %s", state)
	}
	expect(t, "with memory again", r.one(t, "acquire a b"), driver.Accepted)
}

// A replica refuses whatever writes.
func TestServerBecomesReplica(t *testing.T) {
	r, ctx := startReal(t), context.Background()
	r.knowsScripts(t)
	expect(t, "before it becomes a replica", r.one(t, "acquire a b"), driver.Accepted)
	if err := r.admin.Do(ctx, "replicaof", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		ttl  time.Duration
	}{{"acquire c", ttl}, {"acquire c d", ttl}, {"extend a b", 2 * ttl}, {"extend a b", ttl / 2}, {"release a b", 0}} {
		got := do(t, r.node, command(t, test.text, test.ttl))[0]
		expect(t, "replica, "+test.text, got, driver.Failed)
		if !redis.IsReadOnlyError(got.Err) {
			t.Errorf("error %v", got.Err)
		}
	}
	r.admin.Do(ctx, "replicaof", "no", "one")
	expect(t, "a master again", r.one(t, "acquire c"), driver.Accepted)
}

// How connections fare when the server stops, is killed, hangs and comes back.
func TestServerComesBack(t *testing.T) {
	r := startReal(t)
	r.knowsScripts(t)
	for _, end := range []struct {
		name string
		do   func()
	}{{"stopped", r.Stop}, {"killed", r.Kill}} {
		name := end.name
		expect(t, "before it is "+name, r.one(t, "acquire "+name), driver.Accepted)
		end.do()
		expect(t, name, acquire(t, r.node), driver.Refused)
		r.Restart()
		// The scripts are forgotten, and after the next restart the connection in the pool is dead: go-redis sees that
		// before it uses one.
		expect(t, "after it was "+name, r.one(t, "release "+name), driver.Declined)
		expect(t, "after it was "+name, r.one(t, "acquire "+name), driver.Accepted)
		r.Stop()
		r.Restart()
		expect(t, "nothing was sent while it was away", r.one(t, "acquire "+name), driver.Accepted)
	}

	r.Pause()
	expect(t, "hanging", acquire(t, r.node), driver.TimedOut)
	expect(t, "hanging, on a new connection", acquire(t, r.node), driver.TimedOut)
	r.Resume()
	expect(t, "going on", r.one(t, "acquire z"), driver.Accepted)
}

// The deadline ends the command, not the dial: go-redis dials on in a goroutine of its own and keeps the connection.
func TestDialOutlivesDeadline(t *testing.T) {
	server := miniredis.RunT(t)
	release := make(chan struct{})
	client := newClient(t, server.Addr(), func(o *redis.Options) {
		o.DialTimeout = time.Minute
		o.Dialer = func(_ context.Context, network, addr string) (net.Conn, error) {
			<-release
			return net.Dial(network, addr)
		}
	})
	node := newNode(t, client)
	if got := acquire(t, node); got.Outcome != driver.TimedOut {
		t.Errorf("got %v", got)
	}
	close(release)
	for start := time.Now(); client.PoolStats().IdleConns == 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatal("the connection was not kept")
		}
	}
	if got := do(t, node, command(t, "acquire k", ttl))[0]; got.Outcome != driver.Accepted {
		t.Errorf("got %v", got)
	}
	if n := server.TotalConnectionCount(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}
