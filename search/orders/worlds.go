package orders

import (
	"context"
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/jobs"
	"redlocksim/reach"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim"
)

// World is a small world with its name, and what going through it gave.
type World struct {
	// Name says what the clients do, and Fault what may go wrong at any moment.
	Name, Fault string
	Setup       Setup
	// Levels are what going through it gave with Setup.Late from 0 on: all complete but perhaps the last.
	Levels []*Result
}

// Last is the level that went farthest.
func (w *World) Last() *Result { return w.Levels[len(w.Levels)-1] }

// Reached is what the runs of all worlds reached.
func Reached(worlds []*World) (sum reach.Tally) {
	for _, w := range worlds {
		for _, r := range w.Levels {
			sum.Merge(r.Tally)
		}
	}
	return sum
}

// Tested is how many runs of all levels say something about the lock: in each somebody was granted it.
func (w *World) Tested() int {
	n := 0
	for _, r := range w.Levels {
		n += r.Runs - r.NotTested
	}
	return n
}

// search goes through the levels up to late, until one is not complete or has shown a violation, or none can show more.
func (w *World) search(ctx context.Context, late, executions int) error {
	w.Setup.Executions = executions
	for w.Setup.Late = 0; ; w.Setup.Late++ {
		r, err := Explore(ctx, w.Setup)
		if err != nil {
			return err
		}
		w.Levels = append(w.Levels, r)
		if !r.Complete || r.Violations > 0 || r.Withheld == 0 || w.Setup.Late == late {
			return nil
		}
	}
}

// NoFault is the Fault of a World in which nothing goes wrong.
const NoFault = "no fault"

// maxNodes is how many nodes of a scenario the small worlds have: the fewest in which a majority can differ from another.
const maxNodes = 3

// Worlds are the small worlds of a scenario's lock: two clients that ask at once; one that asks again after it was refused;
// and one that releases while its lease ends, and two that ask after that. Each without a fault, and with each of a few that
// may be injected at any moment: a node that is killed and restarts, as early as the budget allows, a client that crashes or is paused for
// longer than the time to live, a link that is cut, and a node's clock that steps by as much as the budget allows. Those are on
// the first resource; where there are several, see several for more.
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
	late := Program{[]scenarios.Step{step(scenarios.SleepStep, ttl+ttl/10), try, step(scenarios.HoldStep, ttl/2)}, 1}
	worlds := []shape{
		{"two clients ask at once", []Program{{[]scenarios.Step{try, past}, 1}, {[]scenarios.Step{try, past}, 1}}, 2 * ttl},
		{"one asks again", []Program{{[]scenarios.Step{try, past}, 1}, {[]scenarios.Step{try, past}, 2}}, 2 * ttl},
		{"one releases late", []Program{{[]scenarios.Step{try, step(scenarios.HoldStep, ttl*4/5), {Kind: scenarios.UnlockStep}}, 1}, late, late}, 2 * ttl},
	}
	var all []*World
	for _, w := range append(worlds, several(base, past)...) {
		for _, fault := range anyTime(base) {
			name := NoFault
			if fault != nil {
				name = fault.Kind
			}
			all = append(all, &World{Name: w.name, Fault: name, Setup: Small(base, maxNodes, w.programs, fault, w.length)})
		}
	}
	return all
}

// shape is what the clients of a small world do, and for how long it goes on.
type shape struct {
	name     string
	programs []Program
	length   time.Duration
}

// several are the shapes for a lock on several resources, of which two are enough: the first two. Where they can be locked as
// one, two clients do so, in opposite orders; or one does, and the other locks the last of them alone. Elsewhere two clients
// lock one after the other, in opposite orders. None if there is only one resource.
func several(base *scenarios.Scenario, past scenarios.Step) []shape {
	if len(base.Resources) < 2 {
		return nil
	}
	a, b := base.Resources[0], base.Resources[1]
	once := func(steps ...scenarios.Step) Program { return Program{append(steps, past), 1} }
	length := 2 * base.Lock.TTL
	if p, _ := protocols.Find(string(base.Lock.Protocol)); !p.LocksAll {
		return []shape{{"two lock one after the other, in opposite orders", []Program{once(tryLock(a), tryLock(b)), once(tryLock(b), tryLock(a))}, length}}
	}
	return []shape{
		{"two lock both as one, in opposite orders", []Program{once(tryLock(a, b)), once(tryLock(b, a))}, length},
		{"one locks both as one, another the last", []Program{once(tryLock(a, b)), once(tryLock(b))}, length},
	}
}

func tryLock(resources ...string) scenarios.Step {
	return scenarios.Step{Kind: scenarios.TryLockStep, Resource: resources}
}

// anyTime are the faults that may be injected at any moment, and none.
func anyTime(base *scenarios.Scenario) []*Fault {
	budget, node := base.Budget, base.Nodes.Names[0]
	var again *time.Duration
	if least, comesBack := budget.Away(base.Lock.Fencing); comesBack {
		again = &least
	}
	if base.Nodes.Persistence.Persistence != sim.NoPersistence { // what is killed keeps what it has written
		again = new(time.Duration)
	}
	all := []*Fault{nil,
		{"kill", &faults.Kill{Outage: faults.Outage{Node: node, RestartAfter: again}}},
		{"crash", &faults.Crash{Client: "client-1"}},
		{"pause", &faults.Pause{Process: "client-1", For: base.Lock.TTL + base.Lock.TTL/10}},
		{"partition", &faults.Partition{Links: faults.Links{Clients: []string{"client-1"}, Nodes: []string{node}}}}}
	if budget.ClockStep > 0 {
		all = append(all, &Fault{"clock-step", &faults.ClockStep{Process: node, By: budget.ClockStep}})
	}
	return all
}

// Search goes through worlds, several at a time, one a core if workers is zero: with Setup.Late from 0 to late, without a limit
// if that is negative, and at most so many executions at each level. When the context ends, each has what was gone through
// so far. What is found does not depend on them.
func Search(ctx context.Context, worlds []*World, late, executions, workers int) error {
	_, err := jobs.Set[struct{}, struct{}]{N: len(worlds), Workers: workers,
		Do: func(ctx context.Context, _ *struct{}, i int) (struct{}, error) {
			return struct{}{}, worlds[i].search(ctx, late, executions)
		},
		Name: func(i int) string { return fmt.Sprintf("%s, %s", worlds[i].Name, worlds[i].Fault) },
	}.Run(ctx)
	return err
}
