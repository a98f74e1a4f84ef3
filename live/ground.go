//go:build linux

package live

import (
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/live/internal/proxy"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// Now and the methods below implement faults.Ground, as those in servers.go, clocks.go and processes.go do.
func (r *run) Now() kernel.True                         { return r.trueTime(faketime.MachineTime()) }
func (r *run) At(at kernel.True, f func())              { r.when(r.start+int64(at)/r.speed, f) }
func (r *run) Grain() time.Duration                     { return time.Millisecond }
func (r *run) Record(e history.Event)                   { r.happened(faketime.MachineTime(), e) }
func (r *run) Hear(f func(kernel.True, *history.Event)) { r.hear = append(r.hear, f) }

func (r *run) Clients() []string {
	names := make([]string, len(r.clients))
	for i, c := range r.clients {
		names[i] = c.name
	}
	return names
}

func (r *run) Nodes() []string {
	return r.serversThat(func(name string) bool { return !r.isReplica(name) })
}
func (r *run) Replicas() []string { return r.serversThat(r.isReplica) }

func (r *run) serversThat(are func(string) bool) (names []string) {
	for _, s := range r.servers {
		if are(s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// each changes the selected directions of the selected links.
func (r *run) each(l *faults.Links, change func(*proxy.Impairment)) {
	l.Each(r, func(from, to string, d network.Direction) {
		p := r.linkOf(from, to)
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

func (r *run) Lose(l *faults.Links) (undo func()) {
	r.each(l, func(w *proxy.Impairment) { w.Lost++ })
	return func() { r.each(l, func(w *proxy.Impairment) { w.Lost-- }) }
}

func (r *run) Hold(l *faults.Links) (undo func() time.Duration) {
	r.each(l, func(w *proxy.Impairment) { w.Held++ })
	return func() time.Duration {
		r.each(l, func(w *proxy.Impairment) { w.Held-- })
		return 0 // delays of the machine are no fault
	}
}

func (r *run) Slow(l *faults.Links, by time.Duration) (most time.Duration, undo func()) {
	speed := time.Duration(r.speed)
	most = by
	r.each(l, func(w *proxy.Impairment) {
		w.Delay += by / speed
		most = max(most, w.Delay*speed)
	})
	return most, func() { r.each(l, func(w *proxy.Impairment) { w.Delay -= by / speed }) }
}

func (r *run) Met() bool {
	return slices.ContainsFunc(r.links, func(p *proxy.Link) bool { return p.Up.Met() || p.Down.Met() })
}

func (r *run) Reset(l *faults.Links) {
	both := *l
	both.Direction = network.Both
	r.each(&both, func(w *proxy.Impairment) { w.Resets++ })
}
