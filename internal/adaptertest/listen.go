//go:build unix

package adaptertest

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/internal/stall/retry"
	"redlocksim/redlock/driver"
)

// disturbing is for how long a machine must hold up a test for it to be tried again, with longer times.
const disturbing = 50 * time.Millisecond

// listened says whether somebody listens for the calls of a waiter on a server.
func listened(admin *redis.Client, waiter string) func() bool {
	channel := driver.WakeChannel(waiter)
	return func() bool { return admin.PubSubNumSub(context.Background(), channel).Val()[channel] == 1 }
}

// inLine is a command of a client that waits, or that lets the next have its turn if it is a release.
func inLine(t testing.TB, text, waiter string) *driver.Command {
	c := Command(t, text, TTL)
	c.Line = &driver.Line{Waiter: waiter}
	if c.Op == driver.OpRelease {
		c.Line = &driver.Line{Turn: time.Millisecond}
	}
	return c
}

// A release calls the first in line, by its name and with the key, and passes over those that do not listen; also after the
// server was restarted.
func listen(t *testing.T, a Adapter) {
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		server := redisserver.Start(t)
		node, admin := a.node(t, server.Addr, Config{}).(driver.Listener), Admin(t, server.Addr)
		var heardA, heardB atomic.Int32
		stopA := node.Listen(driver.WakeChannel("a"), func(key string) {
			if key == "k" {
				heardA.Add(1)
			}
		})
		stopB := node.Listen(driver.WakeChannel("b"), func(string) { heardB.Add(1) })
		// handOver has a lock released for which others wait.
		handOver := func(waiters ...string) {
			t.Helper()
			expect(t, "acquire", Do(t, node, Command(t, "acquire k", TTL))[0], driver.Accepted)
			for _, w := range waiters {
				expect(t, w, Do(t, node, inLine(t, "acquire k", w))[0], driver.Declined)
			}
			expect(t, "release", Do(t, node, inLine(t, "release k", ""))[0], driver.Accepted)
			time.Sleep(2 * time.Millisecond) // its turn is over
		}
		Eventually(t, Patience, "it listens", listened(admin, "a"))
		handOver("nobody", "a", "a")
		Eventually(t, Patience, "it hears", func() bool { return heardA.Load() == 1 })
		server.Kill()
		server.Restart()
		Eventually(t, Patience, "it listens again", listened(admin, "a"))
		handOver("a")
		Eventually(t, Patience, "it hears again", func() bool { return heardA.Load() == 2 })
		stopA()
		Eventually(t, Patience, "it has stopped", func() bool { return !listened(admin, "a")() })
		handOver("a")
		stopB()
		if heardA.Load() != 2 || heardB.Load() != 0 {
			t.Errorf("heard %d and %d", heardA.Load(), heardB.Load())
		}
		// Who listens to a server that is not there can stop.
		a.node(t, "127.0.0.1:1", Config{}).(driver.Listener).Listen("channel", func(string) { t.Error("heard") })()
	})
}

// A server that does not let its user publish or subscribe votes all the same. The answers to refused acquires and to releases
// say so.
func listenForbidden(t *testing.T, a Adapter) {
	b := newBench(t, a, redisserver.Start(t).Addr, Config{})
	const noSubscribe, noPublish = "waiting calls poll, as the server forbids what they listen with: NOPERM", "the release woke nobody: "
	for _, user := range []struct{ name, rules, ofAcquires, ofReleases string }{
		{"all", "&*", "", ""},
		{"no-channels", "resetchannels", noSubscribe, noPublish},
		{"no-publish", "&* -publish", "", noPublish},
		{"no-subscribe", "&* -subscribe", noSubscribe, ""},
	} {
		t.Run(user.name, func(t *testing.T) {
			b.ask("acl setuser " + user.name + " on >p ~* +@all " + user.rules)
			b.set("a=mine:30s b=theirs:30s")
			node := a.node(t, b.db.Options().Addr, Config{Username: user.name, Password: "p"})
			defer node.(driver.Listener).Listen(driver.WakeChannel("b"), func(string) {})()
			says := func(text string, outcome driver.Outcome, want string) bool {
				r := Do(t, node, inLine(t, text, "b"))[0]
				if want == "" {
					return r.Outcome == outcome && r.Err == nil
				}
				return r.Outcome == outcome && errors.Is(r.Err, driver.ErrWakeUp) && strings.Contains(r.Err.Error(), "no wake-up: "+want)
			}
			if user.ofAcquires == "" {
				Eventually(t, Patience, "it listens", listened(b.db, "b"))
			}
			Eventually(t, Patience, "a refused acquire tells "+user.ofAcquires, func() bool { return says("acquire b", driver.Declined, user.ofAcquires) })
			expect(t, "somebody waits", Do(t, node, inLine(t, "acquire a", "b"))[0], driver.Declined)
			if !says("release a", driver.Accepted, user.ofReleases) {
				t.Errorf("a release does not tell %q", user.ofReleases)
			}
		})
	}
}

