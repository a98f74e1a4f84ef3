package faults

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
)

// Links selects the links between some clients and some nodes, and one direction of them or both. The zero Links is
// every link between a client and a Redis node, both ways.
type Links struct {
	// Clients are the links' one end; all clients if empty.
	Clients []string `yaml:"clients"`
	// Nodes are the other end; all Redis nodes if empty. "storage" is the shared resource.
	Nodes []string `yaml:"nodes"`
	// Direction is requests, replies or both.
	Direction Direction `yaml:"direction"`
}

// Direction is the direction of messages that a fault touches.
type Direction struct{ sim.Direction }

// UnmarshalScalar reads "requests", "replies" or "both".
func (d *Direction) UnmarshalScalar(text string) error {
	words := map[string]sim.Direction{"both": sim.Both, "requests": sim.Requests, "replies": sim.Replies}
	v, ok := words[text]
	if !ok {
		return &strictyaml.Invalid{Msg: "no such direction", Word: text, Valid: []string{"both", "requests", "replies"}}
	}
	d.Direction = v
	return nil
}

func (l *Links) check(n Names) []Problem {
	var problems []Problem
	for i, c := range l.Clients {
		problems = append(problems, among(fmt.Sprintf("clients[%d]", i), c, n.Clients, "client")...)
	}
	for i, s := range l.Nodes {
		problems = append(problems, among(fmt.Sprintf("nodes[%d]", i), s, append(n.Nodes[:len(n.Nodes):len(n.Nodes)], sim.StorageName), "node")...)
	}
	return problems
}

// each calls f for the links selected, client by client in the world's order.
func (l *Links) each(w *sim.World, f func(*sim.Link)) {
	clients, nodes := l.Clients, l.Nodes
	if len(clients) == 0 {
		for _, c := range w.Clients {
			clients = append(clients, c.Name())
		}
	}
	if len(nodes) == 0 {
		for _, s := range w.Servers {
			nodes = append(nodes, s.Name())
		}
	}
	for _, c := range clients {
		for _, s := range nodes {
			f(w.Network.Link(c, s))
		}
	}
}

// client is the client that the links belong to, if it is one only.
func (l *Links) client() string {
	if len(l.Clients) == 1 {
		return l.Clients[0]
	}
	return ""
}

func (l *Links) String() string {
	from, to := "every client", "every node"
	if len(l.Clients) > 0 {
		from = strings.Join(l.Clients, ", ")
	}
	if len(l.Nodes) > 0 {
		to = strings.Join(l.Nodes, ", ")
	}
	switch l.Direction.Direction {
	case sim.Requests:
		return from + " → " + to
	case sim.Replies:
		return to + " → " + from
	}
	return from + " ↔ " + to
}

// Partition loses all messages on some links, those on their way included. TCP would repeat them until its connection
// is given up: use Hold for a partition after which they arrive.
type Partition struct {
	Links `yaml:",inline"`
	// For is how long; zero is for good.
	For time.Duration `yaml:"for"`
}

// CutOff is how histories name a partition between one client and all Redis nodes: a holder that is cut off cannot
// release.
const CutOff = "cut-off"

// Check implements Fault.
func (p *Partition) Check(n Names) []Problem { return append(p.check(n), notNegative("for", p.For)...) }

// Apply implements Fault.
func (p *Partition) Apply(f *Field) error {
	p.each(f.World, func(l *sim.Link) { l.Cut(p.Direction.Direction) })
	name := "partition"
	if p.client() != "" && len(p.Nodes) == 0 {
		name = CutOff
	}
	f.note(name, p.client(), "", p.For, "messages %v are lost", &p.Links)
	f.after(p.For, func() {
		p.each(f.World, func(l *sim.Link) { l.Mend(p.Direction.Direction) })
		f.note("partition-heals", p.client(), "", 0, "messages %v get through again", &p.Links)
	})
	return nil
}

// Hold keeps back the messages that arrive on some links, and then delivers them in order.
type Hold struct {
	Links `yaml:",inline"`
	// For is how long.
	For time.Duration `yaml:"for,required"`
}

// Check implements Fault.
func (h *Hold) Check(n Names) []Problem { return append(h.check(n), positive("for", h.For)...) }

// Apply implements Fault.
func (h *Hold) Apply(f *Field) error {
	h.each(f.World, func(l *sim.Link) { l.Hold(h.Direction.Direction) })
	f.Spent.Delay = max(f.Spent.Delay, h.For)
	f.note("hold", h.client(), "", h.For, "messages %v are held back for %v", &h.Links, h.For)
	f.after(h.For, func() {
		f.note("hold-ends", h.client(), "", 0, "messages %v that were held back arrive", &h.Links)
		h.each(f.World, func(l *sim.Link) { l.Release(h.Direction.Direction) })
	})
	return nil
}

// Delay makes the messages sent on some links slower.
type Delay struct {
	Links `yaml:",inline"`
	// By is what is added to each one's delay.
	By time.Duration `yaml:"by,required"`
	// For is how long; zero is for good.
	For time.Duration `yaml:"for"`
}

// Check implements Fault.
func (d *Delay) Check(n Names) []Problem {
	return append(append(d.check(n), positive("by", d.By)...), notNegative("for", d.For)...)
}

// Apply implements Fault.
func (d *Delay) Apply(f *Field) error {
	d.each(f.World, func(l *sim.Link) { l.Delay(d.Direction.Direction, d.By) })
	f.Spent.Delay = max(f.Spent.Delay, d.By)
	f.note("delay", d.client(), "", d.By, "messages %v take %v longer", &d.Links, d.By)
	f.after(d.For, func() {
		d.each(f.World, func(l *sim.Link) { l.Delay(d.Direction.Direction, -d.By) })
		f.note("delay-ends", d.client(), "", 0, "messages %v are as fast as before", &d.Links)
	})
	return nil
}

// Reset breaks all connections of some links: what was under way is lost, and the clients are told at once.
type Reset struct {
	Links `yaml:",inline"`
}

// Check implements Fault.
func (r *Reset) Check(n Names) []Problem { return r.check(n) }

// Apply implements Fault.
func (r *Reset) Apply(f *Field) error {
	f.note("reset", r.client(), "", 0, "connections %v are reset", &r.Links)
	r.each(f.World, func(l *sim.Link) { l.Reset() })
	return nil
}
