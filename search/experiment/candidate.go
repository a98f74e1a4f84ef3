package experiment

import (
	_ "embed"
	"fmt"
	"slices"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/search"
	"redlocksim/search/settings"
)

// Candidate names an experiment of a Space. It is what a search keeps in memory, and on disk, instead of the experiment itself.
type Candidate struct {
	// Seed is what the experiment was drawn from, and what it runs with.
	Seed uint64 `json:"seed"`
	// Without are families of faults that it does without, and settings that are as they are by default.
	Without []string `json:"without,omitempty"`
}

// Less is the candidate without these families of faults and settings, too.
func (c Candidate) Less(names ...string) Candidate {
	return Candidate{c.Seed, append(slices.Clip(c.Without), names...)}
}

// Scenario is the experiment.
func (c Candidate) Scenario(s Space) *scenarios.Scenario {
	x := s.of(c.Seed).Draw(Choices(c.Seed, "experiment", 0))
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
