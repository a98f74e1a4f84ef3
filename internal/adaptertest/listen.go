//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
)

// disturbing is for how long a machine must hold up a test for it to be tried again, with longer times.
const disturbing = 50 * time.Millisecond

// A release with Wake is heard of by those who listen for its key, until they stop, also after the server was restarted.
func listen(t *testing.T, a Adapter) {
	retry.Test(t, disturbing, func(t *retry.T) {
		server := redisserver.Start(t)
		node, admin := a.node(t, server.Addr, Config{}).(driver.Listener), Admin(t, server.Addr)
		var heardA, heardB atomic.Int32
		stopA := node.Listen(driver.WakeChannel("a"), func() { heardA.Add(1) })
		stopB := node.Listen(driver.WakeChannel("b"), func() { heardB.Add(1) })
		release := func(wake bool) {
			t.Helper()
			for _, text := range []string{"acquire a", "release a"} {
				c := Command(t, text, TTL)
				c.Wake = wake && c.Op == driver.OpRelease
				if r := Do(t, node, c)[0]; r.Outcome != driver.Accepted {
					t.Fatalf("%s: %v", text, r)
				}
			}
		}
		listening := func() bool {
			n, err := admin.PubSubNumSub(context.Background(), driver.WakeChannel("a")).Result()
			return err == nil && n[driver.WakeChannel("a")] == 1
		}

		Eventually(t, Patience, "it listens", listening)
		release(false)
		release(true)
		Eventually(t, Patience, "it hears", func() bool { return heardA.Load() == 1 })
		server.Kill()
		server.Restart()
		Eventually(t, Patience, "it listens again", listening)
		release(true)
		Eventually(t, Patience, "it hears again", func() bool { return heardA.Load() == 2 })
		stopA()
		Eventually(t, Patience, "it has stopped", func() bool { return !listening() })
		release(true)
		stopB()
		if heardA.Load() != 2 || heardB.Load() != 0 {
			t.Errorf("heard %d and %d", heardA.Load(), heardB.Load())
		}
	})
}

// Who listens to a server that is not there can stop.
func listenToNobody(t *testing.T, a Adapter) {
	a.node(t, "127.0.0.1:1", Config{}).(driver.Listener).Listen("channel", func() { t.Error("heard") })()
}

// Nodes that are closed by several at once are closed for all of them.
func closedTwiceWhileListening(t *testing.T, a Adapter) {
	server := redisserver.Start(t)
	for range 20 {
		nodes, end := a.Open(t, Config{}, server.Addr)
		nodes[0].(driver.Listener).Listen("channel", func() {})
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() { _ = end() }) // all but the first are told that it is closed already
		}
		closed := make(chan struct{})
		go func() { all.Wait(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(Patience):
			t.Fatal("one of them waits for ever")
		}
	}
}

// A waiter with the wake-up has the lock long before it would have asked again.
func wakeUp(t *testing.T, a Adapter) {
	retry.Test(t, disturbing, func(t *retry.T) {
		var addrs []string
		var admins []*redis.Client
		for range 3 {
			server := redisserver.Start(t)
			addrs, admins = append(addrs, server.Addr), append(admins, Admin(t, server.Addr))
		}
		wake, slow := redlock.WithWakeUp(10*time.Millisecond), redlock.WithRetryDelay(time.Minute, time.Minute)
		timeout := redlock.WithNodeTimeout(time.Second)
		holder, endHolder := a.client(t, Config{}, addrs, wake, timeout)
		defer endHolder()
		waiter, endWaiter := a.client(t, Config{}, addrs, wake, slow, timeout)
		defer endWaiter()
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
		Eventually(t, Patience, "it listens on every node", func() bool {
			return !slices.ContainsFunc(admins, func(admin *redis.Client) bool {
				return admin.PubSubNumSub(context.Background(), driver.WakeChannel("r")).Val()[driver.WakeChannel("r")] != 1
			})
		})
		if err := lease.Unlock(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-waiting:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(Patience):
			t.Error("it was not told")
		}
		CloseWithin(t, Patience, holder)
		CloseWithin(t, Patience, waiter)
	})
}

// mute is a server that accepts connections and never answers.
type mute struct {
	addr           string
	open, accepted atomic.Int32 // connections that the other side has not closed, and all
}

func startMute(t *testing.T) *mute {
	m := &mute{}
	m.addr = Server(t, func(conn net.Conn) {
		m.open.Add(1)
		m.accepted.Add(1)
		_, _ = io.Copy(io.Discard, conn)
		m.open.Add(-1)
	})
	return m
}

