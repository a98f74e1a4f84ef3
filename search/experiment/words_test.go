package experiment

import (
	"redlocksim/internal/strictyaml"
)

func replicasOf(node string, names ...string) strictyaml.Entry[[]string] {
	return strictyaml.Entry[[]string]{Key: node, Value: names}
}
