//go:build linux

package testbed

import "slices"

// group is a node and its replicas. There is a link from each to each other, so that any can follow any.
type group struct {
	node     string
	replicas []string
}

func (g *group) members() []string { return append([]string{g.node}, g.replicas...) }

func (g *group) has(name string) bool { return slices.Contains(g.members(), name) }
