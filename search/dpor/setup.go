package dpor

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// setup is what to explore.
type setup struct {
	// Scenario is the world and what its clients do. A fault of its timeline that is placed after the end of the run may
	// be injected at any moment from Begin on.
	Scenario *scenarios.Scenario
	// Begin is the true time at which the exploration begins. Until then each message arrives at once.
	Begin time.Duration
	// Late is how often time may pass in a run while messages are under way; negative is no limit.
	Late int
	// Executions bounds the number of runs; 0 is no limit.
	Executions int
	// Each, if not nil, is called after every completed run.
	Each func(*Run)

	// Brute turns the reduction off.
	brute bool
	// independent, if not nil, wrongly declares steps independent.
	independent func(a, b kernel.Option) bool
}

// program is what a client of a small world does: Steps, Repeat times, from the beginning of the exploration.
type program struct {
	Steps  []scenarios.Step
	Repeat int
}

// newSetup makes a small world with the lock and the budget of a scenario: its first nodes, at most that many, and one
// client for each program; anyTime, if not nil, is a fault that may be injected at any moment. Before the exploration
// begins, a client takes and releases the locks that programs ask for, so that the nodes know the scripts, and prepares the
// restart guard if there is one. The exploration ends after length.
func newSetup(base *scenarios.Scenario, nodes int, programs []program, anyTime *scenarios.Item, length time.Duration) setup {
	const warmUp = time.Second
	x := *base
	x.Clients, x.Timeline, x.Heal, x.Nodes.Replicas = nil, nil, nil, nil
	x.Expect = scenarios.Expect{}
	x.Nodes.Names = x.Nodes.Names[:min(nodes, len(x.Nodes.Names))]
	x.Nodes.Servers = slices.DeleteFunc(slices.Clone(x.Nodes.Servers), func(of strictyaml.Entry[redis.Software]) bool { return !slices.Contains(x.Nodes.Names, of.Key) })
	x.Duration = warmUp + length
	for i, p := range programs {
		name := fmt.Sprintf("client-%d", i+1)
		x.Clients = append(x.Clients, name)
		if i == 0 {
			var first []scenarios.Step
			for _, on := range ways(programs, base.Resources) {
				first = append(first, scenarios.Step{Kind: scenarios.TryLockStep, Resource: on}, scenarios.Step{Kind: scenarios.UnlockStep})
			}
			if protocols.Of[protocols.RedlockSettings](x.Lock).Guard != nil {
				first = append([]scenarios.Step{{Kind: scenarios.PrepareStep}}, first...)
			}
			x.Timeline = append(x.Timeline, scenarios.Item{Client: name, Repeat: 1, Do: first})
		}
		x.Timeline = append(x.Timeline, scenarios.Item{When: faults.Trigger{At: warmUp}, Client: name, Do: p.Steps, Repeat: p.Repeat})
	}
	if anyTime != nil {
		item := *anyTime
		item.When.At = x.Duration + time.Second
		x.Timeline = append(x.Timeline, item)
	}
	return setup{Scenario: &x, Begin: warmUp}
}

// ways are the resources that programs lock, one of each number of them; nil stands for the only resource there is.
func ways(programs []program, resources []string) (all [][]string) {
	if len(resources) < 2 {
		return [][]string{nil}
	}
	for _, p := range programs {
		for _, s := range p.Steps {
			isLock := s.Kind == scenarios.TryLockStep || s.Kind == scenarios.LockStep
			if isLock && !slices.ContainsFunc(all, func(on []string) bool { return len(on) == len(s.Resource) }) {
				all = append(all, s.Resource)
			}
		}
	}
	return all
}
