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

// What a real server answers, and how connections fare when it stops, is killed, hangs and comes back.
func TestRealServer(t *testing.T) {
	server := redisserver.Start(t)
	client := newClient(t, server.Addr, nil)
	node := newNode(t, client)
	one := func(text string) driver.Reply { return do(t, node, command(t, text, ttl))[0] }
	expect := func(what string, got driver.Reply, want driver.Outcome) {
		t.Helper()
		if got.Outcome != want {
			t.Errorf("%s: got %v, %v; want %v", what, got.Outcome, got.Err, want)
		}
	}
	admin := newClient(t, server.Addr, nil)
	ctx := context.Background()

	expect("at first", one("acquire a"), driver.Accepted)

	// Both the plain acquire and the scripted one need memory, releasing needs none.
	admin.ConfigSet(ctx, "maxmemory", "1")
	for _, text := range []string{"acquire b", "acquire b c"} {
		r := one(text)
		expect("out of memory, "+text, r, driver.Failed)
		if !redis.IsOOMError(r.Err) {
			t.Errorf("error %v", r.Err)
		}
	}
	expect("out of memory, extend", one("extend a"), driver.Accepted)
	expect("out of memory, release", one("release a"), driver.Accepted)
	admin.ConfigSet(ctx, "maxmemory", "0")
	if state := getState(t, admin); state != "" {
		t.Errorf("left over: %s", state)
	}

	expect("before it becomes a replica", one("acquire a b"), driver.Accepted)
	if err := admin.Do(ctx, "replicaof", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		text string
		ttl  time.Duration
	}{{"acquire c", ttl}, {"acquire c d", ttl}, {"extend a b", 2 * ttl}, {"extend a b", ttl / 2}, {"release a b", 0}} {
		r := do(t, node, command(t, test.text, test.ttl))[0]
		expect("replica, "+test.text, r, driver.Failed)
		if !redis.IsReadOnlyError(r.Err) {
			t.Errorf("error %v", r.Err)
		}
	}
	admin.Do(ctx, "replicaof", "no", "one")

	for _, end := range []struct {
		name string
		do   func()
	}{{"stopped", server.Stop}, {"killed", server.Kill}} {
		name := end.name
		expect("before it is "+name, one("acquire "+name), driver.Accepted)
		end.do()
		expect(name, acquire(t, node), driver.Refused)
		server.Restart()
		// The scripts are forgotten, and after the next restart the connection in the pool is dead: go-redis sees that
		// before it uses one.
		expect("after it was "+name, one("release "+name), driver.Declined)
		expect("after it was "+name, one("acquire "+name), driver.Accepted)
		server.Stop()
		server.Restart()
		expect("nothing was sent while it was away", one("acquire "+name), driver.Accepted)
	}

	server.Pause()
	expect("hanging", acquire(t, node), driver.TimedOut)
	expect("hanging, on a new connection", acquire(t, node), driver.TimedOut)
	server.Resume()
	expect("going on", one("acquire z"), driver.Accepted)
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
