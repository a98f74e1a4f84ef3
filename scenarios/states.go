package scenarios

import (
	"math/bits"
	"slices"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// State stands for an abstract state that a run went through: for one resource what each client is doing there, whether no node
// has its key, some have, or a quorum, and whether requests of its are under way, how many nodes are down, and which fault came
// last. Names, times and values do not count: two runs that differ in these alone go through the same states. It is a hash, and
// below NumStates.
type State uint32

// stateBits is of how many bits a state is. The five million runs of the longest search went through a million states: two in
// five places have one then, and a state that is new is taken for one that is not as often at the most.
const stateBits = 21

// NumStates is how many states are told apart at the most.
const NumStates = 1 << stateBits

// maxDown is up to how many nodes that are down are told apart.
const maxDown = 2

// states watches which states a run goes through.
type states struct {
	world   *sim.World
	quorum  int
	recent  time.Duration // for how long a fault counts
	places  map[string]*place
	visited []State
	fault   string
	since   kernel.True
}

// place is what goes on around a resource.
type place struct {
	clients []doing
	keys    []standing // by the places of the Servers
	last    State
}

// doing is what a client does.
type doing struct {
	process       *kernel.Process
	phase         phase
	sets, deletes int // requests under way
}

// phase is what a client did last that changes what it may do next.
type phase uint8

const (
	idle phase = iota
	acquiring
	holding
	extending
	releasing
	over // it believed in a lock, and does not any more
	dead
)

// after is the phase after an event.
func (p phase) after(e *history.Event) phase {
	switch {
	case e.Kind == history.Crash:
		return dead
	case e.Kind == history.Expire:
		return over
	case e.Kind == history.Call && e.Func == history.Acquire:
		return acquiring
	case e.Kind == history.Call && e.Func == history.Extend:
		return extending
	case e.Kind == history.Call && e.Func == history.Release:
		return releasing
	case e.Kind == history.Return && (e.Func == history.Release || e.Func == history.Acquire && e.Outcome != history.OK):
		return idle
	case e.Kind == history.Return && (e.Func == history.Extend || e.Func == history.Acquire):
		return holding
	}
	return p
}

// standing is a key on a node.
type standing struct {
	owner *kernel.Process // nil if nobody's is there
	until kernel.True
}

func watchStates(w *sim.World, s *Scenario) *states {
	x := &states{world: w, quorum: 1, recent: s.Lock.TTL, places: map[string]*place{}}
	if quorum, votes := s.Lock.Votes(len(w.Servers)); votes {
		x.quorum = quorum
	}
	for _, name := range s.Resources {
		p := &place{keys: make([]standing, len(w.Servers))}
		for _, client := range w.Clients {
			p.clients = append(p.clients, doing{process: client})
		}
		x.places[name] = p
	}
	trace.On(w.Events, x.saw)
	trace.On(w.Events, x.restarted)
	trace.On(w.Events, x.applied)
	trace.On(w.Events, x.asked)
	return x
}

func (x *states) saw(e *history.Event) {
	if e.Kind == history.Fault {
		x.fault, x.since = e.Name, x.world.Kernel.Now()
	}
	p := x.places[e.Resource]
	if p == nil {
		return
	}
	if c := p.of(x.world.Client(e.Process)); c != nil {
		c.phase = c.phase.after(e)
		if e.Kind == history.Call && e.Func == history.Acquire {
			c.sets, c.deletes = 0, 0 // those lost on the way
		}
		x.visit(p)
	}
}

// restarted has a client do in the place of the one that has crashed.
func (x *states) restarted(client kernel.Restarted) {
	for _, p := range x.places {
		for i := range p.clients {
			if p.clients[i].process.Name() == client.Name() {
				p.clients[i] = doing{process: client.Process}
			}
		}
	}
}

func (x *states) applied(a *redis.Applied) {
	p, node := x.places[a.Key], slices.Index(x.world.Servers, a.Server)
	if p == nil || node < 0 {
		return
	}
	p.keys[node] = standing{}
	if !a.Removed() {
		p.keys[node] = standing{a.Client, a.Server.RunsOut(a.After.ExpiresAt)}
	}
	x.visit(p)
}

func (x *states) asked(a *redis.Asked) {
	if a.At == redis.Answered || a.Intent == redis.NoIntent {
		return
	}
	for _, key := range a.Keys {
		p := x.places[key]
		if p == nil {
			continue
		}
		c := p.of(a.Client)
		if c == nil {
			continue
		}
		pending := &c.sets
		if a.Intent == redis.Deletes {
			pending = &c.deletes
		}
		if a.At == redis.Sent {
			*pending++
		} else if *pending > 0 {
			*pending--
		}
	}
}

func (p *place) of(client *kernel.Process) *doing {
	for i := range p.clients {
		if p.clients[i].process == client {
			return &p.clients[i]
		}
	}
	return nil
}

// visit notes the state in which a resource is now.
func (x *states) visit(p *place) {
	now := x.world.Kernel.Now()
	down := 0
	for i, server := range x.world.Servers {
		if !server.Up() {
			down++
		}
		if p.keys[i].until <= now {
			p.keys[i] = standing{}
		}
	}
	// Clients are all alike: their words are added up, in whatever order.
	var sum uint64
	for i := range p.clients {
		c := &p.clients[i]
		votes, of := 0, 0
		for _, k := range p.keys {
			if k.owner == c.process {
				votes++
			}
		}
		switch {
		case votes >= x.quorum:
			of = 2
		case votes > 0:
			of = 1
		}
		sum += uint64(kernel.Key(0).With(uint64(c.phase)<<24 | uint64(of)<<16 | uint64(min(c.sets, 1))<<8 | uint64(min(c.deletes, 1))))
	}
	k := kernel.Key(sum).With(uint64(min(down, maxDown)))
	if x.fault != "" && now < x.since.Add(x.recent) {
		k = k.WithString(x.fault)
	}
	// Of equally rare states a search takes the least, so the low 18 bits, which used to be all, decide: what a seed
	// finds stays.
	if at := State(bits.RotateLeft64(uint64(k), 64-18) >> (64 - stateBits)); at != p.last {
		p.last = at
		x.visited = append(x.visited, at)
	}
}

// all are the states that were visited, each once, ascending.
func (x *states) all() []State {
	slices.Sort(x.visited)
	return slices.Compact(x.visited)
}
