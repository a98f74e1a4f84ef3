package orders

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
)

// Program is what a client of a small world does: Steps, Repeat times, from the moment on at which the exploration begins.
type Program struct {
	Steps  []scenarios.Step
	Repeat int
}

// Fault is a fault that may be injected at any moment.
type Fault struct {
	Kind  string
	Fault faults.Fault
}

// Small makes a small world with the lock and the budget of a scenario: its first nodes, at most that many, and one client
// for each program. Before, a client takes the locks that programs ask for and releases them, so that the nodes know the
// scripts; if they have a restart guard, it prepares them. The run ends when it has gone on for length.
func Small(base *scenarios.Scenario, nodes int, programs []Program, fault *Fault, length time.Duration) Setup {
	const warmUp = time.Second
	x := *base
	x.Clients, x.Timeline, x.Heal, x.Nodes.Replicas = nil, nil, nil, nil
	x.Expect = scenarios.Expect{}
	x.Nodes.Names = x.Nodes.Names[:min(nodes, len(x.Nodes.Names))]
	x.Duration = warmUp + length
	for i, p := range programs {
		name := fmt.Sprintf("client-%d", i+1)
		x.Clients = append(x.Clients, name)
		if i == 0 {
			var first []scenarios.Step
			for _, on := range ways(programs, base.Resources) {
				first = append(first, scenarios.Step{Kind: scenarios.TryLockStep, Resource: on}, scenarios.Step{Kind: scenarios.UnlockStep})
			}
			if x.Lock.Guard != nil {
				first = append([]scenarios.Step{{Kind: scenarios.PrepareStep}}, first...)
			}
			x.Timeline = append(x.Timeline, scenarios.Item{Client: name, Repeat: 1, Do: first})
		}
		x.Timeline = append(x.Timeline, scenarios.Item{When: faults.Trigger{At: warmUp}, Client: name, Do: p.Steps, Repeat: p.Repeat})
	}
	if fault != nil {
		x.Timeline = append(x.Timeline, scenarios.Item{When: faults.Trigger{At: x.Duration + time.Second}, Kind: fault.Kind, Fault: fault.Fault})
	}
	return Setup{Scenario: &x, Begin: warmUp}
}

// ways are the resources that programs lock, one of each number of them; nil stands for the only resource there is.
func ways(programs []Program, resources []string) (all [][]string) {
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
