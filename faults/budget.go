package faults

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Budget is what may go wrong without breaking the claim of a protocol to be safe. An empty budget allows no faults
// that threaten safety. Nodes may stop and messages may be lost under any budget: that costs availability and never safety.
type Budget struct {
	// ClockRate bounds the rate error of every clock. Default: 0%. Example: 0.1%
	ClockRate Rate `yaml:"clock-rate"`
	// ClockStep bounds by how much all steps of a wall clock move it between any two moments. A step of a Redis node does not
	// count that changes when no lock expires there, unless the node has replicas, nor does one of a client whose lock reads a
	// clock that is not stepped. Default: 0s. Example: 100ms
	ClockStep time.Duration `yaml:"clock-step" range:"0s.."`
	// Delay bounds what is added to the network's ordinary delays. Default: 0s. Example: 50ms
	Delay time.Duration `yaml:"delay" range:"0s.."`
	// Pause bounds every pause of a process. Default: 0s. Example: 800ms
	Pause time.Duration `yaml:"pause" range:"0s.."`
	// Suspend bounds for how long the machine of a client is suspended in all. Default: 0s. Example: 1m
	Suspend time.Duration `yaml:"suspend" range:"0s.."`
	// RestartDelay is how long a node that lost memory stays down at least, from when it stopped until it is back or, if it
	// stays down, a replica that does not know all of its locks takes its place. Default: no node loses memory. Example: 10s
	RestartDelay *time.Duration `yaml:"restart-delay" range:"0s.."`
	// MemoryLoss is how many times a node may come back or be replaced earlier than that without all it knew, have locks
	// evicted, or be replaced while it is up.
	// Default: 0. Example: 1
	MemoryLoss int `yaml:"memory-loss" range:"0.."`
	// NoPowerLoss promises that no node loses power. A node that stops then keeps what it handed to the operating system
	// and, with an append-only file, all it knew, however seldom it fsyncs. Default: false. Example: true
	NoPowerLoss bool `yaml:"no-power-loss"`
	// CounterLoss is how many nodes may ever lose fencing counters, however long they stay down: counters outlive every
	// lock, so no delay brings them back. With a quorum of q of N nodes, tokens rise as long as this is at most 2q − N − 1,
	// which is 0 for a majority of an odd number. Default: 0. Example: 1
	CounterLoss int `yaml:"counter-loss" range:"0.."`
}

// Used is what the faults of a run amounted to.
type Used struct {
	ClockRate Rate
	ClockStep time.Duration
	Delay     time.Duration
	Pause     time.Duration
	Suspend   time.Duration
	// Lost is what nodes no longer know, in the order in which that happened.
	Lost []Loss
	// Unpowered are the nodes that lost power.
	Unpowered []string
}

// Loss is a node that no longer knows all it did, or in whose place a replica has come that does not.
type Loss struct {
	Node string
	By   LostBy
	// After is how long the node was down before it, or the replica in its place, was back; zero if it was up.
	After time.Duration
	// Counters: it lost a fencing counter, or the latest of what it had counted, or will.
	Counters bool
	// Harmless: it lost no lock.
	Harmless bool
}

// LostBy is what a node lost its memory by.
type LostBy uint8

const (
	// Restarted: it came back without all it knew.
	Restarted LostBy = iota
	// EvictedFrom: it lost keys while it ran.
	EvictedFrom
	// TakenOver: it was down, and all clients talk to a replica, as if the node had come back without its memory.
	TakenOver
	// Replaced: it may go on granting locks beside the replica, and no restart guard has that wait for their ends.
	Replaced
)

// waits says whether the node was down before, and locks had the time to expire.
func (l *Loss) waits() bool { return l.By == Restarted || l.By == TakenOver }

func (l *Loss) String() string {
	text := l.Node + [...]string{Restarted: " came back without its memory", EvictedFrom: " lost locks by an eviction",
		TakenOver: " was replaced by a replica that does not know all it did,", Replaced: " was replaced by a replica that does not know all it did"}[l.By]
	if l.waits() {
		text += fmt.Sprintf(" after %v", l.After)
	}
	return text
}

const unbounded = time.Duration(1<<63 - 1)

