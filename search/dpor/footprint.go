package dpor

import (
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// set64 is a set of processes, and of what the verdict is on, which counts as one.
type set64 uint64

const (
	everything = ^set64(0)
	shown      = set64(1) << 63
)

// footprint is what a step read and what it wrote.
type footprint struct{ reads, writes set64 }

// meets says that two steps depend on each other.
func (f footprint) meets(o footprint) bool {
	return f.writes&(o.reads|o.writes)|f.reads&o.writes != 0
}

// step is a step of a run.
type step struct {
	option kernel.Option
	footprint
	creator int   // the step that made this one possible; −1 if it was from the beginning
	before  steps // those that this one happened after, whatever the order of independent ones
	late    int   // how often time has gone on before while messages were under way
}

// bits numbers the processes of a scenario.
func bits(s *scenarios.Scenario) map[string]set64 {
	of := map[string]set64{}
	names := s.Processes()
	for _, name := range append(append([]string{storage.Name}, names.Clients...), names.Nodes...) {
		of[name] = 1 << len(of)
	}
	return of
}

// footprintOfFault is that of the fault that may be injected at any moment.
func (x *explorer) footprintOfFault() footprint {
	touched := set64(0)
	for _, item := range x.setup.Scenario.Timeline {
		if item.Fault == nil || item.When.After != nil || item.When.At <= x.setup.Scenario.Duration {
			continue
		}
		if k, _ := faults.Find(item.Kind); k.Local {
			touched |= x.processes[faults.TargetOf(item.Fault)]
		} else {
			touched = everything
		}
	}
	return footprint{touched, touched}
}

// footprint is that of the step just made, from what the nodes knew and how much was recorded before.
func (x *explorer) footprint(o kernel.Option) footprint {
	own := x.processes[o.Process]
	f := footprint{own, own}
	switch o.Kind {
	case kernel.StepTime:
		return footprint{everything, everything}
	case kernel.StepTimeline:
		f = x.fault
	case network.StepRequest:
		if x.leavesAsItWas(o.Process) {
			f.writes = 0
		}
	}
	recorded := x.world.History()
	for i := x.recorded; i < len(recorded); i++ {
		if decides(&recorded[i]) {
			f.reads |= shown
			f.writes |= shown
		}
	}
	return f
}

// leavesAsItWas says that a request is known not to have changed its node. At a node that can be paused it may have queued.
func (x *explorer) leavesAsItWas(node string) bool {
	if !x.setup.Scenario.Lock.Capabilities().KeysOnly {
		return false
	}
	if x.fault.writes&x.processes[node] != 0 || len(x.memories) == 0 {
		return false
	}
	for i, server := range x.world.Servers {
		if server.Name() == node {
			return fingerprintOf(server) == x.memories[i]
		}
	}
	return false
}

// fingerprintOf stands for what a node knows, on tier model, which all runs are made on.
func fingerprintOf(s *redis.Server) kernel.Key { return s.Memory().(redis.Fingerprinted).Fingerprint() }

// decides says whether the checker goes by the place of the event among those of other processes.
func decides(e *history.Event) bool {
	switch e.Kind {
	case history.Expire, history.Crash, history.Effect:
		return true
	case history.Call:
		return e.Func == history.Release
	case history.Return:
		return e.Outcome == history.OK && (e.Func == history.Acquire || e.Func == history.Extend || e.Func == history.Release)
	}
	return false
}

// maxSteps bounds the choices of a run. A consensus service makes some thousands, for its heartbeats.
const maxSteps = 4096

// steps is a set of a run's steps, by their places.
type steps [maxSteps / 64]uint64

func (s *steps) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s *steps) add(i int)      { s[i/64] |= 1 << (i % 64) }

// join adds the steps of o, which come before step i.
func (s *steps) join(o *steps, i int) {
	for at := range i/64 + 1 {
		s[at] |= o[at]
	}
}

func (x *explorer) depend(o kernel.Option, f footprint, s *step) bool {
	return f.meets(s.footprint) && (x.setup.independent == nil || !x.setup.independent(o, s.option))
}
