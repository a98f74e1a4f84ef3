package search

import (
	"redlocksim/internal/strictyaml"
	"redlocksim/sim"
)

const wallClock = sim.WallClock

func replicasOf(node string, names ...string) strictyaml.Entry[[]string] {
	return strictyaml.Entry[[]string]{Key: node, Value: names}
}
