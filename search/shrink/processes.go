package shrink

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// without takes clients, nodes or replicas out.
func (x *shrinker) without(names ...string) bool {
	return x.cut(func(root *yaml.Node) { x.strips(root, names) })
}

// strips takes names out of a file, which need not say what the nodes are called.
func (x *shrinker) strips(root *yaml.Node, names []string) {
	if strictyaml.At(root, "nodes.names") == nil {
		all := &yaml.Node{Kind: yaml.SequenceNode}
		for _, name := range x.now.Nodes.Names {
			all.Content = append(all.Content, strictyaml.Text(name))
		}
		*root = *strictyaml.Merge(strictyaml.Under("nodes.names", all), root)
	}
	for _, name := range names {
		strip(root, name)
	}
}

// clients takes clients out, the last first.
func clients(x *shrinker) {
	for _, name := range slices.Backward(slices.Clone(x.now.Clients)) {
		x.without(name)
	}
}

// fewestNodes is how many nodes are left at least where there were as many: with fewer, one node's fault is all of a
// quorum's, and a finding about several nodes would end up as one about a single one.
const fewestNodes = 3

// nodes takes nodes out, the last first, and two at a time where one is not enough: of an odd number of nodes, one fewer
// is no smaller majority. A quorum that is set follows them where it has to.
func nodes(x *shrinker) {
	drop := func(names ...string) {
		n := len(x.now.Nodes.Names)
		if n >= fewestNodes && n-len(names) < fewestNodes || x.without(names...) {
			return
		}
		x.cut(func(root *yaml.Node) {
			x.strips(root, names)
			if quorum := strictyaml.At(root, "lock.quorum"); quorum != nil {
				set, _ := strconv.Atoi(quorum.Value) // it is a number
				quorum.Value = strconv.Itoa(set - 1)
			}
		})
	}
	for _, name := range slices.Backward(slices.Clone(x.now.Nodes.Names)) {
		drop(name)
	}
	names := slices.Clone(x.now.Nodes.Names)
	for i, second := range slices.Backward(names) {
		for _, first := range slices.Backward(names[:i]) {
			if slices.Contains(x.now.Nodes.Names, first) && slices.Contains(x.now.Nodes.Names, second) {
				drop(first, second)
			}
		}
	}
}

// replicas takes replicas out: all of a node, and then one at a time.
func replicas(x *shrinker) {
	for _, of := range slices.Clone(x.now.Nodes.Replicas) {
		if !x.without(of.Value...) {
			for _, name := range slices.Backward(of.Value) {
				x.without(name)
			}
		}
	}
}
