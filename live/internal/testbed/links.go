//go:build linux

package testbed

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/sim/network"

	"redlocksim/live/internal/proxy"
)

// each changes the selected directions of the selected links.
func (g ground) each(l *faults.Links, change func(*proxy.Impairment)) {
	l.Each(g, func(from, to string, d network.Direction) {
		p := g.LinkOf(from, to)
		if p == nil { // a client that uses no storage, or nodes of which neither follows the other
			return
		}
		if d != network.Replies {
			p.Up.Change(change)
		}
		if d != network.Requests {
			p.Down.Change(change)
		}
	})
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
	return slices.ContainsFunc(g.links, func(p *proxy.Link) bool { return p.Up.Met() || p.Down.Met() })
}

func (g ground) Reset(l *faults.Links) {
	both := *l
	both.Direction = network.Both
	g.each(&both, func(w *proxy.Impairment) { w.Resets++ })
}
