//go:build unix

package goredis_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock"
)

// A release with Wake is heard of by those who listen for its key, until they stop, also after the server was restarted.
func TestListen(t *testing.T) {
	server := redisserver.Start(t)
	client := newClient(t, server.Addr, nil)
	node := newNode(t, client)
	var a, b atomic.Int32
	stopA := node.Listen(redlock.WakeChannel("a"), func() { a.Add(1) })
	stopB := node.Listen(redlock.WakeChannel("b"), func() { b.Add(1) })
	release := func(wake bool) {
		t.Helper()
		for _, text := range []string{"acquire a", "release a"} {
			c := command(t, text, ttl)
			c.Wake = wake && c.Op == redlock.OpRelease
			if r := do(t, node, c)[0]; r.Outcome != redlock.Accepted {
				t.Fatalf("%s: %v", text, r)
			}
		}
	}
	listening := func() bool {
		n, err := newClient(t, server.Addr, nil).PubSubNumSub(context.Background(), redlock.WakeChannel("a")).Result()
		return err == nil && n[redlock.WakeChannel("a")] == 1
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
}

// Who listens to a server that is not there can stop.
func TestListenToNobody(t *testing.T) {
	client := newClient(t, "127.0.0.1:1", nil)
	newNode(t, client).Listen("channel", func() { t.Error("heard") })()
}

// A waiter with the wake-up has the lock long before it would have asked again.
func TestWakeUpLive(t *testing.T) {
	c := startCluster(t)
	wake, slow := redlock.WithWakeUp(redlock.DefaultWakeUpSpread), redlock.WithRetryDelay(time.Minute, time.Minute)
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
			if n := view.PubSubNumSub(context.Background(), redlock.WakeChannel("r")).Val(); n[redlock.WakeChannel("r")] != 1 {
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
}
