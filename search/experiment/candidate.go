package experiment

import (
	_ "embed"
	"fmt"
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/attacks"
	"redlocksim/search/settings"
)

// Candidate names an experiment of a Space. It is what a search keeps in memory, and on disk, instead of the experiment itself.
type Candidate struct {
	// Seed is what the experiment was drawn from, and what it runs with.
	Seed uint64 `json:"seed"`
	// Without are families of faults that it does without, and settings that are as they are by default.
	Without []string `json:"without,omitempty"`
	// Worst is which of the space's worst schedules it is, from 1, in the place of one that is drawn; 0 if it is none.
	Worst int `json:"worst,omitempty"`
}

// Less is the candidate without these families of faults and settings, too.
func (c Candidate) Less(names ...string) Candidate {
	c.Without = append(slices.Clip(c.Without), names...)
	return c
}

// Scenario is the experiment.
func (c Candidate) Scenario(s Space) *scenarios.Scenario {
	var x *scenarios.Scenario
	if c.Worst != 0 {
		x = s.Worst()[c.Worst-1]
	} else {
		x = s.of(c.Seed).Draw(Choices(c.Seed, "experiment", 0))
	}
	if c.Without == nil {
		return x
	}
	x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool {
		return i.Fault != nil && slices.Contains(c.Without, search.Family(x, &i))
	})
	for _, name := range c.Without {
		settings.Back(name, x, s.Base)
	}
	dropGone(x)
	return x
}

// Worst are the worst schedules that the budget of the base allows; none unless the space is WorstFirst, nor where each
// experiment draws its own budget.
func (s Space) Worst() []*scenarios.Scenario {
	if s.Swarm || !s.WorstFirst {
		return nil
	}
	return attacks.Worst(&attacks.Settings{Scenario: s.Base, Pause: s.Base.Budget.Pause}, s.Foreign)
}

// dropGone leaves out faults of nodes that there are not with the settings that are left, and those that wait for one.
func dropGone(x *scenarios.Scenario) {
	names := x.Processes()
	x.Timeline = slices.DeleteFunc(x.Timeline, func(i scenarios.Item) bool {
		after := i.When.After
		return i.Fault != nil && (len(faults.Check(i.Fault, names)) > 0 || after != nil && after.Node != "" && !slices.Contains(names.Nodes, after.Node))
	})
}

//go:embed default.yaml
var defaults []byte

// DefaultBase is the scenario of the library's default settings on five nodes, with the assumptions that they are made for.
func DefaultBase() *scenarios.Scenario {
	s, err := scenarios.ParseSettings("default.yaml", defaults)
	if err != nil {
		panic(fmt.Sprintf("experiment: the embedded settings: %v", err))
	}
	return s
}
