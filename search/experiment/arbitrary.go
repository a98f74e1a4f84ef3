package experiment

import (
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/search/settings"
)

// Arbitrary draws a whole experiment, settings and topology too, from all of the vocabulary and without a budget. It is for
// finding out whether runs repeat, tiers agree and files say everything: it claims and expects nothing that is known. At least
// two of its clients want the same resource: otherwise no run could show anything about the lock.
func Arbitrary(seed uint64) *scenarios.Scenario {
	c := Choices(seed, "anything", 0)
	base := scenarios.Default()
	base.Claim = scenarios.Holds
	space := NewSpace(settings.DrawAll(c.For("settings", 0), &base))
	space.Beyond = true
	var x *scenarios.Scenario
	for try := 0; x == nil || !contended(x); try++ {
		x = space.Draw(c.For("experiment", try))
	}
	x.Name, x.Title, x.Source, x.Explanation = fmt.Sprintf("random-%d", seed), "a random experiment", "none", "none"
	return x
}

// contended says whether two clients want the same resource. Every item that takes a lock names its resource, as there are
// several.
func contended(x *scenarios.Scenario) bool {
	wanted := map[string]string{} // by whom
	for _, item := range x.Timeline {
		for _, r := range item.Resource {
			if by, taken := wanted[r]; taken && by != item.Client {
				return true
			}
			wanted[r] = item.Client
		}
	}
	return false
}
