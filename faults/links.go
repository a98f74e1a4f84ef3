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

// Links selects the links between some clients and some nodes, or between some nodes and others, and one direction of
// them or both. The zero Links is every link between a client and a Redis node, both ways.
type Links struct {
	// Clients are the clients at one end of the links. Default: all clients. Example: [client-1]
	Clients []string `yaml:"clients"`
	// Nodes are the nodes at the other end; storage is the shared resource. Default: all Redis nodes. Example: [D, E]
	Nodes []string `yaml:"nodes"`
	// Peers selects the links between nodes and these other nodes instead of links to clients: between a master and its
	// replicas, or among the nodes of a consensus service. Default: links to clients. Example: [A2]
	Peers []string `yaml:"peers"`
	// Direction is requests, replies or both. Between nodes, requests go from nodes to peers, and replies back. Default:
	// both. Example: requests
	Direction Direction `yaml:"direction"`
}

// Direction is the direction of messages that a fault touches.
type Direction struct{ sim.Direction }

var directions = []strictyaml.Choice[sim.Direction]{
	{Word: "both", Value: sim.Both}, {Word: "requests", Value: sim.Requests}, {Word: "replies", Value: sim.Replies}}

// UnmarshalScalar reads "requests", "replies" or "both".
func (d *Direction) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "direction", &d.Direction, directions)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (d Direction) MarshalScalar() (string, error) {
	return strictyaml.WordOf(d.Direction, "direction", directions)
}

func (l *Links) check(n Names) []Problem {
	problems := slices.Concat(twice("clients", l.Clients), twice("nodes", l.Nodes), twice("peers", l.Peers))
	if len(l.Peers) > 0 {
		return append(problems, l.checkPeers(n)...)
	}
	for i, c := range l.Clients {
		if slices.Contains(n.Nodes, c) {
			problems = append(problems, Problem{Field: listed("clients", i), Word: c, Valid: n.Clients,
				Text: "is a node; links between nodes are those of nodes with peers"})
			continue
		}
		problems = append(problems, among(listed("clients", i), c, n.Clients, "client")...)
	}
	for i, s := range l.Nodes {
		problems = append(problems, among(listed("nodes", i), s, append(n.Nodes[:len(n.Nodes):len(n.Nodes)], sim.StorageName), "node")...)
	}
	return problems
}

// checkPeers looks at links between nodes: each end must be one that sends messages to the other.
func (l *Links) checkPeers(n Names) []Problem {
	var problems []Problem
	if len(l.Clients) > 0 {
		problems = append(problems, Problem{Field: "clients", Text: "have no part in links between nodes; leave them out, or peers"})
	}
	if len(l.Nodes) == 0 {
		problems = append(problems, Problem{Field: "peers", Text: "needs nodes, which say whose peers"})
	}
	for i, node := range l.Nodes {
		problems = append(problems, among(listed("nodes", i), node, n.Nodes, "node")...)
	}
	for i, peer := range l.Peers {
		unknown := among(listed("peers", i), peer, n.Nodes, "node")
		problems = append(problems, unknown...)
		for _, node := range l.Nodes {
			if unknown == nil && slices.Contains(n.Nodes, node) && !n.talk(node, peer) {
				problems = append(problems, Problem{Field: listed("peers", i), Word: peer, Valid: n.peers(node),
					Text: "and " + node + " send each other no messages"})
				break
			}
		}
	}
	return problems
}

// peers are the nodes with which a node exchanges messages.
func (n Names) peers(node string) []string {
	var peers []string
	for _, other := range n.Nodes {
		if n.talk(node, other) {
			peers = append(peers, other)
		}
	}
	return peers
}

