package protocols

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim"
)

// Settings are the protocol under test and its settings. The tags are the keys of a scenario file; a setting that a
// protocol does not have is ignored by it. The settings that only redlock-plain has are habits of tutorials and ports.
type Settings struct {
	// Preset is the implementation whose defaults these settings start from; empty is Default. In a file the keys beside
	// it replace what it sets.
	Preset Preset `yaml:"preset"`
	// Protocol is the protocol's name.
	Protocol Name `yaml:"protocol"`
	// TTL is the time to live of lock keys.
	TTL time.Duration `yaml:"ttl"`
	// Quorum is how many nodes must agree; zero is the majority.
	Quorum int `yaml:"quorum"`
	// Rounding is how redlock-plain rounds half of the nodes and one, where Quorum is zero: down or up.
	Rounding Rounding `yaml:"rounding"`
	// ConnectTimeout is how long a client of redlock-plain tries to connect to each node before its first lock, one after
	// the other; those that it cannot connect to it does without for good, also when it counts a majority. Zero: it does
	// not look, and all nodes count.
	ConnectTimeout time.Duration `yaml:"connect-timeout"`
	// Drift is the allowance for clock drift.
	Drift Drift `yaml:"drift"`
	// NodeTimeout is how long a node's answer is waited for.
	NodeTimeout time.Duration `yaml:"node-timeout"`
	// RetryDelay is the range of random delays between attempts.
	RetryDelay Range `yaml:"retry-delay"`
	// Backoff has delays between attempts grow, where it is not zero: the first is from RetryDelay.Min to twice that, both
	// ends grow by this part with every attempt, and RetryDelay.Max is the most. Protocols redlock and redisson have none.
	Backoff faults.Rate `yaml:"backoff"`
	// Attempts is how many attempts a lock call makes; zero is as many as fit into the step's own time. Protocols redlock
	// and redisson have no such limit.
	Attempts int `yaml:"attempts"`
	// GiveUp is for how long a lock call makes attempts; zero is for the step's own time. Protocols redlock and redisson have
	// no such limit.
	GiveUp time.Duration `yaml:"give-up"`
	// Clock is the clock that clients measure validity with.
	Clock LockClock `yaml:"clock"`
	// Resolution is the unit in which redlock-plain reads that clock for the time that an acquire or extend took; what is
	// below it is cut off. Zero is the clock's own.
	Resolution time.Duration `yaml:"resolution"`
	// Fencing has protocol redlock draw fencing tokens.
	Fencing bool `yaml:"fencing"`
	// WakeUp has clients of protocol redlock told of releases, and is the spread of their attempts after it; zero: they poll.
	WakeUp time.Duration `yaml:"wake-up"`
	// Batching is how many commands protocol redlock has on their way to each node before others wait and go together;
	// zero is the library's default.
	Batching int `yaml:"batching"`
	// Guard turns on the restart guard of protocol redlock.
	Guard *Guard `yaml:"guard"`
	// GuardTime is how long before the end of its lease, by its own clock, a client stops sending effects; see
	// faults.Stopped. To be safe at the resource it must be as long as the longest pause and the longest message together.
	// Zero: it sends effects as long as it believes in its lease, which is what the implementations that presets stand for do.
	GuardTime time.Duration `yaml:"guard-time"`
	// Renewals is how often a client that renews its lock does so at the most; zero is without a limit.
	Renewals int `yaml:"renewals"`
	// Release is how the protocols on plain commands release: compare-and-delete, del, or get-del.
	Release Release `yaml:"release"`
	// Cleanup is what redlock-plain does about its votes when it is not granted the lock: cad, voters, at-end, del or none.
	Cleanup Cleanup `yaml:"cleanup"`
	// Value is what redlock-plain draws a value for: each attempt, or each call.
	Value Value `yaml:"value"`
	// Validity is whether redlock-plain looks at the validity that is left before it grants or extends: checked or unchecked.
	Validity Validity `yaml:"validity"`
	// FailedNode is what redlock-plain makes of a node that fails when it is asked for its vote: no-vote, fails-grant or
	// ends-call.
	FailedNode FailedNode `yaml:"failed-node"`
	// FailedRelease is what redlock-plain does when a node fails while it releases or cleans up: go-on or stop.
	FailedRelease FailedRelease `yaml:"failed-release"`
	// Extending is how redlock-plain extends: quorum, any-node, from-replies, re-create or set.
	Extending Extending `yaml:"extending"`
	// Tokens is where redlock-plain has its fencing tokens from: none, before, one-node or per-node.
	Tokens Tokens `yaml:"tokens"`
	// Asking is the order in which redlock-plain asks nodes: parallel, until-decided or sequential.
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
	case d.Min < 0 || d.Max <= 0 || d.Max < d.Min:
		return fmt.Errorf("retry-delay from %v to %v, must be positive and not fall", d.Min, d.Max)
	case s.Backoff.Ratio().IsNegative() || !s.Backoff.Ratio().IsZero() && d.Min == 0:
		return fmt.Errorf("backoff %v from a delay of %v on, neither may be negative and a delay of 0 does not grow", s.Backoff, d.Min)
	case s.Attempts < 0:
		return fmt.Errorf("attempts %d is negative", s.Attempts)
	case s.GiveUp < 0:
		return fmt.Errorf("give-up %v is negative", s.GiveUp)
	case s.NodeTimeout <= 0:
		return fmt.Errorf("node-timeout %v is not positive", s.NodeTimeout)
	case s.GuardTime < 0:
		return fmt.Errorf("guard-time %v is negative", s.GuardTime)
	case s.Renewals < 0:
		return fmt.Errorf("renewals %d is negative", s.Renewals)
	}
	p, ok := Find(string(s.Protocol))
	if !ok {
		return fmt.Errorf("no such protocol %q", s.Protocol)
	}
	return p.Check(s, nodes)
}

