package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/history"
	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
)

// Links selects the links between some clients and some nodes, and one direction of them or both. The zero Links is
// every link between a client and a Redis node, both ways.
type Links struct {
	// Clients are the links' one end; all clients if empty. A node of a replicated group stands for the link over which it,
	// as a master, tells those in Nodes what has changed.
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
	problems := append(twice("clients", l.Clients), twice("nodes", l.Nodes)...)
	for i, c := range l.Clients {
		if !slices.Contains(n.Clients, c) {
			problems = append(problems, l.checkReplication(n, listed("clients", i), c)...)
		}
	}
	for i, s := range l.Nodes {
		problems = append(problems, among(listed("nodes", i), s, append(n.Nodes[:len(n.Nodes):len(n.Nodes)], sim.StorageName), "node")...)
	}
	return problems
}

// twice finds names that a list has more than once.
func twice(list string, names []string) []Problem {
	var problems []Problem
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			problems = append(problems, Problem{Field: listed(list, i), Word: name, Text: "is listed twice"})
		}
	}
	return problems
}

// listed is the name of an entry of a list in a scenario file.
func listed(list string, i int) string { return fmt.Sprintf("%s[%d]", list, i) }

// each calls f for the links selected, client by client in the world's order.
func (l *Links) each(w *sim.World, f func(*sim.Link)) {
	clients, nodes := l.clients(w), l.Nodes
	if len(nodes) == 0 {
		nodes = everyNode(w)
	}
	for _, c := range clients {
		for _, s := range nodes {
			f(w.Network.Link(c, s))
		}
	}
}

// clients are the names of the clients selected.
func (l *Links) clients(w *sim.World) []string {
	if len(l.Clients) > 0 {
		return l.Clients
	}
	var names []string
	for _, c := range w.Clients {
		names = append(names, c.Name())
	}
	return names
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

// CutOff is how histories name a partition that keeps all requests of a client from all Redis nodes: a holder that is cut
// off cannot release. A partition of several clients is recorded as such, and a cut-off for each of them after it.
const CutOff = "cut-off"

// cutsOff says whether the links are those to all nodes, and requests are lost.
func (l *Links) cutsOff(w *sim.World) bool {
	if l.Direction.Direction == sim.Replies {
		return false
	}
	for _, s := range w.Servers {
		if len(l.Nodes) > 0 && !slices.Contains(l.Nodes, s.Name()) {
			return false
		}
	}
	return true
}

// Check implements Fault.
func (p *Partition) Check(n Names) []Problem { return append(p.check(n), notNegative("for", p.For)...) }

// Apply implements Fault.
func (p *Partition) Apply(f *Field) error {
	p.each(f.World, func(l *sim.Link) { l.Cut(p.Direction.Direction) })
	switch {
	case !p.cutsOff(f.World):
		f.note("partition", p.client(), "", p.For, "messages %v are lost", &p.Links)
	case p.client() != "":
		f.note(CutOff, p.client(), "", p.For, "messages %v are lost", &p.Links)
	default:
		f.note("partition", "", "", p.For, "messages %v are lost", &p.Links)
		for _, c := range p.clients(f.World) {
			f.World.Record(history.Event{Kind: history.Fault, Name: CutOff, Process: c, Span: int64(p.For)})
		}
	}
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
	f.Spent.Delay = max(f.Spent.Delay, h.For) // more where another one overlaps, which its end shows
	f.note("hold", h.client(), "", h.For, "messages %v are held back for %v", &h.Links, h.For)
	f.after(h.For, func() {
		f.note("hold-ends", h.client(), "", 0, "messages %v that were held back arrive", &h.Links)
		h.each(f.World, func(l *sim.Link) { f.Spent.Delay = max(f.Spent.Delay, l.Release(h.Direction.Direction)) })
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
	d.each(f.World, func(l *sim.Link) { f.Spent.Delay = max(f.Spent.Delay, l.Delay(d.Direction.Direction, d.By)) })
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
