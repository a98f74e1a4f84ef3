package search

import (
	"slices"
	"strings"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// The ends of a family's name that says what its faults happen to.
const ofClient, ofNode = "-of-client", "-of-node"

// Families are the families of faults that an experiment has, sorted.
func Families(x *scenarios.Scenario) []string {
	var all []string
	for i := range x.Timeline {
		if x.Timeline[i].Fault != nil {
			all = append(all, Family(x, &x.Timeline[i]))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Family is the kind of a fault, and what it happens to where that makes it another one: a node whose clock jumps forgets
// locks, a client whose clock jumps believes in them.
func Family(x *scenarios.Scenario, item *scenarios.Item) string {
	switch k, _ := faults.Find(item.Kind); {
	case k.Target != faults.AnyProcess:
		return item.Kind
	case slices.Contains(x.Clients, faults.TargetOf(item.Fault)):
		return item.Kind + ofClient
	default:
		return item.Kind + ofNode
	}
}

// isFamily says whether a name is one that Family gives.
func isFamily(name string) bool {
	kind, isOfClient := strings.CutSuffix(name, ofClient)
	kind, isOfNode := strings.CutSuffix(kind, ofNode)
	k, is := faults.Find(kind)
	return is && (k.Target == faults.AnyProcess) == (isOfClient != isOfNode)
}
