package faults

import "slices"

// Names are the processes that there are.
type Names struct {
	Clients []string
	// Resources are what there is to lock.
	Resources []string
	Nodes     []string // with all replicas
	// Replicas are those of a node.
	Replicas map[string][]string
	// Agree: the nodes without replicas send each other messages, as those of a service on consensus do.
	Agree bool
	// Service is what runs on the nodes in the place of Redis; empty if nothing does.
	Service string
}

func (n Names) all() []string {
	return append(append([]string(nil), n.Clients...), n.Nodes...)
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

// group is a node and its replicas, by the name of one of them; nil if it has none.
func (n Names) group(member string) []string {
	for node, replicas := range n.Replicas { // a name is in one group at most
		if node == member || slices.Contains(replicas, member) {
			return append([]string{node}, replicas...)
		}
	}
	return nil
}
