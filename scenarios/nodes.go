package scenarios

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Nodes are the Redis nodes and what they write to disk.
type Nodes struct {
	// Names are the nodes' names. Default: [A, B, C, D, E]. Example: [A, B, C]
	Names []string `yaml:"names"`
	// Replicas are the asynchronous replicas of nodes. Clients do not know of them until one is promoted. Default: not set.
	// Example: {A: [A2, A3]}
	Replicas strictyaml.Ordered[[]string] `yaml:"replicas"`
	// Persistence is what nodes write to disk: none, an append-only file that they fsync every-second (also everysec, as Redis
	// has it) or always, or snapshots (an RDB file). A process that is killed keeps its data with an append-only file. A node
	// that loses power keeps all of it only with always; with every-second it keeps what is older than a second. With snapshots
	// either leaves the last one. Protocols without Redis have none. Default: none. Example: always
	Persistence redis.Persistence `yaml:"persistence"`
	// SnapshotEvery is how old a snapshot is at least, in whole seconds, before a change of a key is followed by another. Redis
	// waits for up to a second more than its setting save says. Default: 1m. Example: 5s
	SnapshotEvery time.Duration `yaml:"snapshot-every" range:"2s.."`
	// Forbidden is a command that the last node does not have, as by rename-command: DEL, PEXPIRE or PTTL, which a lock needs
	// to be released or extended, or EVAL, and EVALSHA with it, as an ACL forbids scripts. Such a node does not vote. Only
	// for protocol redlock. Default: not set. Example: DEL
	Forbidden Command `yaml:"forbidden"`
	// Server is what the nodes and their replicas run, as far as that decides which commands they have: there is SET with IFEQ
	// in redis-8.4, valkey-8.1 and valkey-9.1, DELEX in redis-8.4, and DELIFEQ in valkey-9.1. Tier live runs the redis-server
	// that it finds. Default: redis-7.0. Example: valkey-9.1
	Server redis.Software `yaml:"server"`
	// Servers are what some of them run instead, by name. Default: not set. Example: {C: redis-7.0}
	Servers strictyaml.Ordered[redis.Software] `yaml:"servers"`
}

// Command is one that a node may not have.
type Command string

var _ = strictyaml.EnumOf[Command]("command", "DEL", "PEXPIRE", "PTTL", redis.Scripts)

var _ = strictyaml.Enum[redis.Software]("server").Word("redis-7.0", redis.Redis70).Word("redis-8.0", redis.Redis80).
	Word("redis-8.4", redis.Redis84).Word("valkey-8.1", redis.Valkey81).Word("valkey-9.1", redis.Valkey91)

var _ = strictyaml.Enum[redis.Persistence]("persistence").Word("none", redis.NoPersistence).
	Word("every-second", redis.EverySecond).Word("always", redis.Always).Word("everysec", redis.EverySecond).
	Word("snapshots", redis.Snapshots)

// all is the nodes' names and those of their replicas.
func (n Nodes) all() []string {
	all := slices.Clone(n.Names)
	for _, of := range n.Replicas {
		all = append(all, of.Value...)
	}
	return all
}

// replicas is the names of the replicas by their node's.
func (n Nodes) replicas() map[string][]string {
	if len(n.Replicas) == 0 {
		return nil
	}
	by := map[string][]string{}
	for _, of := range n.Replicas {
		by[of.Key] = of.Value
	}
	return by
}

// software is what the nodes and replicas run, by name; nil if all run the same as by default.
func (n Nodes) software() map[string]redis.Software {
	if n.Server == redis.Redis70 && len(n.Servers) == 0 {
		return nil
	}
	by := map[string]redis.Software{}
	for _, name := range n.all() {
		by[name] = n.Server
	}
	for _, of := range n.Servers {
		by[of.Key] = of.Value
	}
	return by
}

// Processes are those that faults can be injected into.
func (s *Scenario) Processes() faults.Names {
	return faults.Names{Clients: s.Clients, Resources: s.Resources, Nodes: s.Nodes.all(), Replicas: s.Nodes.replicas(), Agree: s.Lock.Capabilities().Agree, Service: s.Lock.Capabilities().Service}
}