// Beyond says in words where what was used exceeds the budget; nil if it does not.
func (b Budget) Beyond(u Used) []string {
	var over []string
	if u.ClockRate.ratio.GreaterThan(b.ClockRate.ratio) {
		over = append(over, fmt.Sprintf("a clock ran %v wrong, the budget is %v", u.ClockRate, b.ClockRate))
	}
	size := func(what string, used, budget time.Duration) {
		switch {
		case used <= budget:
		case used == unbounded:
			over = append(over, fmt.Sprintf("%s without an end, the budget is %v", what, budget))
		default:
			over = append(over, fmt.Sprintf("%s of %v, the budget is %v", what, used, budget))
		}
	}
	size("a clock step", u.ClockStep, b.ClockStep)
	size("an extra delay", u.Delay, b.Delay)
	size("a pause", u.Pause, b.Pause)
	size("for one client, suspensions", u.Suspend, b.Suspend)
	over = append(over, b.memoryBeyond(u)...)
	if b.NoPowerLoss && len(u.Unpowered) > 0 {
		over = append(over, fmt.Sprintf("%s lost power, the budget rules that out", u.Unpowered[0]))
	}
	return append(over, b.countersBeyond(u)...)
}

// memoryBeyond says who forgot more than the budget allows.
func (b Budget) memoryBeyond(u Used) (over []string) {
	early := 0
	for _, l := range u.Lost {
		if !b.isEarly(&l) {
			continue
		}
		if early++; early <= b.MemoryLoss {
			continue
		}
		allows := count(b.MemoryLoss) + " to lose memory"
		if l.waits() {
			allows = "that to " + count(b.MemoryLoss)
			if b.RestartDelay != nil {
				allows += fmt.Sprintf(" before %v", *b.RestartDelay)
			}
		}
		over = append(over, fmt.Sprintf("%v, the budget allows %s", &l, allows))
	}
	return over
}

// isEarly says whether locks may be lost that have not expired.
func (b Budget) isEarly(l *Loss) bool {
	return !l.Harmless && (!l.waits() || b.RestartDelay == nil || l.After < *b.RestartDelay)
}

// countersBeyond says whether more nodes lost fencing counters than the budget allows.
func (b Budget) countersBeyond(u Used) (over []string) {
	nodes := u.withoutCounters()
	if len(nodes) > b.CounterLoss {
		over = append(over, fmt.Sprintf("%s lost fencing counters, the budget allows that to %s", strings.Join(nodes, ", "), count(b.CounterLoss)))
	}
	return over
}

// withoutCounters are the nodes that lost fencing counters.
func (u Used) withoutCounters() (nodes []string) {
	for _, l := range u.Lost {
		if l.Counters && !slices.Contains(nodes, l.Node) {
			nodes = append(nodes, l.Node)
		}
	}
	return nodes
}

// Taken is what of the budget was used, the rest of which the run did not need.
func (b Budget) Taken(u Used) Budget {
	t := Budget{ClockRate: b.ClockRate, ClockStep: min(u.ClockStep, b.ClockStep), Delay: min(u.Delay, b.Delay), Pause: min(u.Pause, b.Pause),
		Suspend: min(u.Suspend, b.Suspend), NoPowerLoss: b.NoPowerLoss, CounterLoss: min(len(u.withoutCounters()), b.CounterLoss)}
	if u.ClockRate.ratio.LessThan(b.ClockRate.ratio) {
		t.ClockRate = u.ClockRate
	}
	for _, l := range u.Lost {
		switch {
		case b.isEarly(&l):
			t.MemoryLoss = min(t.MemoryLoss+1, b.MemoryLoss)
		case !l.Harmless && (t.RestartDelay == nil || l.After < *t.RestartDelay):
			t.RestartDelay = &l.After
		}
	}
	return t
}

// size is what a key allows that is a length of time; zero for the others.
func (b Budget) size(key string) time.Duration {
	for _, k := range knobs(&b) {
		if k.key() == key {
			d, _ := k.value.Interface().(time.Duration)
			return d
		}
	}
	return 0
}

// count is how many nodes something is allowed to.
func count(n int) string {
	switch n {
	case 0:
		return "no node"
	case 1:
		return "one node"
	}
	return fmt.Sprintf("%d nodes", n)
}

// Away is how long a node without its memory must stay away at least, and whether it may come back at all. fenced says that
// nodes keep fencing counters, which no delay brings back.
func (b Budget) Away(fenced bool) (least time.Duration, comesBack bool) {
	switch {
	case fenced && b.CounterLoss == 0:
		return 0, false
	case b.MemoryLoss > 0:
		return 0, true
	case b.RestartDelay != nil:
		return *b.RestartDelay, true
	}
	return 0, false
}
