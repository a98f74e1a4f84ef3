package shrink

import (
	"redlocksim/scenarios"
	"redlocksim/search/settings"
)

// passes are the ways to make a scenario simpler, in their order: the structure from the largest parts to the smallest, then
// the numbers, then order and names. What is large is taken out first, since it makes all further runs cheaper.
var passes = []func(*shrinker){length, observed, repeats, drawn, leaveOut, asleep, plainer, clients, resources, nodes,
	replicas, counts, sizes, shifts, times, equal, latency, order, names}

// drawn leaves settings that were drawn as they are in what they were drawn around, where it is the same without them.
func drawn(x *shrinker) {
	if x.base != nil {
		settings.Each(x.base, func(back func(*scenarios.Scenario)) { x.try(back) })
	}
}
