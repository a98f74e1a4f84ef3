//go:build unix

package goredis_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"go.uber.org/goleak"

	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
)

// A release with Wake is heard of by those who listen for its key, until they stop, also after the server was restarted.
func TestListen(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		server := redisserver.Start(t)
		client := newClient(t, server.Addr, nil)
		node := newNode(t, client)
		var a, b atomic.Int32
		stopA := node.Listen(driver.WakeChannel("a"), func() { a.Add(1) })
		stopB := node.Listen(driver.WakeChannel("b"), func() { b.Add(1) })
		release := func(wake bool) {
			t.Helper()
			for _, text := range []string{"acquire a", "release a"} {
				c := command(t, text, ttl)
				c.Wake = wake && c.Op == driver.OpRelease
				if r := do(t, node, c)[0]; r.Outcome != driver.Accepted {
					t.Fatalf("%s: %v", text, r)
				}
			}
		}
		listening := func() bool {
			n, err := newClient(t, server.Addr, nil).PubSubNumSub(context.Background(), driver.WakeChannel("a")).Result()
			return err == nil && n[driver.WakeChannel("a")] == 1
		}

		eventually(t, patience, "it listens", listening)
		release(false)
		release(true)
		eventually(t, patience, "it hears", func() bool { return a.Load() == 1 })
		server.Kill()
		server.Restart()
		eventually(t, patience, "it listens again", listening)
		release(true)
		eventually(t, patience, "it hears again", func() bool { return a.Load() == 2 })
		stopA()
		eventually(t, patience, "it has stopped", func() bool { return !listening() })
		release(true)
		stopB()
		if a.Load() != 2 || b.Load() != 0 {
			t.Errorf("heard %d and %d", a.Load(), b.Load())
		}
	})
}

// Who listens to a server that is not there can stop.
func TestListenToNobody(t *testing.T) {
	client := newClient(t, "127.0.0.1:1", nil)
	newNode(t, client).Listen("channel", func() { t.Error("heard") })()
}

// Nodes that are closed by several at once are closed for all of them.
func TestClosedTwiceWhileListening(t *testing.T) {
	server := redisserver.Start(t)
	for range 20 {
		nodes, err := goredis.Open(server.Addr)
		if err != nil {
			t.Fatal(err)
		}
		nodes[0].(driver.Listener).Listen("channel", func() {})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _ = nodes.Close() }) // all but the first are told that it is closed already
		}
		closed := make(chan struct{})
		go func() { all.Wait(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(patience):
			t.Fatal("one of them waits for ever")
		}
	}
}

// A waiter with the wake-up has the lock long before it would have asked again.
func TestWakeUpLive(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		c := startCluster(t)
		wake, slow := redlock.WithWakeUp(10*time.Millisecond), redlock.WithRetryDelay(time.Minute, time.Minute)
		timeout := redlock.WithNodeTimeout(time.Second)
		holder, _ := c.open(t, wake, timeout)
		waiter, _ := c.open(t, wake, slow, timeout)
		lease, err := holder.Lock(t.Context(), "r", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error)
		go func() {
			l, err := waiter.Lock(t.Context(), "r", time.Minute)
			if err == nil {
				err = l.Unlock(context.Background())
			}
			waiting <- err
		}()
		eventually(t, patience, "it listens on every node", func() bool {
			for _, view := range c.views {
				if n := view.PubSubNumSub(context.Background(), driver.WakeChannel("r")).Val(); n[driver.WakeChannel("r")] != 1 {
					return false
				}
			}
			return true
		})
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-waiting:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("it was not told")
		}
		closeWithin(t, patience, holder)
		closeWithin(t, patience, waiter)
	})
}

// mute is a server that accepts connections and never answers.
type mute struct {
	net.Listener
	open, accepted atomic.Int32 // connections that the other side has not closed, and all
}

func startMute(t *testing.T) *mute {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mute{Listener: l}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.open.Add(1)
			m.accepted.Add(1)
			go func() {
				_, _ = io.Copy(io.Discard, conn)
				_ = conn.Close()
				m.open.Add(-1)
			}()
		}
	}()
	return m
}

// openOn makes a lock client over these servers.
func openOn(t *testing.T, addrs []string, options ...redlock.Option) (*redlock.Client, goredis.Nodes) {
	t.Helper()
	nodes, err := goredis.Open(addrs...)
	if err != nil {
		t.Fatal(err)
	}
	client, err := redlock.New(nodes, options...)
	if err != nil {
		t.Fatal(err)
	}
	return client, nodes
}

// waitInVain waits for that long for the lock "r", which another has.
func waitInVain(t *testing.T, client *redlock.Client, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if _, err := client.Lock(ctx, "r", time.Hour); !errors.Is(err, redlock.ErrNotAcquired) {
		t.Fatal(err)
	}
}

