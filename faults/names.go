package faults

import (
	"fmt"
	"slices"
)

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
	return slices.Concat(n.Clients, n.Nodes)
}

// role is what a knob is the name of.
type role struct {
	what   string // in words
	target Target // of a fault that happens to it
	names  func(Names) []string
}

// roles are the roles by the tag of their knobs.
var roles = map[string]role{
	"process":  {"client or node", AnyProcess, Names.all},
	"client":   {"client", OneClient, func(n Names) []string { return n.Clients }},
	"node":     {"node", OneNode, func(n Names) []string { return n.Nodes }},
	"resource": {"resource", SomeLinks, func(n Names) []string { return n.Resources }},
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
	return slices.Contains(n.Group(a), b) || n.Agree && n.Group(a) == nil && n.Group(b) == nil
}

// Group is a node and its replicas, by the name of one of them; nil if it has none.
func (n Names) Group(member string) []string {
	for node, replicas := range n.Replicas { // a name is in one group at most
		if node == member || slices.Contains(replicas, member) {
			return append([]string{node}, replicas...)
		}
	}
	return nil
}

// Problem is a field of a fault that makes no sense.
type Problem struct {
	Field string   // its name in a scenario file
	Word  string   // the offending word; may be empty
	Valid []string // what would be right, if that is a list
	Text  string
}

// among is what is wrong with a name that is none of these.
func among(field, word string, valid []string, what string) []Problem {
	if slices.Contains(valid, word) {
		return nil
	}
	return []Problem{{Field: field, Word: word, Valid: valid, Text: "there is no such " + what}}
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
