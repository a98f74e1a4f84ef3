//go:build linux

package testbed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/live/internal/server"
	"redlocksim/sim/network"

	"redlocksim/live/internal/proxy"
)

// What a node sends a peer goes down the link by which the peer follows it, and up the one by which it follows the peer.
func TestLinksAmongNodes(t *testing.T) {
	r := emptyTestbed(t)
	g := newGround(r.Testbed)
	for _, ends := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "a"}} {
		if _, err := r.Link(ends[0], ends[1], "127.0.0.1:1"); err != nil {
			t.Fatal(err)
		}
		r.LinkOf(ends[0], ends[1]).AmongNodes = true
	}
	for _, test := range []struct {
		nodes, peers string
		direction    network.Direction
		want         string
	}{
		{"a", "b", network.Requests, "b follows a: down, a follows b: up"},
		{"a", "b", network.Replies, "b follows a: up, a follows b: down"},
		{"b", "a", network.Requests, "a follows b: down, b follows a: up"},
		{"a", "b", network.Both, "a follows b: up, a follows b: down, b follows a: up, b follows a: down"},
		{"a", "b c", network.Requests, "b follows a: down, a follows b: up, c follows a: down, a follows c: up"},
	} {
		links := amongPeers(test.nodes, test.peers, test.direction)
		g.each(&links, func(w *proxy.Impairment) { w.Lost++ })
		var got []string
		for _, p := range r.links {
			for name, w := range map[string]*proxy.Flow{"up": p.Up, "down": p.Down} {
				if now, _ := w.State(); now.Lost == 1 {
					got = append(got, fmt.Sprintf("%s follows %s: %s", p.Client, p.Node, name))
				}
			}
		}
		want := strings.Split(test.want, ", ")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s → %s: %q, want %q", test.nodes, test.peers, got, want)
		}
		g.each(&links, func(w *proxy.Impairment) { w.Lost-- })
	}
	g.each(&faults.Links{}, func(w *proxy.Impairment) { t.Error("a link among nodes is taken for one of a client") })
}

// A ground knows whether anything came upon what is wrong with its links.
func TestMet(t *testing.T) {
	t.Parallel()
	for name, impair := range map[string]func(*proxy.Impairment){
		"lost": func(w *proxy.Impairment) { w.Lost = 1 }, "held": func(w *proxy.Impairment) { w.Held = 1 },
		"delayed": func(w *proxy.Impairment) { w.Delay = time.Millisecond },
	} {
		r := emptyTestbed(t)
		if err := r.AddServers(t.Context(), server.Redis, server.Config{Names: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		g := newGround(r.Testbed)
		addr, err := r.Link("c", "A", r.ServerNamed("A").Addr)
		if err != nil {
			t.Fatal(err)
		}
		ask := func() { _, _ = redisproc.Ask(addr, "PING") } // who is cut off is told so
		ask()
		flow := r.LinkOf("c", "A").Down
		flow.Change(impair)
		if g.Met() {
			t.Errorf("%s: met before anything was sent", name)
		}
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			ask()
		}()
		for deadline := time.Now().Add(redisproc.Patience); !g.Met() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		}
		if !g.Met() {
			t.Errorf("%s: an answer has not met it", name)
		}
		flow.Change(func(w *proxy.Impairment) { *w = proxy.Impairment{} })
		<-asked
	}
}

// A proxy that is led elsewhere takes what is asked at its address there, with the faults of that link.
func TestLead(t *testing.T) {
	t.Parallel()
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		r := emptyTestbed(t)
		if err := r.AddServers(t.Context(), server.Redis, server.Config{Names: []string{"A", "B"}}); err != nil {
			t.Fatal(err)
		}
		addr, err := r.Link("c", "A", r.ServerNamed("A").Addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Link("c", "B", r.ServerNamed("B").Addr); err != nil {
			t.Fatal(err)
		}
		portOf := func() string {
			info, err := redisproc.Ask(addr, "INFO", "server")
			if err != nil {
				return err.Error()
			}
			_, port, _ := strings.Cut(info, "tcp_port:")
			port, _, _ = strings.Cut(port, "\r\n")
			return "127.0.0.1:" + port
		}
		if got := portOf(); got != r.ServerNamed("A").Addr {
			t.Errorf("%s answers", got)
		}
		r.LinkOf("c", "A").Lead(r.LinkOf("c", "B"))
		if got := portOf(); got != r.ServerNamed("B").Addr {
			t.Errorf("%s answers, want B at %s", got, r.ServerNamed("B").Addr)
		}
		delay := 300 * time.Millisecond
		r.LinkOf("c", "B").Up.Change(func(w *proxy.Impairment) { w.Delay = delay })
		r.LinkOf("c", "A").Up.Change(func(w *proxy.Impairment) { w.Lost++ })
		begun := time.Now()
		if got := portOf(); got != r.ServerNamed("B").Addr || time.Since(begun) < delay {
			t.Errorf("%s answers after %v", got, time.Since(begun))
		}
	})
}
