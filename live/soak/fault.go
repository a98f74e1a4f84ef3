package soak

import (
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// Fault is a kind of fault that is injected in a soak.
type Fault string

// The kinds of faults. All last for a random time. Those of nodes mostly affect one node, sometimes all.
const (
	NodeKill    Fault = "node-kill"    // kill -9; the node comes back with what is on its disk
	PowerLoss   Fault = "power-loss"   // what was not fsynced is lost too, and connections get no answer
	NodePause   Fault = "node-pause"   // SIGSTOP and SIGCONT
	Cut         Fault = "cut"          // messages between some processes and some nodes are lost, in one direction or both
	Slow        Fault = "slow"         // messages arrive later by up to two node timeouts
	Reset       Fault = "reset"        // connections break
	ClientPause Fault = "client-pause" // SIGSTOP and SIGCONT of a process with many clients
	ClientKill  Fault = "client-kill"  // kill -9 of a process with many clients, which is replaced
)

// Faults lists all kinds.
func Faults() []Fault {
	return []Fault{NodeKill, PowerLoss, NodePause, Cut, Slow, Reset, ClientPause, ClientKill}
}

// forgetting reports whether nodes can forget in such a fault what they had acknowledged.
func forgetting(s *scenarios.Scenario, a Fault) bool {
	switch a {
	case NodeKill: // the operating system has what was written
		return s.Nodes.Persistence == redis.NoPersistence
	case PowerLoss:
		return s.Nodes.Persistence != redis.Always
	}
	return false
}

// guarded says whether nodes that restart are left out for a while.
func guarded(s *scenarios.Scenario) bool {
	return protocols.Of[protocols.RedlockSettings](s.Lock).Guard != nil
}

// beyond says why the settings do not allow a kind of fault; empty if they do. Pauses and lost messages are always allowed:
// they cost a lock nothing but time.
func beyond(s *scenarios.Scenario, a Fault) string {
	switch {
	case !forgetting(s, a):
	case protocols.Of[protocols.RedlockSettings](s.Lock).Fencing:
		return "nodes would forget the counters of fencing, which must not happen"
	case !guarded(s) && s.Budget.RestartDelay == nil:
		return "nodes would come back without what they knew, and there is no budget: {restart-delay: …}, " +
			"lock: {guard: …} or nodes: {persistence: always}"
	}
	return ""
}
