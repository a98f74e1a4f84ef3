//go:build unix

package rueidis_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"redlocksim/internal/adaptertest"
	"redlocksim/internal/redisserver"
	"redlocksim/redlock/driver"
)

func open(t *testing.T, c adaptertest.Config, addr string) driver.Node {
	t.Helper()
	nodes, end := own.Open(t, c, addr)
	t.Cleanup(func() { _ = end() })
	return nodes[0]
}

func accepted(t *testing.T, node driver.Node, commands ...string) {
	t.Helper()
	for _, text := range commands {
		if r := adaptertest.Do(t, node, adaptertest.Command(t, text, adaptertest.TTL))[0]; r.Outcome != driver.Accepted {
			t.Fatalf("%s: %v", text, r)
		}
	}
}

// A release that is sent after an acquire has timed out is carried out after it, so that nothing is left of it.
func TestReleaseFollowsWhatTimedOut(t *testing.T) {
	server := redisserver.Start(t)
	admin := adaptertest.Admin(t, server.Addr)
	var connections atomic.Int32
	node := open(t, adaptertest.Config{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		connections.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}, server.Addr)
	accepted(t, node, "acquire z", "release z")
	server.Pause()
	for _, text := range []string{"acquire a", "release a"} {
		c := adaptertest.Command(t, text, adaptertest.TTL)
		c.Deadline = time.Now().Add(adaptertest.Short)
		if r := adaptertest.Do(t, node, c)[0]; r.Outcome != driver.TimedOut {
			t.Errorf("%s: %v", text, r)
		}
	}
	server.Resume()
	accepted(t, node, "acquire y") // on the same connection, behind them
	if n := admin.Exists(t.Context(), "a").Val(); n != 0 {
		t.Error("the key is left")
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}

// hole is a connection that after a while gives nothing any more, and nobody is told.
type hole struct {
	net.Conn
	isOpen *atomic.Bool
}

func (h hole) Read(data []byte) (n int, err error) {
	if n, err = h.Conn.Read(data); err == nil && h.isOpen.Load() {
		return h.Read(data)
	}
	return n, err
}

// A connection on which nothing comes any more is replaced.
func TestDeadConnectionIsReplaced(t *testing.T) {
	server := miniredis.RunT(t)
	var isOpen atomic.Bool
	var connections atomic.Int32
	node := open(t, adaptertest.Config{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
		if err == nil && connections.Add(1) == 1 {
			c = hole{c, &isOpen}
		}
		return c, err
	}}, server.Addr())
	accepted(t, node, "acquire a")
	isOpen.Store(true)
	if r := adaptertest.Acquire(t, node); r.Outcome != driver.TimedOut {
		t.Errorf("nothing comes, and it is %v", r)
	}
	begin := time.Now()
	adaptertest.Eventually(t, adaptertest.Patience, "it is replaced", func() bool {
		c := adaptertest.Command(t, "extend a", adaptertest.TTL)
		c.Deadline = time.Now().Add(adaptertest.Short)
		return adaptertest.Do(t, node, c)[0].Outcome == driver.Accepted
	})
	t.Logf("replaced after %v", time.Since(begin))
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections", n)
	}
}

// Nothing is open after Close, also of a node that is closed while it connects.
func TestClosedWhileConnecting(t *testing.T) {
	server := miniredis.RunT(t)
	for range 50 {
		dialled := make(chan struct{})
		nodes, end := own.Open(t, adaptertest.Config{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			defer close(dialled)
			return (&net.Dialer{}).DialContext(ctx, network, addr)
		}}, server.Addr())
		c := adaptertest.Command(t, "acquire k", adaptertest.TTL)
		c.Done = func(*driver.Command, driver.Reply) {}
		nodes[0].Do([]*driver.Command{c})
		<-dialled
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	adaptertest.Eventually(t, adaptertest.Patience, "no connection is open", func() bool { return server.CurrentConnectionCount() == 0 })
}

// A connection that is lost is made anew although that takes longer than any command waits.
func TestReconnectOutlivesDeadlines(t *testing.T) {
	server := miniredis.RunT(t)
	node := open(t, adaptertest.Config{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		select {
		case <-time.After(2 * adaptertest.Short):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return (&net.Dialer{}).DialContext(ctx, network, addr)
	}}, server.Addr())
	accepted(t, node, "acquire a")
	server.Close()
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	adaptertest.Eventually(t, adaptertest.Patience, "there is a connection again", func() bool {
		c := adaptertest.Command(t, "extend a", adaptertest.TTL)
		c.Deadline = time.Now().Add(adaptertest.Short)
		return adaptertest.Do(t, node, c)[0].Outcome == driver.Accepted
	})
}
