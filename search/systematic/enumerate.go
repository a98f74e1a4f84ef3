package systematic

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"redlocksim/faults"
	"redlocksim/sim"
)

// enumerate lists the faults of the vocabulary with telling parameters: every process, every link, every client's links
// and every node's, each direction; sizes as large as the budget allows and, beyond it, about the time to live and twice
// that.
func (b *Base) enumerate(beyond bool) []Fault {
	e := enumeration{Base: b, names: b.Scenario.Processes(), ttl: b.Scenario.Lock.TTL, beyond: beyond}
	var all []Fault
	for _, w := range faults.Vocabulary() {
		for _, f := range e.of(w.New()) {
			if len(f.Check(e.names)) == 0 {
				all = append(all, Fault{w.Name, f})
			}
		}
	}
	return all
}

type enumeration struct {
	*Base
	names  faults.Names
	ttl    time.Duration
	beyond bool
}

// of lists the faults of one kind.
func (e *enumeration) of(zero faults.Fault) (all []faults.Fault) {
	budget := e.Scenario.Budget
	processes := slices.Concat(e.names.Clients, e.names.Nodes)
	add := func(f faults.Fault) { all = append(all, f) }
	switch zero.(type) {
	case *faults.ClockStep:
		for _, p := range processes {
			for _, d := range e.sizes(budget.ClockStep) {
				add(&faults.ClockStep{Process: p, By: d})
				add(&faults.ClockStep{Process: p, By: -d})
			}
		}
	case *faults.ClockRate:
		for _, p := range processes {
			for _, ppb := range e.rates(budget.ClockRate) {
				add(&faults.ClockRate{Process: p, Rate: faults.RateOf(decimal.New(ppb, -9))})
				add(&faults.ClockRate{Process: p, Rate: faults.RateOf(decimal.New(-ppb, -9))})
			}
		}
	case *faults.Partition:
		for _, l := range e.links() {
			add(&faults.Partition{Links: l})
			add(&faults.Partition{Links: l, For: e.ttl})
		}
	case *faults.Hold:
		for _, l := range e.links() {
			for _, d := range e.sizes(budget.Delay) {
				add(&faults.Hold{Links: l, For: d})
			}
		}
	case *faults.Delay:
		for _, l := range e.links() {
			for _, d := range e.sizes(budget.Delay) {
				add(&faults.Delay{Links: l, By: d, For: 2 * e.ttl})
			}
		}
	case *faults.Reset:
		for _, l := range e.links() {
			if l.Direction.Direction == sim.Both {
				add(&faults.Reset{Links: l})
			}
		}
	case *faults.Split:
		if e.Scenario.Lock.Batching == 0 { // its clients send no batches
			break
		}
		for _, l := range e.links() {
			for _, reset := range []bool{false, true} {
				add(&faults.Split{Links: l, Keep: 1, Reset: reset, For: e.ttl})
			}
		}
	case *faults.Kill:
		for _, o := range e.outages(e.Scenario.Nodes.Persistence.Persistence != sim.NoPersistence) {
			add(&faults.Kill{Outage: o})
		}
	case *faults.PowerLoss:
		for _, o := range e.outages(e.Scenario.Nodes.Persistence.Persistence == sim.Always) {
			add(&faults.PowerLoss{Outage: o})
		}
	case *faults.Shutdown:
		for _, o := range e.outages(e.Scenario.Nodes.Persistence.Persistence != sim.NoPersistence) {
			add(&faults.Shutdown{Outage: o})
		}
	case *faults.Restart:
		for _, n := range e.names.Nodes {
			add(&faults.Restart{Node: n})
		}
	case *faults.Promote:
		if e.beyond || budget.MemoryLoss > 0 && (!e.Scenario.Lock.Fencing || budget.CounterLoss > 0) {
			for _, n := range e.Scenario.Nodes.Names {
				for _, r := range e.names.Replicas[n] {
					add(&faults.Promote{Node: n, Replica: r})
				}
			}
		}
	case *faults.Pause:
		for _, p := range processes {
			for _, d := range e.sizes(budget.Pause) {
				add(&faults.Pause{Process: p, For: d})
			}
		}
	case *faults.Suspend:
		for _, c := range e.names.Clients {
			for _, d := range e.sizes(budget.Suspend) {
				add(&faults.Suspend{Client: c, For: d})
			}
		}
	case *faults.Resume:
		for _, p := range processes {
			add(&faults.Resume{Process: p})
		}
	case *faults.Stuck:
		for _, c := range e.names.Clients {
			add(&faults.Stuck{Client: c})
		}
	case *faults.Crash:
		for _, c := range e.names.Clients {
			add(&faults.Crash{Client: c})
		}
	}
	return all
}

// sizes are the budget and, beyond it, what is about the time to live and twice that.
func (e *enumeration) sizes(budget time.Duration) (all []time.Duration) {
	if budget > 0 {
		all = append(all, budget)
	}
	if e.beyond {
		for _, d := range []time.Duration{e.ttl, 2 * e.ttl} {
			if d > budget {
				all = append(all, d)
			}
		}
	}
	return all
}

// rates are the budget and, beyond it, 10 %, both in parts per billion.
func (e *enumeration) rates(budget faults.Rate) (all []int64) {
	const wrong = 100_000_000
	if ppb := budget.PPB(); ppb > 0 {
		all = append(all, ppb)
	}
	if e.beyond && budget.PPB() < wrong {
		all = append(all, wrong)
	}
	return all
}

// links are every link by itself, all of a client's and all of a node's, in each direction.
func (e *enumeration) links() (all []faults.Links) {
	servers := e.names.Nodes
	if e.usesResource {
		servers = append(slices.Clip(servers), sim.StorageName)
	}
	add := func(clients, nodes []string) {
		for _, d := range []sim.Direction{sim.Both, sim.Requests, sim.Replies} {
			all = append(all, faults.Links{Clients: clients, Nodes: nodes, Direction: faults.Direction{Direction: d}})
		}
	}
	for _, c := range e.names.Clients {
		for _, s := range servers {
			add([]string{c}, []string{s})
		}
	}
	if len(e.names.Nodes) > 1 {
		for _, c := range e.names.Clients {
			add([]string{c}, nil)
		}
	}
	if len(e.names.Clients) > 1 {
		for _, s := range servers {
			add(nil, []string{s})
		}
	}
	return all
}

// outages are for good and, where the memory is kept or the budget allows for its loss, with a restart at once; after the
// restart delay of the budget in any case.
func (e *enumeration) outages(keeps bool) (all []faults.Outage) {
	after := []time.Duration{}
	budget := e.Scenario.Budget
	least, comesBack := budget.Away(e.Scenario.Lock.Fencing)
	free := keeps || e.beyond // to come back at any time
	if free || comesBack && least == 0 {
		after = append(after, 0)
	}
	if d := budget.RestartDelay; d != nil && (free || comesBack) && !slices.Contains(after, *d) {
		after = append(after, *d)
	}
	for _, n := range e.names.Nodes {
		all = append(all, faults.Outage{Node: n})
		for _, d := range after {
			all = append(all, faults.Outage{Node: n, RestartAfter: &d})
		}
	}
	return all
}