// Waiting for a lock leaves nothing behind at a node that accepts connections and never answers, however often it is
// done: neither goroutines nor connections. Nothing at all is left after Close.
func TestListenToSilence(t *testing.T) {
	const waits = 40
	silent := startMute(t)
	addrs := []string{miniredis.RunT(t).Addr(), miniredis.RunT(t).Addr(), silent.Addr().String()}
	before := goleak.IgnoreCurrent()
	client, nodes := openOn(t, addrs, redlock.WithWakeUp(time.Millisecond), redlock.WithNodeTimeout(20*time.Millisecond))
	holder, others := openOn(t, addrs[:2])
	lease, err := holder.Lock(t.Context(), "r", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for i := range waits {
		waitInVain(t, client, 50*time.Millisecond)
		// One subscription, and the commands that have not timed out.
		if n := silent.open.Load(); n > 8 {
			t.Fatalf("%d connections are open after %d waits", n, i+1)
		}
	}
	if n := silent.accepted.Load(); n < waits {
		t.Fatalf("the silent node was asked %d times only", n)
	}
	// By then the subscription has got as far as to wait for a message, whatever it did before: each step takes a second.
	waitInVain(t, client, 2500*time.Millisecond)
	// Nobody waits: what was listened with ends, with all clients open.
	eventually(t, 5*time.Second, "no connection is open", func() bool { return silent.open.Load() == 0 })

	waitInVain(t, client, 50*time.Millisecond)
	go func() { _, _ = client.Lock(context.Background(), "r", time.Hour) }()
	eventually(t, patience, "somebody waits again", func() bool { return silent.open.Load() > 0 })
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	closeWithin(t, patience, client)
	begin := time.Now()
	if err := nodes.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("closing took %v", took)
	}
	if err := others.Close(); err != nil {
		t.Error(err)
	}
	eventually(t, time.Second, "no connection is open after Close", func() bool { return silent.open.Load() == 0 })
	eventually(t, patience, "no goroutine is left after Close", func() bool {
		// Those of the servers are the test's own.
		return goleak.Find(before, goleak.IgnoreAnyFunction("redlocksim/redlock/goredis_test.startMute.func2.1"),
			goleak.IgnoreAnyFunction("github.com/alicebob/miniredis/v2/server.(*Server).servePeer")) == nil
	})
}

// quick is a clock that runs so many times as fast as the system's.
type quick struct {
	driver.Clock
	begin  time.Time
	factor time.Duration
}

func (q quick) Now() time.Time { return q.begin.Add(time.Since(q.begin) * q.factor) }

func (q quick) WithDeadline(parent context.Context, t time.Time) (context.Context, context.CancelFunc) {
	return q.Clock.WithDeadline(parent, q.begin.Add(t.Sub(q.begin)/q.factor))
}

// A subscription on which nothing is published lasts, since the server answers when it is asked; one whose server has
// fallen silent is made anew.
func TestListenAfterSilence(t *testing.T) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		server := redisserver.Start(t)
		view := newClient(t, server.Addr, nil)
		node := newNode(t, newClient(t, server.Addr, nil), goredis.Runtime(driver.Runtime{Clock: quick{driver.SystemClock(), time.Now(), 20}}))
		var heard atomic.Int32
		stop := node.Listen("channel", func() { heard.Add(1) })
		subscriber := func() (id string) {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			list, _, _ := strings.Cut(view.Do(ctx, "client", "list", "type", "pubsub").String(), " addr=")
			return list
		}
		var first, second string
		eventually(t, patience, "it listens", func() bool { first = subscriber(); return strings.Contains(first, "id=") })
		time.Sleep(2 * time.Second) // 40 s by its clock
		if again := subscriber(); again != first {
			t.Errorf("a healthy subscription was made anew: %q, then %q", first, again)
		}
		server.Pause()
		time.Sleep(2 * time.Second)
		server.Resume()
		eventually(t, patience, "it listens anew", func() bool {
			second = subscriber()
			return strings.Contains(second, "id=") && second != first
		})
		eventually(t, patience, "it hears", func() bool {
			view.Publish(context.Background(), "channel", "")
			return heard.Load() > 0
		})
		stop()
		eventually(t, patience, "it has stopped", func() bool { return !strings.Contains(subscriber(), "id=") })
	})
}

// endless is a clock by which no deadline comes.
type endless struct{ driver.Clock }

func (endless) WithDeadline(parent context.Context, _ time.Time) (context.Context, context.CancelFunc) {
	return context.WithCancel(parent)
}

// counting counts the tasks that run.
type counting struct {
	driver.Tasks
	running *atomic.Int32
}

func (c counting) Start(f func()) {
	c.running.Add(1)
	c.Tasks.Start(func() {
		defer c.running.Add(-1)
		f()
	})
}

// A subscription that waits before it connects again ends once nobody listens, without waiting any longer.
func TestNobodyListensInThePause(t *testing.T) {
	server := miniredis.RunT(t)
	var running atomic.Int32
	node := newNode(t, newClient(t, server.Addr(), nil), goredis.Runtime(driver.Runtime{Clock: endless{driver.SystemClock()},
		Tasks: counting{driver.SystemTasks(), &running}}))
	server.Close()
	stop := node.Listen("channel", func() {})
	time.Sleep(100 * time.Millisecond) // for the connection that is refused
	if running.Load() == 0 {
		t.Fatal("it does not try again")
	}
	stop()
	eventually(t, patience, "no task is left", func() bool { return running.Load() == 0 })
}
