package settings

import (
	"reflect"
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/reach"
)

// knob is a setting that a search draws, or several that make no sense one without the other.
type knob struct {
	// name is the key of a scenario file that says most of it.
	name string
	// feature is what it turns on; empty if nothing.
	feature reach.Feature
	// sized: it is of a size that shrinking makes smaller by itself, or follows from others, so that a finding does not need
	// it.
	sized bool
	// always: it follows from others, and is drawn whenever they are.
	always bool
	// wild: it is drawn only where there is no budget to keep to, since a lock is not made to hold with all of its values.
	wild bool
	// draw sets it, and what of the budget it bears.
	draw func(c faults.Choices, s *scenarios.Scenario)
	// back sets all that draw sets as it is in base.
	back func(s, base *scenarios.Scenario)
}

// knobs in the order in which they are drawn: what a setting depends on comes before it.
var knobs = []knob{
	nodes,
	oneRedis,
	persistence,
	latency,
	nodeTimeout,
	ttl,
	clock,
	replicas,
	forbidden,
	servers,
	drift,
	fencing,
	versions,
	guard,
	wakeUp,
	batching,
	stepTime,
	guardTime,
	lossLead,
	resources,
	semaphores,
}

// Draw is base with a random subset of the knobs set at random. Most are as in base in most draws ("swarm testing", Groce et
// al. 2012). Its budget is one that its settings bear, if that of base is; see Uncovered.
func Draw(c faults.Choices, base *scenarios.Scenario) *scenarios.Scenario {
	s, on := *base, c.For("on", 0).Below(4) // in 8, less 1
	for _, k := range knobs {
		if of := c.For(k.name, 0); !k.wild && (k.always || of.For("on", 0).Below(8) <= on) {
			k.draw(of, &s)
		}
	}
	return &s
}

// DrawAll is base with all knobs set at random, wild ones too, so that the budget means nothing. The node timeout is longer by
// two of the longest steps: where the steps alone take longer than it, nobody is ever granted anything.
func DrawAll(c faults.Choices, base *scenarios.Scenario) *scenarios.Scenario {
	s := *base
	for _, k := range knobs {
		k.draw(c.For(k.name, 0), &s)
	}
	s.Lock.NodeTimeout += 2 * s.StepTime.Max()
	return &s
}

// Features are those that Draw turns on in some of its draws.
func Features() (all []reach.Feature) {
	for _, k := range knobs {
		if k.feature != "" {
			all = append(all, k.feature)
		}
	}
	return all
}

// Each calls f for every knob that Draw draws, with what sets it in a scenario as it is in base.
func Each(base *scenarios.Scenario, f func(back func(*scenarios.Scenario))) {
	for _, k := range knobs {
		if !k.wild {
			f(func(s *scenarios.Scenario) { k.back(s, base) })
		}
	}
}

// Back sets the knob of a name in s as it is in base; nothing if there is no such knob.
func Back(name string, s, base *scenarios.Scenario) {
	if i := slices.IndexFunc(knobs, func(k knob) bool { return k.name == name }); i >= 0 {
		knobs[i].back(s, base)
	}
}

// Is says whether there is a knob of a name.
func Is(name string) bool {
	return slices.ContainsFunc(knobs, func(k knob) bool { return k.name == name })
}

// Changed names the knobs in which s is not as base, but for those of a size.
func Changed(s, base *scenarios.Scenario) (names []string) {
	for _, k := range knobs {
		if !k.sized && k.differs(s, base) {
			names = append(names, k.name)
		}
	}
	return names
}

func (k *knob) differs(s, base *scenarios.Scenario) bool {
	as := *s
	k.back(&as, base)
	return !reflect.DeepEqual(*s, as)
}