// CheckResource says why nothing of that name can be locked with the settings on a number of nodes, which Check found
// nothing wrong with.
func (s Settings) CheckResource(name string, nodes int) error {
	switch {
	case s.Protocol == "redlock":
		return askLibrary(s, nodes, name)
	case s.Tokens != NoTokens && strings.HasSuffix(name, counter("")):
		return fmt.Errorf("resource %q has a name that tokens are drawn from", name)
	}
	return nil
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

// UnmarshalNode reads the preset and then, over it, the keys beside it.
func (s *Settings) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	type plain Settings // without this method
	var given plain
	if !d.Decode(n, &given) {
		return
	}
	if given.Preset != "" {
		*s = given.Preset.settings(given.TTL)
	}
	d.Decode(n, (*plain)(s))
}

// MarshalNode is the counterpart of UnmarshalNode: what is not as in the preset or, without one, in Default.
func (s Settings) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	type plain Settings // without this method
	std := Default()
	if s.Preset != "" {
		std = s.Preset.settings(0)
		if s.TTL != std.TTL { // which must be in the file then: others follow from it
			std = s.Preset.settings(s.TTL)
			std.TTL = s.TTL + 1
		}
		std.Preset = ""
	}
	return e.Encode(plain(s), plain(std))
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

// MarshalScalar is the counterpart of UnmarshalScalar.
func (n Name) MarshalScalar() (string, error) { return string(n), nil }

// Drift is an allowance for clock drift: a part of the TTL and a constant.
type Drift struct {
	// Factor is the part of the TTL.
	Factor faults.Rate `yaml:"factor"`
	// Constant is added to it.
	Constant time.Duration `yaml:"constant"`
}

// Range is a range of durations.
type Range struct {
	// Min is the shortest.
	Min time.Duration `yaml:"min,required"`
	// Max is the longest.
	Max time.Duration `yaml:"max,required"`
}

// LockClock is the clock that clients measure validity with: monotonic, boottime (monotonic, and counts suspension) or
// wall.
type LockClock struct{ sim.ClockKind }

var lockClocks = []strictyaml.Choice[sim.ClockKind]{
	{Word: "monotonic", Value: sim.Monotonic}, {Word: "boottime", Value: sim.Boottime}, {Word: "wall", Value: sim.WallClock}}

// UnmarshalScalar reads a clock's name.
func (c *LockClock) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "clock", &c.ClockKind, lockClocks)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (c LockClock) MarshalScalar() (string, error) {
	return strictyaml.WordOf(c.ClockKind, "clock", lockClocks)
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

var releases = []strictyaml.Choice[Release]{
	{Word: "cad", Value: CompareAndDelete}, {Word: "del", Value: Del}, {Word: "get-del", Value: GetDel}}

// UnmarshalScalar reads a way to release.
func (r *Release) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "release", r, releases)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (r Release) MarshalScalar() (string, error) {
	return strictyaml.WordOf(r, "release", releases)
}

// Belief is how long a client believes in its lock.
type Belief uint8

const (
	// UntilAcknowledged: until its time to live has passed since it sent the last request that was acknowledged.
	UntilAcknowledged Belief = iota
	// UntilTold: until the service says that the session has ended.
	UntilTold
)

var beliefs = []strictyaml.Choice[Belief]{
	{Word: "acknowledged", Value: UntilAcknowledged}, {Word: "told", Value: UntilTold}}

// UnmarshalScalar reads how long a client believes.
func (b *Belief) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "belief", b, beliefs)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (b Belief) MarshalScalar() (string, error) {
	return strictyaml.WordOf(b, "belief", beliefs)
}

// Effects is where clients write.
type Effects uint8

const (
	// InStorage: to the storage, which knows nothing of the lock.
	InStorage Effects = iota
	// InTransaction: in the transaction that holds the lock.
	InTransaction
)

var places = []strictyaml.Choice[Effects]{
	{Word: "storage", Value: InStorage}, {Word: "transaction", Value: InTransaction}}

// UnmarshalScalar reads where clients write.
func (e *Effects) UnmarshalScalar(text string) error {
	return strictyaml.Word(text, "place for effects", e, places)
}

// MarshalScalar is the counterpart of UnmarshalScalar.
func (e Effects) MarshalScalar() (string, error) {
	return strictyaml.WordOf(e, "place for effects", places)
}
