package shrink

import (
	"redlocksim/scenarios"
	"redlocksim/search/settings"
)

// pass is one way to make a scenario simpler.
type pass struct {
	name string
	run  func(*shrinker)
}

// passes in their order: the structure from the largest parts to the smallest, then the numbers, then order
// and names. What is large is taken out first, since it makes all further runs cheaper.
var passes = []pass{
	{"length", length},
	{"observed", observed},
	{"repeats", repeats},
	{"drawn settings", drawn},
	{"parts", leaveOut},
	{"sleeps", asleep},
	{"substitutes", plainer},
	{"clients", clients},
	{"resources", resources},
	{"nodes", nodes},
	{"replicas", replicas},
	{"counts", counts},
	{"sizes", sizes},
	{"shifts", shifts},
	{"times", times},
	{"equal numbers", equal},
	{"latency", latency},
	{"order", order},
	{"names", names},
}

// drawn leaves settings that were drawn as they are in what they were drawn around, where it is the same without them.
func drawn(x *shrinker) {
	if x.base != nil {
		settings.Each(x.base, func(back func(*scenarios.Scenario)) { x.try(back) })
	}
}