// Limits are what faults are drawn within for a scenario; beyond is for those that exceed its budget, too.
func Limits(s *Scenario, beyond bool) *faults.Limits {
	own := protocols.Of[protocols.RedlockSettings](s.Lock)
	var maxTTL time.Duration
	if own.Guard != nil {
		maxTTL = own.Guard.MaxTTL
	}
	return &faults.Limits{Names: s.Processes(), Budget: s.Budget, Beyond: beyond, Scale: s.Lock.TTL,
		Persistence: s.Nodes.Persistence, Fenced: s.Fenced(), Monotonic: s.monotonic(), MaxTTL: maxTTL,
		Random: protocols.Has[protocols.RedlockSettings](s.Lock), Strict: protocols.Has[protocols.RedlockSettings](s.Lock), Batches: own.Batching != 0}
}

// Forgets says whether a node that stops can come back without all that it knew.
func (s *Scenario) Forgets() bool {
	p := s.Nodes.Persistence
	return !p.SurvivesKill() || !p.SurvivesPowerLoss() && !s.Budget.NoPowerLoss
}

// Fenced says whether the lock has fencing counters.
func (s *Scenario) Fenced() bool { return protocols.Of[protocols.RedlockSettings](s.Lock).Fencing }

// monotonic says that the lock reads no wall clock, as far as its settings say: other protocols may draw values from one.
func (s *Scenario) monotonic() bool {
	return protocols.Has[protocols.RedlockSettings](s.Lock) && s.Lock.Clock != kernel.WallClock
}

// oneNode has a lock on one Redis have no other node.
func (c *check) oneNode() {
	names := &c.s.Nodes.Names
	if !protocols.Has[protocols.OneRedisSettings](c.s.Lock) || len(*names) <= 1 {
		return
	}
	if n := child(child(c.n, "nodes"), "names"); n.Kind == yaml.SequenceNode {
		c.d.Errorf(n, "", nil, "protocol one-redis is a lock on one Redis, and this names %d", len(*names))
		return
	}
	*names = (*names)[:1]
}

// forbidden looks at the command that a node does not have.
func (c *check) forbidden() {
	if c.s.Nodes.Forbidden != "" && !protocols.Has[protocols.RedlockSettings](c.s.Lock) {
		c.d.Errorf(child(child(c.n, "nodes"), "forbidden"), string(c.s.Nodes.Forbidden), nil, "is for protocol redlock, and protocol %s would not notice", c.s.Lock.Protocol)
	}
}

// servers looks at what nodes run.
func (c *check) servers() {
	n := child(child(c.n, "nodes"), "servers")
	for _, of := range c.s.Nodes.Servers {
		c.known(n, "node", of.Key, c.s.Nodes.all())
	}
}

// snapshots looks at how often nodes make them.
func (c *check) snapshots() {
	n, every := child(child(c.n, "nodes"), "snapshot-every"), c.s.Nodes.SnapshotEvery
	switch {
	case every%time.Second != 0:
		c.d.Errorf(n, n.Value, nil, "must be whole seconds, as Redis counts them")
	case every != Default().Nodes.SnapshotEvery && c.s.Nodes.Persistence != redis.Snapshots:
		c.d.Errorf(n, n.Value, nil, "is for nodes that make snapshots: add persistence: snapshots")
	}
}

// replicas looks at the nodes that have replicas.
func (c *check) replicas() {
	s := c.s
	n := child(child(c.n, "nodes"), "replicas")
	taken := slices.Concat(s.Nodes.Names, s.Clients)
	for _, of := range s.Nodes.Replicas {
		c.known(n, "node", of.Key, s.Nodes.Names)
		c.names(child(n, of.Key), of.Value, redlock.MaxNodes, "replica")
		for _, name := range of.Value {
			if slices.Contains(taken, name) {
				c.d.Errorf(child(n, of.Key), name, nil, "is the name of another process")
			}
		}
		taken = append(taken, of.Value...)
	}
	confirming, replicas := protocols.Of[protocols.RedlockSettings](s.Lock).Replicas, s.Nodes.replicas()
	if i := slices.IndexFunc(s.Nodes.Names, func(node string) bool { return confirming > len(replicas[node]) }); i >= 0 {
		c.d.Errorf(child(c.n, "lock"), "replicas", nil, "%d is more than node %s has", confirming, s.Nodes.Names[i])
	}
}
