package protocols

import (
	"fmt"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim"
)

// Settings are the protocol under test and its settings. The tags are the keys of a scenario file; a setting that a
// protocol does not have is ignored by it.
type Settings struct {
	// Protocol is the protocol's name.
	Protocol Name `yaml:"protocol"`
	// TTL is the time to live of lock keys.
	TTL time.Duration `yaml:"ttl"`
	// Quorum is how many nodes must agree; zero is the majority.
	Quorum int `yaml:"quorum"`
	// Drift is the allowance for clock drift.
	Drift Drift `yaml:"drift"`
	// NodeTimeout is how long a node's answer is waited for.
	NodeTimeout time.Duration `yaml:"node-timeout"`
	// RetryDelay is the range of random delays between attempts.
	RetryDelay Range `yaml:"retry-delay"`
	// Clock is the clock that clients measure validity with.
	Clock LockClock `yaml:"clock"`
	// Fencing has protocol redlock draw fencing tokens.
	Fencing bool `yaml:"fencing"`
	// Guard turns on the restart guard of protocol redlock.
	Guard *Guard `yaml:"guard"`
	// Renewals is how often a client that renews its lock does so at the most; zero is without a limit.
	Renewals int `yaml:"renewals"`
	// Release is how the protocols on plain commands release: compare-and-delete, del, or get-del.
	Release Release `yaml:"release"`
	// Cleanup is what redlock-plain does about its votes when it is not granted the lock: cad, del or none.
	Cleanup Cleanup `yaml:"cleanup"`
	// Extending is how redlock-plain extends: quorum, any-node, from-replies or set.
	Extending Extending `yaml:"extending"`
	// Tokens is where redlock-plain has its fencing tokens from: none, before, one-node or per-node.
	Tokens Tokens `yaml:"tokens"`
	// Asking is the order in which redlock-plain asks nodes: parallel or sequential.
	Asking Asking `yaml:"asking"`
	// Wait is what protocol failover asks of replicas before it takes the lock for granted.
	Wait Wait `yaml:"wait"`
	// Watchdog has Redisson's locks renewed every third of the TTL until they are released; without it the TTL is the
	// lease time.
	Watchdog bool `yaml:"watchdog"`
	// WaitTimeout is how long Redisson's fair lock waits for the head of its queue. The default is Redisson's.
	WaitTimeout time.Duration `yaml:"wait-timeout"`
	// Belief is how long a client of protocol consensus believes in its lock: until its session can have ended for all
	// it knows (acknowledged), or until it is told that it has (told).
	Belief Belief `yaml:"belief"`
	// Effects is where clients of protocol db-row write: to the storage, or in the transaction that holds the lock.
	Effects Effects `yaml:"effects"`
	// CleanUp is how old a row of protocol db-unique can get before a job of the database deletes it; zero is never.
	CleanUp time.Duration `yaml:"clean-up"`
}

// Check says what is wrong with the settings for a number of nodes, whatever the protocol, and then with it.
func (s Settings) Check(nodes int) error {
	switch d := s.RetryDelay; {
	case d.Min <= 0 || d.Max < d.Min:
		return fmt.Errorf("retry-delay from %v to %v, must be positive and not fall", d.Min, d.Max)
	case s.NodeTimeout <= 0:
		return fmt.Errorf("node-timeout %v is not positive", s.NodeTimeout)
	case s.Renewals < 0:
		return fmt.Errorf("renewals %d is negative", s.Renewals)
	}
	p, ok := Find(string(s.Protocol))
	if !ok {
		return fmt.Errorf("no such protocol %q", s.Protocol)
	}
	return p.Check(s, nodes)
}

// Default is the settings that a file may leave out.
func Default() Settings {
	drift := redlock.DefaultDrift()
	return Settings{
		Protocol:    "redlock",
		TTL:         10 * time.Second,
		Drift:       Drift{Factor: faults.RateOf(drift.Factor), Constant: drift.Constant},
		NodeTimeout: redlock.DefaultNodeTimeout,
		RetryDelay:  Range{50 * time.Millisecond, 150 * time.Millisecond},
		Release:     CompareAndDelete,
		Watchdog:    true,
		WaitTimeout: 5 * time.Second,
	}
}

// Guard is the settings of the library's restart guard.
type Guard struct {
	// MaxTTL is the largest TTL of any lock.
	MaxTTL time.Duration `yaml:"max-ttl,required"`
	// TrustNodeClock lets the node's clock alone end a quarantine, which is unsafe.
	TrustNodeClock bool `yaml:"trust-node-clock"`
}

// Name is the name of a protocol.
type Name string

// UnmarshalScalar reads a protocol's name.
func (n *Name) UnmarshalScalar(text string) error {
	var names []string
	for _, p := range All() {
		names = append(names, p.Name)
	}
	if _, ok := Find(text); !ok {
		return &strictyaml.Invalid{Msg: "no such protocol", Word: text, Valid: names}
	}
	*n = Name(text)
	return nil
}

// Drift is an allowance for clock drift: a part of the TTL and a constant.
type Drift struct {
	Factor   faults.Rate   `yaml:"factor"`
	Constant time.Duration `yaml:"constant"`
}

// Range is a range of durations.
type Range struct {
	Min time.Duration `yaml:"min,required"`
	Max time.Duration `yaml:"max,required"`
}

// LockClock is the clock that clients measure validity with: monotonic, boottime (monotonic, and counts suspension) or
// wall.
type LockClock struct{ sim.ClockKind }

// UnmarshalScalar reads a clock's name.
func (c *LockClock) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "clock", &c.ClockKind, []strictyaml.Choice[sim.ClockKind]{
		{Word: "monotonic", Value: sim.Monotonic}, {Word: "boottime", Value: sim.Boottime}, {Word: "wall", Value: sim.WallClock}})
}

// Release is a way to release a lock on a single instance.
type Release uint8

const (
	// CompareAndDelete deletes the key if it holds the client's value, in a script.
	CompareAndDelete Release = iota
	// Del deletes the key, whoever's it is.
	Del
	// GetDel reads the value, compares it, and deletes the key in a second command.
	GetDel
)

// UnmarshalScalar reads a way to release.
func (r *Release) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "release", r, []strictyaml.Choice[Release]{
		{Word: "cad", Value: CompareAndDelete}, {Word: "del", Value: Del}, {Word: "get-del", Value: GetDel}})
}

// Belief is how long a client believes in its lock.
type Belief uint8

const (
	// UntilAcknowledged: until its time to live has passed since it sent the last request that was acknowledged.
	UntilAcknowledged Belief = iota
	// UntilTold: until the service says that the session has ended.
	UntilTold
)

// UnmarshalScalar reads how long a client believes.
func (b *Belief) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "belief", b, []strictyaml.Choice[Belief]{
		{Word: "acknowledged", Value: UntilAcknowledged}, {Word: "told", Value: UntilTold}})
}

// Effects is where clients write.
type Effects uint8

const (
	// InStorage: to the storage, which knows nothing of the lock.
	InStorage Effects = iota
	// InTransaction: in the transaction that holds the lock.
	InTransaction
)

// UnmarshalScalar reads where clients write.
func (e *Effects) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "place for effects", e, []strictyaml.Choice[Effects]{
		{Word: "storage", Value: InStorage}, {Word: "transaction", Value: InTransaction}})
}