// Where listening fails for another reason, refused acquires are told so for as long as it does, and for as long as somebody
// listens.
func listenFails(t *testing.T, a Adapter) {
	m := miniredis.RunT(t)
	var refuses atomic.Bool
	m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if command != "SUBSCRIBE" || !refuses.Load() {
			return false
		}
		c.WriteError("ERR max number of clients reached")
		return true
	})
	b := newBench(t, a, m.Addr(), Config{})
	b.set("a=theirs:30s")
	isTold := func() bool {
		err := Do(t, b.node, inLine(t, "acquire a", "a"))[0].Err
		return errors.Is(err, driver.ErrWakeUp) && strings.Contains(err.Error(), "no wake-up: waiting calls poll, as what they listen with fails: ")
	}
	if isTold() {
		t.Error("it fails before anybody listens")
	}
	refuses.Store(true)
	stop := b.node.(driver.Listener).Listen(driver.WakeChannel("a"), func(string) {})
	Eventually(t, Patience, "a refused call is told", isTold)
	stop()
	Eventually(t, Patience, "nobody listens", func() bool { return !isTold() })
	stop = b.node.(driver.Listener).Listen(driver.WakeChannel("a"), func(string) {})
	Eventually(t, Patience, "a refused call is told again", isTold)
	refuses.Store(false)
	Eventually(t, Patience, "it works", func() bool { return !isTold() && listened(b.db, "a")() })
	stop()
}

// Listening leaves nothing behind at a node that accepts connections and never answers, however often it is done.
func listenToSilence(t *testing.T, a Adapter) {
	t.Parallel()
	var open, accepted atomic.Int32 // connections that the other side has not closed, and all
	addr := Server(t, func(conn net.Conn) {
		open.Add(1)
		accepted.Add(1)
		_, _ = io.Copy(io.Discard, conn)
		open.Add(-1)
	})
	nodes, end := a.Open(t, Config{}, addr)
	node := nodes[0].(driver.Listener)
	for i := range 20 {
		stop := node.Listen("channel", func(string) {})
		time.Sleep(20 * time.Millisecond)
		stop()
		if n := open.Load(); n > 3 {
			t.Fatalf("%d connections are open after %d times", n, i+1)
		}
	}
	stop := node.Listen("channel", func(string) {})
	// By then it has got as far as to wait for a message, whatever it did before: each step takes a second.
	time.Sleep(2500 * time.Millisecond)
	stop()
	Eventually(t, 5*time.Second, "no connection is open", func() bool { return open.Load() == 0 })
	if accepted.Load() == 0 {
		t.Error("nobody has connected")
	}
	node.Listen("channel", func(string) {})
	Eventually(t, Patience, "somebody listens again", func() bool { return open.Load() > 0 })
	begin := time.Now()
	if err := end(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("closing took %v", took)
	}
	Eventually(t, time.Second, "no connection is open after Close", func() bool { return open.Load() == 0 })
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
	t.Parallel()
	retry.Test(t, disturbing, func(t *retry.T) {
		server := redisserver.Start(t)
		view := Admin(t, server.Addr)
		clock := quick{driver.SystemClock(), time.Now(), 20}
		node := a.node(t, server.Addr, Config{Runtime: driver.Runtime{Clock: clock}}).(driver.Listener)
		defer node.Listen("channel", func(string) {})()
		subscriber := func() (id string) {
			list, _, _ := strings.Cut(view.Do(context.Background(), "client", "list", "type", "pubsub").String(), " addr=")
			return list
		}
		var first string
		Eventually(t, Patience, "it listens", func() bool { first = subscriber(); return strings.Contains(first, "id=") })
		time.Sleep(1500 * time.Millisecond) // 30 s by its clock
		if again := subscriber(); again != first {
			t.Errorf("a healthy subscription was made anew: %q, then %q", first, again)
		}
		server.Pause()
		time.Sleep(1500 * time.Millisecond)
		server.Resume()
		Eventually(t, Patience, "it listens anew", func() bool {
			second := subscriber()
			return strings.Contains(second, "id=") && second != first
		})
	})
}
