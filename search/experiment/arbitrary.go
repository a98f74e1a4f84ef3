package experiment

import (
	"fmt"

	"redlocksim/scenarios"
	"redlocksim/search/settings"
)

// Arbitrary draws a whole experiment, settings and topology too, from all of the vocabulary and without a budget. It is for
// finding out whether runs repeat, tiers agree and files say everything: it claims and expects nothing that is known.
func Arbitrary(seed uint64) *scenarios.Scenario {
	c := Choices(seed, "anything", 0)
	base := scenarios.Default()
	base.Claim = scenarios.Holds
	space := NewSpace(settings.DrawAll(c.For("settings", 0), &base))
	space.Beyond = true
	x := space.Draw(c.For("experiment", 0))
	x.Name, x.Title, x.Source, x.Explanation = fmt.Sprintf("random-%d", seed), "a random experiment", "none", "none"
	return x
}
