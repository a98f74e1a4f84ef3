package faults

import (
	"slices"
	"time"

	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Limits are what faults are drawn within.
type Limits struct {
	// Names are the processes.
	Names Names
	// Budget is not exceeded, unless Beyond is set.
	Budget Budget
	// Beyond has sizes drawn as if there was no budget, in proportion to Scale.
	Beyond bool
	// Scale is the lock's time to live: faults of about that size are those that can break it.
	Scale time.Duration
	// Persistence is what nodes write to their disks.
	Persistence redis.Persistence
	// Fenced says that nodes keep fencing counters.
	Fenced bool
	// Monotonic says that the locks of clients read no wall clock: those of clients are stepped under any budget.
	Monotonic bool
	// MaxTTL is the largest TTL in the record of the restart guard that nodes keep; zero if they keep none.
	MaxTTL time.Duration
	// Random says that clients draw random bytes from a source that can fail.
	Random bool
	// Strict says that clients take nothing for a yes but what they have asked for. To others a node answers QUEUED, which is
	// no error, only where a file says so.
	Strict bool
	// Batches says that clients send several requests in one message.
	Batches bool
	// Focus are processes that a fault happens to as often as to all others together, if there are any: the client whose step
	// decides when, or the nodes, when something happens to several at once.
	Focus []string
	// Times are lengths that decide something: half of those that are drawn are of them.
	Times Times
}

// minOutage is how long a fault lasts that is drawn, at least, in tags too: one that is over before a message has travelled is
// noise.
const minOutage = 100 * time.Millisecond

// keeps says whether a node that stops has all it knew on its disk.
func (l *Limits) keeps(how Stop) bool {
	switch how {
	case PoweredOff:
		return l.Persistence.SurvivesPowerLoss()
	case ShutDown:
		return l.Persistence != redis.NoPersistence
	}
	return l.Persistence.SurvivesKill()
}

// masters are the nodes that have replicas.
func (l *Limits) masters() (masters []string) {
	for _, name := range l.Names.Nodes {
		if len(l.Names.Replicas[name]) > 0 {
			masters = append(masters, name)
		}
	}
	return masters
}

// promotes says whether a replica may take a node's place: as an asynchronous one it may lack anything, which no budget but a
// spare loss of memory covers.
func (l *Limits) promotes() bool {
	return l.Beyond || l.Budget.MemoryLoss > 0 && (!l.Fenced || l.Budget.CounterLoss > 0)
}

// evictable are the keys that a node may lose: nil if it may lose none.
func (l *Limits) evictable() (all []Evicted) {
	if l.Beyond || l.Budget.MemoryLoss > 0 {
		all = append(all, Locks)
	}
	if l.Fenced && (l.Beyond || l.Budget.CounterLoss > 0) {
		all = append(all, Counters)
	}
	if l.MaxTTL > 0 {
		all = append(all, GuardRecord)
	}
	if l.promotes() {
		all = append(all, AllKeys)
	}
	return all
}

// upTo draws a size of at least min. There is none if the budget allows none.
func (l *Limits) upTo(c Choices, min, budget time.Duration) (time.Duration, bool) {
	if l.Beyond {
		budget = 3 * l.Scale
	}
	if budget <= 0 {
		return 0, false
	}
	return l.Times.Length(c, min.Abs(), max(min, budget)), budget >= min
}

// names are those that there are of a role.
func (l *Limits) names(role string) []string { return roles[role].names(l.Names) }

// name draws one of a role, preferably in Focus unless it is a node.
func (l *Limits) name(c Choices, role string) string {
	names := l.names(role)
	if roles[role].target != OneNode && len(l.Focus) > 0 && c.For("is in focus", 0).Below(2) == 1 {
		if in := OneOf(c.For(role, 1), l.Focus...); slices.Contains(names, in) {
			return in
		}
	}
	return OneOf(c.For(role, 0), names...)
}

// links draws one client's links or several's, to some nodes, to all, or to the storage; or those between a node and its
// replicas.
func (l *Limits) links(c Choices) Links {
	var links Links
	if masters := l.masters(); len(masters) > 0 && c.For("between", 0).Below(4) == 0 {
		links.Nodes = []string{OneOf(c.For("master", 0), masters...)}
		links.Peers = l.Names.Replicas[links.Nodes[0]]
		return links
	}
	switch c.For("which clients", 0).Below(4) {
	case 0:
	case 1:
		links.Clients = []string{l.name(c, "client")}
	default:
		links.Clients = some(c.For("clients", 0), l.Names.Clients)
	}
	switch c.For("which nodes", 0).Below(6) {
	case 0:
	case 1:
		links.Nodes = []string{storage.Name}
	default:
		links.Nodes = some(c.For("nodes", 0), l.Names.Nodes)
	}
	links.Direction = OneOf(c.For("direction", 0), network.Both, network.Requests, network.Replies)
	return links
}

// outage draws how long a node stays down: for good, or for a time that is short only if it keeps its memory, or the
// budget allows it to lose it.
func (l *Limits) outage(c Choices, how Stop) Outage {
	o := Outage{Node: l.name(c, "node")}
	least := time.Duration(0)
	if !l.keeps(how) && !l.Beyond {
		var comesBack bool
		if least, comesBack = l.Budget.Away(l.Fenced); !comesBack {
			return o
		}
	}
	if c.For("for good", 0).Below(8) != 7 {
		after := l.Times.Length(c.For("restart", 0), least, least+l.Scale)
		o.RestartAfter = &after
	}
	return o
}
