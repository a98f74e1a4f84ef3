//go:build linux

package testbed

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/sim/network"
	"redlocksim/sim/storage"

	"redlocksim/live/internal/proxy"
)

// each changes the selected directions of the selected links.
func (g ground) each(l *faults.Links, change func(*proxy.Impairment)) {
	if len(l.Peers) > 0 {
		g.eachOfPeers(l, change)
		return
	}
	for _, p := range g.proxies {
		if p.AmongNodes || len(l.Clients) > 0 && !slices.Contains(l.Clients, p.Client) ||
			len(l.Nodes) > 0 && !slices.Contains(l.Nodes, p.Node) || len(l.Nodes) == 0 && p.Node == storage.Name {
			continue
		}
		if l.Direction != network.Replies {
			p.Up.Change(change)
		}
		if l.Direction != network.Requests {
			p.Down.Change(change)
		}
	}
}

// eachOfPeers changes the links between nodes. What a node sends to a peer goes down the link of the peer, if that follows it,
// and up its own.
func (g ground) eachOfPeers(l *faults.Links, change func(*proxy.Impairment)) {
	for _, node := range l.Nodes {
		for _, peer := range l.Peers {
			from, to := g.linkOf(peer, node), g.linkOf(node, peer)
			if l.Direction != network.Replies {
				from.Down.Change(change)
				to.Up.Change(change)
			}
			if l.Direction != network.Requests {
				from.Up.Change(change)
				to.Down.Change(change)
			}
		}
	}
}

func (g ground) Lose(l *faults.Links) (undo func()) {
	g.each(l, func(w *proxy.Impairment) { w.Lost++ })
	return func() { g.each(l, func(w *proxy.Impairment) { w.Lost-- }) }
}

func (g ground) Hold(l *faults.Links) (undo func() time.Duration) {
	g.each(l, func(w *proxy.Impairment) { w.Held++ })
	return func() time.Duration {
		g.each(l, func(w *proxy.Impairment) { w.Held-- })
		return 0 // delays of the machine are no fault
	}
}

func (g ground) Slow(l *faults.Links, by time.Duration) (most time.Duration, undo func()) {
	speed := time.Duration(g.Speed)
	most = by
	g.each(l, func(w *proxy.Impairment) {
		w.Delay += by / speed
		most = max(most, w.Delay*speed)
	})
	return most, func() { g.each(l, func(w *proxy.Impairment) { w.Delay -= by / speed }) }
}

func (g ground) Met() bool {
	return slices.ContainsFunc(g.proxies, func(p *proxy.Proxy) bool { return p.Up.Met() || p.Down.Met() })
}

func (g ground) Reset(l *faults.Links) {
	both := *l
	both.Direction = network.Both
	g.each(&both, func(w *proxy.Impairment) { w.Resets++ })
}
