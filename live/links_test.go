//go:build linux

package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/proxy"
	"redlocksim/live/internal/server"
	"redlocksim/sim/network"
)

// What a node sends a peer goes down the link by which the peer follows it, and up the one by which it follows the peer.
func TestLinksAmongNodes(t *testing.T) {
	r := emptyBed(t)
	for _, ends := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "c"}, {"c", "a"}} {
		link, err := r.link(ends[0], ends[1], "127.0.0.1:1")
		if err != nil {
			t.Fatal(err)
		}
		link.AmongNodes = true
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
		r.each(&links, func(w *proxy.Impairment) { w.Lost++ })
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
		r.each(&links, func(w *proxy.Impairment) { w.Lost-- })
	}
	r.each(&faults.Links{}, func(w *proxy.Impairment) { t.Error("a link among nodes is taken for one of a client") })
}

// A run knows whether anything came upon what is wrong with its links.
func TestMet(t *testing.T) {
	t.Parallel()
	for name, impair := range map[string]func(*proxy.Impairment){
		"lost": func(w *proxy.Impairment) { w.Lost = 1 }, "held": func(w *proxy.Impairment) { w.Held = 1 },
		"delayed": func(w *proxy.Impairment) { w.Delay = time.Millisecond },
	} {
		r := emptyBed(t)
		if err := r.addServers(t.Context(), server.Redis, server.Config{Names: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		link, err := r.link("c", "A", r.serverNamed("A").Addr)
		if err != nil {
			t.Fatal(err)
		}
		ask := func() { _, _ = redisproc.Ask(link.Addr, "PING") } // who is cut off is told so
		ask()
		link.Down.Change(impair)
		if r.Met() {
			t.Errorf("%s: met before anything was sent", name)
		}
		asked := make(chan struct{})
		go func() {
			defer close(asked)
			ask()
		}()
		for deadline := time.Now().Add(redisproc.Patience); !r.Met() && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		}
		if !r.Met() {
			t.Errorf("%s: an answer has not met it", name)
		}
		link.Down.Change(func(w *proxy.Impairment) { *w = proxy.Impairment{} })
		<-asked
	}
}