// CloseWithin closes a lock client.
func CloseWithin(t testing.TB, bound time.Duration, client *redlock.Client) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	if err := client.Close(ctx); err != nil {
		t.Error(err)
	}
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
func listenToSilence(t *testing.T, a Adapter) {
	const waits = 40
	silent := startMute(t)
	addrs := []string{miniredis.RunT(t).Addr(), miniredis.RunT(t).Addr(), silent.addr}
	before := goleak.IgnoreCurrent()
	client, end := a.client(t, Config{}, addrs, redlock.WithWakeUp(time.Millisecond), redlock.WithNodeTimeout(20*time.Millisecond))
	holder, endHolder := a.client(t, Config{}, addrs[:2])
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
	if n := silent.accepted.Load(); n < 2 {
		t.Fatalf("the silent node has had %d connections, and should have had some for commands and some to listen", n)
	}
	// By then the subscription has got as far as to wait for a message, whatever it did before: each step takes a second.
	waitInVain(t, client, 2500*time.Millisecond)
	// Nobody waits: what was listened with ends, with all clients open.
	Eventually(t, 5*time.Second, "no connection is open", func() bool { return silent.open.Load() == 0 })

	waitInVain(t, client, 50*time.Millisecond)
	go func() { _, _ = client.Lock(context.Background(), "r", time.Hour) }()
	Eventually(t, Patience, "somebody waits again", func() bool { return silent.open.Load() > 0 })
	if err := lease.Unlock(t.Context()); err != nil {
		t.Error(err)
	}
	CloseWithin(t, Patience, client)
	begin := time.Now()
	if err := end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("closing took %v", took)
	}
	if err := endHolder(); err != nil {
		t.Error(err)
	}
	Eventually(t, time.Second, "no connection is open after Close", func() bool { return silent.open.Load() == 0 })
	Eventually(t, Patience, "no goroutine is left after Close", func() bool {
		// Those of the servers are the test's own.
		return goleak.Find(before, goleak.IgnoreAnyFunction("redlocksim/internal/adaptertest.startMute.func1"),
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
func listenAfterSilence(t *testing.T, a Adapter) {
	retry.Test(t, disturbing, func(t *retry.T) {
		server := redisserver.Start(t)
		view := Admin(t, server.Addr)
		node := a.node(t, server.Addr, Config{Runtime: driver.Runtime{Clock: quick{driver.SystemClock(), time.Now(), 20}}}).(driver.Listener)
		var heard atomic.Int32
		stop := node.Listen("channel", func() { heard.Add(1) })
		subscriber := func() (id string) {
			ctx, cancel := context.WithTimeout(context.Background(), Patience)
			defer cancel()
			list, _, _ := strings.Cut(view.Do(ctx, "client", "list", "type", "pubsub").String(), " addr=")
			return list
		}
		var first, second string
		Eventually(t, Patience, "it listens", func() bool { first = subscriber(); return strings.Contains(first, "id=") })
		time.Sleep(2 * time.Second) // 40 s by its clock
		if again := subscriber(); again != first {
			t.Errorf("a healthy subscription was made anew: %q, then %q", first, again)
		}
		server.Pause()
		time.Sleep(2 * time.Second)
		server.Resume()
		Eventually(t, Patience, "it listens anew", func() bool {
			second = subscriber()
			return strings.Contains(second, "id=") && second != first
		})
		Eventually(t, Patience, "it hears", func() bool {
			view.Publish(context.Background(), "channel", "")
			return heard.Load() > 0
		})
		stop()
		Eventually(t, Patience, "it has stopped", func() bool { return !strings.Contains(subscriber(), "id=") })
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
func nobodyListensInThePause(t *testing.T, a Adapter) {
	server := miniredis.RunT(t)
	var running atomic.Int32
	node := a.node(t, server.Addr(), Config{Runtime: driver.Runtime{Clock: endless{driver.SystemClock()},
		Tasks: counting{driver.SystemTasks(), &running}}}).(driver.Listener)
	server.Close()
	stop := node.Listen("channel", func() {})
	time.Sleep(100 * time.Millisecond) // for the connection that is refused
	if running.Load() == 0 {
		t.Fatal("it does not try again")
	}
	stop()
	Eventually(t, Patience, "no task is left", func() bool { return running.Load() == 0 })
}
