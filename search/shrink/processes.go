package shrink

import (
	"slices"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// clients takes clients out, the last first.
func clients(x *shrinker) {
	for _, name := range slices.Backward(slices.Clone(x.now.Clients)) {
		x.try(func(s *scenarios.Scenario) { strip(s, name) })
	}
}

// fewestNodes is how many nodes are left at least where there were as many: with fewer, one node's fault is all of a
// quorum's, and a finding about several nodes would end up as one about a single one.
const fewestNodes = 3

// nodes takes nodes out, the last first, and two at a time where one is not enough: of an odd number of nodes, one fewer
// is no smaller majority. A quorum that is set follows them where it has to.
func nodes(x *shrinker) {
	drop := func(names ...string) bool {
		if n := len(x.now.Nodes.Names); n >= fewestNodes && n-len(names) < fewestNodes {
			return false
		}
		fewer := func(s *scenarios.Scenario) {
			for _, name := range names {
				strip(s, name)
			}
		}
		return x.try(fewer) || protocols.Of[protocols.QuorumSettings](x.now.Lock).Quorum > 1 && x.try(func(s *scenarios.Scenario) {
			fewer(s)
			protocols.Change(&s.Lock, func(own *protocols.QuorumSettings) { own.Quorum-- })
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
		if x.try(func(s *scenarios.Scenario) {
			for _, name := range of.Value {
				strip(s, name)
			}
		}) {
			continue
		}
		for _, name := range slices.Backward(of.Value) {
			x.try(func(s *scenarios.Scenario) { strip(s, name) })
		}
	}
}
