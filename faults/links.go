package faults

import (
	"slices"
	"strings"

	"redlocksim/internal/strictyaml"
	"redlocksim/sim/network"
	"redlocksim/sim/storage"
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
	Direction network.Direction `yaml:"direction"`
}

var _ = strictyaml.Enum[network.Direction]("direction").Word("both", network.Both).Word("requests", network.Requests).
	Word("replies", network.Replies)

// reachStorage says whether links to the storage are among them.
func (l *Links) reachStorage() bool { return slices.Contains(l.Nodes, storage.Name) }

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
		problems = append(problems, among(listed("nodes", i), s, append(n.Nodes[:len(n.Nodes):len(n.Nodes)], storage.Name), "node")...)
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
	switch l.Direction {
	case network.Requests:
		return from + " → " + to
	case network.Replies:
		return to + " → " + from
	}
	return from + " ↔ " + to
}

// Each calls f for the ends of the links selected, and the directions selected of each, client by client in the order of the
// ground. Of the links between nodes each end has one of its own: what goes one way are the requests of one and the replies of
// the other.
func (l *Links) Each(on Ground, f func(from, to string, d network.Direction)) {
	if len(l.Peers) > 0 {
		back := [...]network.Direction{network.Both: network.Both, network.Requests: network.Replies, network.Replies: network.Requests}
		for _, node := range l.Nodes {
			for _, peer := range l.Peers {
				f(node, peer, l.Direction)
				f(peer, node, back[l.Direction])
			}
		}
		return
	}
	clients, nodes := l.Clients, l.Nodes
	if len(clients) == 0 {
		clients = on.Clients()
	}
	if len(nodes) == 0 {
		nodes = append(on.Nodes(), on.Replicas()...)
	}
	for _, c := range clients {
		for _, s := range nodes {
			f(c, s, l.Direction)
		}
	}
}

// cutsOff says whether the links are those to all nodes that clients address, and requests are lost.
func (l *Links) cutsOff(nodes []string) bool {
	if l.Direction == network.Replies || len(l.Peers) > 0 {
		return false
	}
	return len(l.Nodes) == 0 || !slices.ContainsFunc(nodes, func(n string) bool { return !slices.Contains(l.Nodes, n) })
}
