package shrink

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// fewestNodes is how many nodes are left at least where there were as many: with fewer, one node's fault is all of a
// quorum's, and a finding about several nodes would end up as one about a single one.
const fewestNodes = 3

// processes takes clients, nodes and replicas out, the last first: all replicas of a node, and then one; a node, and then two
// at a time, as of an odd number of nodes one fewer is no smaller majority. A quorum that is set follows the nodes where it has
// to.
func processes(x *shrinker) {
	for _, name := range slices.Backward(slices.Clone(x.now.Clients)) {
		x.without(0, name)
	}
	drop := func(names ...string) {
		areThere := !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(x.now.Nodes.Names, name) })
		n := len(x.now.Nodes.Names)
		if !areThere || n >= fewestNodes && n-len(names) < fewestNodes || x.without(0, names...) {
			return
		}
		x.without(1, names...)
	}
	all := slices.Clone(x.now.Nodes.Names)
	slices.Reverse(all)
	for _, name := range all {
		drop(name)
	}
	for i, second := range all {
		for _, first := range all[i+1:] {
			drop(first, second)
		}
	}
	for _, of := range slices.Clone(x.now.Nodes.Replicas) {
		if !x.without(0, of.Value...) {
			for _, name := range slices.Backward(of.Value) {
				x.without(0, name)
			}
		}
	}
}

// without takes processes out, with all items that cannot do without them, and votes of the quorum. The file need not say what
// the nodes are called.
func (x *shrinker) without(votes int, names ...string) bool {
	return x.cut(func(root *yaml.Node) {
		if strictyaml.At(root, "nodes.names") == nil {
			all := &yaml.Node{Kind: yaml.SequenceNode}
			for _, name := range x.now.Nodes.Names {
				all.Content = append(all.Content, strictyaml.Text(name))
			}
			*root = *strictyaml.Merge(strictyaml.Under("nodes.names", all), root)
		}
		for _, name := range names {
			strip(root, name, false)
		}
		if quorum := strictyaml.At(root, "lock.quorum"); quorum != nil {
			quorum.Value = strconv.Itoa(protocols.Of[protocols.QuorumSettings](x.now.Lock).Quorum - votes)
		}
	})
}

// strip takes a name out of a part of a file, and says whether that is nothing without it: the name itself, a list that
// becomes empty, which would mean all, and within an item of the timeline whatever is about one of these.
func strip(n *yaml.Node, name string, inItem bool) (needs bool) {
	switch n.Kind {
	case yaml.ScalarNode:
		return n.Value == name
	case yaml.SequenceNode:
		before := len(n.Content)
		n.Content = slices.DeleteFunc(n.Content, func(element *yaml.Node) bool { return strip(element, name, true) })
		return before > 0 && len(n.Content) == 0
	}
	for i := 0; i < len(n.Content); {
		key := n.Content[i].Value
		if gone := strip(n.Content[i+1], name, inItem); key == name || gone && key != "timeline" {
			n.Content = slices.Delete(n.Content, i, i+2)
			needs = inItem
			continue
		}
		i += 2
	}
	return needs
}

// resources takes resources out, the last first: what is done to one is done to the first instead, and what is done under
// permits of a semaphore is done under a lock, or under the first of them.
func resources(x *shrinker) {
	first := x.now.Resources[0]
	for _, name := range x.now.Semaphores {
		permits := x.now.PermitsOf(name)
		to := map[string]string{name: first, protocols.AllOf(name): first, string(scenarios.WithAllStep): string(scenarios.WithLockStep)}
		for _, permit := range permits {
			to[permit] = first
		}
		x.cut(func(root *yaml.Node) {
			strip(strictyaml.At(root, "semaphores"), name, false)
			rename(root, to)
		})
		for i := len(permits) - 1; i > 0; i-- {
			x.cut(func(root *yaml.Node) { rename(root, map[string]string{permits[i]: permits[0]}) })
		}
	}
	for _, name := range slices.Backward(slices.Clone(x.now.Resources)) {
		if name != first {
			x.cut(func(root *yaml.Node) { rename(root, map[string]string{name: first}) })
		}
	}
}

// rename calls things by other names, all at once. A list that would have one of them twice has it once.
func rename(n *yaml.Node, to map[string]string) {
	if other, is := to[n.Value]; is && n.Kind == yaml.ScalarNode {
		n.Value = other
	}
	kept := n.Content[:0]
	for _, part := range n.Content {
		before := part.Value
		rename(part, to)
		isList := n.Kind == yaml.SequenceNode && part.Kind == yaml.ScalarNode
		if isList && before != part.Value && slices.ContainsFunc(kept, func(other *yaml.Node) bool { return other.Value == part.Value }) {
			continue
		}
		kept = append(kept, part)
	}
	n.Content = kept
}

// names gives clients and nodes the names that they would have if there had been no others: all of them, or only the clients
// or the nodes, since random choices depend on names.
func names(x *shrinker) {
	for _, kind := range []*regexp.Regexp{nil, clientName, nodeName} {
		to := renamed(x.now)
		maps.DeleteFunc(to, func(name, _ string) bool { return kind != nil && !kind.MatchString(name) })
		if len(to) > 0 {
			x.cut(func(root *yaml.Node) {
				rename(root, to)
				slices.SortFunc(strictyaml.At(root, "clients").Content, func(a, b *yaml.Node) int { return cmp.Compare(a.Value, b.Value) })
			})
		}
	}
}
