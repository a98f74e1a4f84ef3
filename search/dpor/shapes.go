package dpor

import (
	"time"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// NoFault is the Fault of a World in which nothing goes wrong.
const NoFault = "no fault"

// maxNodes is how many nodes small worlds have: the fewest with which two majorities can differ.
const maxNodes = 3

// Worlds are the small worlds of a scenario's lock: two clients that ask at once; one that asks again after a refusal; and
// one that releases as its lease ends, and two that ask after that. Each comes without a fault, and with each of a few that
// may be injected at any moment: a node that is killed and restarts, as early as the budget allows, a client that crashes
// or is paused for longer than the time to live, a link that is cut, and a node's clock that steps by as much as the budget
// allows. They lock the first resource; [several] adds worlds for scenarios with more than one.
func Worlds(base *scenarios.Scenario) []*World {
	ttl := base.Lock.TTL
	try := tryLock()
	if len(base.Resources) > 1 {
		try = tryLock(base.Resources[0])
	}
	step := func(kind scenarios.StepKind, d time.Duration) scenarios.Step {
		return scenarios.Step{Kind: kind, For: d}
	}
	past := step(scenarios.HoldStep, ttl+ttl/5)
	late := program{[]scenarios.Step{step(scenarios.SleepStep, ttl+ttl/10), try, step(scenarios.HoldStep, ttl/2)}, 1}
	worlds := []shape{
		{"two clients ask at once", []program{{[]scenarios.Step{try, past}, 1}, {[]scenarios.Step{try, past}, 1}}, 2 * ttl},
		{"one asks again", []program{{[]scenarios.Step{try, past}, 1}, {[]scenarios.Step{try, past}, 2}}, 2 * ttl},
		{"one releases late", []program{{[]scenarios.Step{try, step(scenarios.HoldStep, ttl*4/5), {Kind: scenarios.UnlockStep}}, 1}, late, late}, 2 * ttl},
	}
	var all []*World
	for _, w := range append(worlds, several(base, past)...) {
		for _, fault := range anyTime(base) {
			name := NoFault
			if fault != nil {
				name = fault.Kind
			}
			all = append(all, &World{Name: w.name, Fault: name, setup: newSetup(base, maxNodes, w.programs, fault, w.length)})
		}
	}
	return all
}

// shape is what the clients of a small world do, and for how long it goes on.
type shape struct {
	name     string
	programs []program
	length   time.Duration
}

// several are the shapes for several resources, of which the first two are used. If they can be locked as one, two clients
// do so in opposite orders, or one does and the other locks only the last. Otherwise two clients lock one after the other,
// in opposite orders. There are none for a single resource.
func several(base *scenarios.Scenario, past scenarios.Step) []shape {
	if len(base.Resources) < 2 {
		return nil
	}
	a, b := base.Resources[0], base.Resources[1]
	once := func(steps ...scenarios.Step) program { return program{append(steps, past), 1} }
	length := 2 * base.Lock.TTL
	if !base.Lock.Capabilities().LocksAll {
		return []shape{{"two lock one after the other, in opposite orders", []program{once(tryLock(a), tryLock(b)), once(tryLock(b), tryLock(a))}, length}}
	}
	return []shape{
		{"two lock both as one, in opposite orders", []program{once(tryLock(a, b)), once(tryLock(b, a))}, length},
		{"one locks both as one, another the last", []program{once(tryLock(a, b)), once(tryLock(b))}, length},
	}
}

func tryLock(resources ...string) scenarios.Step {
	return scenarios.Step{Kind: scenarios.TryLockStep, Resource: resources}
}

// anyTime are the faults that may be injected at any moment, and none.
func anyTime(base *scenarios.Scenario) []*scenarios.Item {
	budget, node := base.Budget, base.Nodes.Names[0]
	var again *time.Duration
	if least, comesBack := budget.Away(protocols.Of[protocols.RedlockSettings](base.Lock).Fencing); comesBack {
		again = &least
	}
	if base.Nodes.Persistence.SurvivesKill() { // what is killed keeps what it has written
		again = new(time.Duration)
	}
	all := []*scenarios.Item{nil,
		{Kind: "kill", Fault: &faults.Kill{Outage: faults.Outage{Node: node, RestartAfter: again}}},
		{Kind: "crash", Fault: &faults.Crash{Client: "client-1"}},
		{Kind: "pause", Fault: &faults.Pause{Process: "client-1", For: base.Lock.TTL + base.Lock.TTL/10}},
		{Kind: "partition", Fault: &faults.Partition{Links: faults.Links{Clients: []string{"client-1"}, Nodes: []string{node}}}}}
	if budget.ClockStep > 0 {
		all = append(all, &scenarios.Item{Kind: "clock-step", Fault: &faults.ClockStep{Process: node, By: budget.ClockStep}})
	}
	return all
}