// talk says whether two nodes send each other messages.
func (n Names) talk(a, b string) bool {
	if a == b {
		return false
	}
	return slices.Contains(n.group(a), b) || n.Agree && n.group(a) == nil && n.group(b) == nil
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

// each calls f for the links selected, and the directions selected of each, client by client in the world's order.
func (l *Links) each(w *sim.World, f func(*sim.Link, sim.Direction)) {
	if len(l.Peers) > 0 {
		l.eachOfPeers(w, f)
		return
	}
	clients, nodes := l.clients(w), l.Nodes
	if len(nodes) == 0 {
		nodes = everyNode(w)
	}
	for _, c := range clients {
		for _, s := range nodes {
			f(w.Network.Link(c, s), l.Direction.Direction)
		}
	}
}

// eachOfPeers calls f for the links between nodes, of which each end has one of its own: what goes one way are the
// requests of one link and the replies of the other.
func (l *Links) eachOfPeers(w *sim.World, f func(*sim.Link, sim.Direction)) {
	there := l.Direction.Direction
	back := map[sim.Direction]sim.Direction{sim.Both: sim.Both, sim.Requests: sim.Replies, sim.Replies: sim.Requests}[there]
	for _, node := range l.Nodes {
		for _, peer := range l.Peers {
			f(w.Network.Link(node, peer), there)
			f(w.Network.Link(peer, node), back)
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
	if len(l.Peers) > 0 {
		from, to = to, strings.Join(l.Peers, ", ")
	}
	switch l.Direction.Direction {
	case sim.Requests:
		return from + " → " + to
	case sim.Replies:
		return to + " → " + from
	}
	return from + " ↔ " + to
}

// Partition loses all messages on some links, including those in flight. TCP would retransmit them until its connection is
// given up: use Hold for a partition after which they arrive.
type Partition struct {
	Links `yaml:",inline"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for"`
}

// CutOff is how histories name a partition that keeps all requests of a client from all Redis nodes: a holder that is cut
// off cannot release. A partition of several clients is recorded as such, and a cut-off for each of them after it.
const CutOff = "cut-off"

// cutsOff says whether the links are those to all nodes, and requests are lost.
func (l *Links) cutsOff(w *sim.World) bool {
	if l.Direction.Direction == sim.Replies || len(l.Peers) > 0 {
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
	p.each(f.World, func(l *sim.Link, d sim.Direction) { l.Cut(d) })
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
	f.lasts(p.For, func() {
		p.each(f.World, func(l *sim.Link, d sim.Direction) { l.Mend(d) })
		f.note("partition-heals", p.client(), "", 0, "messages %v get through again", &p.Links)
	})
	return nil
}

// Hold keeps back the messages that arrive on some links, and later delivers them in order.
type Hold struct {
	Links `yaml:",inline"`
	// For is the length in true time. Example: 2s
	For time.Duration `yaml:"for,required"`
}

// Check implements Fault.
func (h *Hold) Check(n Names) []Problem { return append(h.check(n), positive("for", h.For)...) }

// Apply implements Fault.
func (h *Hold) Apply(f *Field) error {
	h.each(f.World, func(l *sim.Link, d sim.Direction) { l.Hold(d) })
	f.Spent.Delay = max(f.Spent.Delay, h.For) // more where another one overlaps, which its end shows
	f.note("hold", h.client(), "", h.For, "messages %v are held back for %v", &h.Links, h.For)
	f.lasts(h.For, func() {
		f.note("hold-ends", h.client(), "", 0, "messages %v that were held back arrive", &h.Links)
		h.each(f.World, func(l *sim.Link, d sim.Direction) { f.Spent.Delay = max(f.Spent.Delay, l.Release(d)) })
	})
	return nil
}

// Delay slows the messages sent on some links.
type Delay struct {
	Links `yaml:",inline"`
	// By is added to each message's delay. Example: 50ms
	By time.Duration `yaml:"by,required"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for"`
}

// Check implements Fault.
func (d *Delay) Check(n Names) []Problem {
	return append(append(d.check(n), positive("by", d.By)...), notNegative("for", d.For)...)
}

// Apply implements Fault.
func (d *Delay) Apply(f *Field) error {
	d.each(f.World, func(l *sim.Link, way sim.Direction) { f.Spent.Delay = max(f.Spent.Delay, l.Delay(way, d.By)) })
	f.note("delay", d.client(), "", d.By, "messages %v take %v longer", &d.Links, d.By)
	f.lasts(d.For, func() {
		d.each(f.World, func(l *sim.Link, way sim.Direction) { l.Delay(way, -d.By) })
		f.note("delay-ends", d.client(), "", 0, "messages %v are as fast as before", &d.Links)
	})
	return nil
}

// Reset breaks all connections of some links. What was in flight is lost, and the clients are told at once.
type Reset struct {
	Links `yaml:",inline"`
}

// Check implements Fault.
func (r *Reset) Check(n Names) []Problem { return r.check(n) }

// Apply implements Fault.
func (r *Reset) Apply(f *Field) error {
	f.note("reset", r.client(), "", 0, "connections %v are reset", &r.Links)
	r.each(f.World, func(l *sim.Link, _ sim.Direction) { l.Reset() })
	return nil
}
