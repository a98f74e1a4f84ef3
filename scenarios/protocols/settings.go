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

// Settings are the protocol under test and its settings. A file that sets what its protocol does not have is refused. The
// settings of redlock-plain model the habits of tutorials and ports.
type Settings struct {
	// Preset starts from the defaults and habits of another implementation; other keys of lock override it. Default: not
	// set. Example: redsync
	Preset Preset `yaml:"preset"`
	// Protocol is the lock to test. redlock is the library of this project; redlock-plain is Redlock as ports write it.
	// Default: redlock. Example: redlock-plain
	Protocol Name `yaml:"protocol"`
	// TTL is the time to live of lock keys. Default: 10s. Example: 2s
	TTL time.Duration `yaml:"ttl"`
	// Quorum is how many nodes must vote for a lock; 0 is the majority. Default: 0. Example: 4
	Quorum int `yaml:"quorum" of:"redlock redlock-plain redisson-multi"`
	// Rounding is how redlock-plain rounds half of the nodes and one when quorum is 0: down gives the majority, up gives 4
	// of 5. Default: down. Example: up
	Rounding Rounding `yaml:"rounding" of:"redlock-plain"`
	// ConnectTimeout is how long a client of redlock-plain tries to connect to each node, one after another, before its
	// first lock. It never uses the nodes that it could not reach, and counts the majority without them. With 0 it does not
	// try, and all nodes count. Default: 0s. Example: 1s
	ConnectTimeout time.Duration `yaml:"connect-timeout" of:"redlock-plain"`
	// Drift is the allowance for clock drift, which is subtracted from the validity. Default: {factor: 1%, constant: 2ms}.
	// Example: {factor: 2%}
	Drift Drift `yaml:"drift" of:"redlock redlock-plain"`
	// NodeTimeout is how long a client waits for a node's answer. Default: 50ms. Example: 20ms
	NodeTimeout time.Duration `yaml:"node-timeout"`
	// RetryDelay is the range from which the random delay between two attempts is drawn. Default: {min: 50ms, max: 150ms}.
	// Example: {min: 10ms, max: 40ms}
	RetryDelay Range `yaml:"retry-delay"`
	// Backoff makes the delay between attempts grow. The first delay is from retry-delay.min to twice that; both ends grow
	// by this percentage with every attempt, up to retry-delay.max. With 0% delays do not grow. Protocols redlock and
	// redisson ignore it. Default: 0%. Example: 100%
	Backoff faults.Rate `yaml:"backoff" of:"redlock-plain setnx-expire get-set single failover consensus db-row db-unique"`
	// Attempts is the maximum number of attempts of one lock call; 0 is as many as the step's own time allows. Protocols
	// redlock and redisson ignore it. Default: 0. Example: 3
	Attempts int `yaml:"attempts" of:"redlock-plain setnx-expire get-set single failover consensus db-row db-unique"`
	// GiveUp is how long one lock call keeps making attempts; 0s is for the step's own time. Protocols redlock and redisson
	// ignore it. Default: 0s. Example: 5s
	GiveUp time.Duration `yaml:"give-up" of:"redlock-plain setnx-expire get-set single failover consensus db-row db-unique"`
	// Clock is the clock with which clients measure validity: monotonic, boottime (monotonic, and goes on during a
	// suspension) or wall. Default: monotonic. Example: wall
	Clock LockClock `yaml:"clock"`
	// Resolution is the unit to which redlock-plain truncates that clock when it measures how long an acquire or extend
	// took; 0s is the clock's own resolution. Default: 0s. Example: 1s
	Resolution time.Duration `yaml:"resolution" of:"redlock-plain"`
	// Fencing makes protocol redlock draw fencing tokens (WithFencing). Default: false. Example: true
	Fencing bool `yaml:"fencing" of:"redlock"`
	// WakeUp makes a release wake the waiters of protocol redlock (WithWakeUp), and is the time over which their attempts
	// are spread. With 0s they poll. Default: 0s. Example: 10ms
	WakeUp time.Duration `yaml:"wake-up" of:"redlock"`
	// Batching is how many unanswered commands a node may have before protocol redlock collects further ones into a batch
	// (WithBatching); 0 is the library's default, 4. Default: 0. Example: 1
	Batching int `yaml:"batching" of:"redlock"`
	// Guard turns on the restart guard of protocol redlock (WithRestartGuard). Default: not set. Example: {max-ttl: 10s}
	Guard *Guard `yaml:"guard" of:"redlock"`
	// GuardTime is how long before the end of its lease, by its own clock, a client stops sending effects. To protect the
	// resource it must be as long as the longest pause and the longest message together. With 0s a client sends effects as
	// long as it believes in its lease, as the implementations behind the presets do. Default: 0s. Example: 820ms
	GuardTime time.Duration `yaml:"guard-time"`
	// Renewals is the maximum number of times that a client renews one lock; 0 is no limit. Default: 0. Example: 3
	Renewals int `yaml:"renewals"`
	// Release is how the protocols on plain commands release: cad (compare and delete in a script), del (whoever holds the
	// key) or get-del (read, compare, then delete with a second command). Default: cad. Example: del
	Release Release `yaml:"release" of:"redlock-plain setnx-expire get-set single failover"`
	// Cleanup is what redlock-plain does about its votes after an attempt that failed: cad (compare and delete on all
	// nodes), voters (the same, only on nodes known to have voted), at-end (the same, once the call gives up), del (whoever
	// holds the key) or none. Default: cad. Example: none
	Cleanup Cleanup `yaml:"cleanup" of:"redlock-plain"`
	// Value is how often redlock-plain draws a random value: for each attempt, or once for each call. Default: attempt.
	// Example: call
	Value Value `yaml:"value" of:"redlock-plain"`
	// Validity is whether redlock-plain refuses a lease of which nothing is left when it grants or extends. Default:
	// checked. Example: unchecked
	Validity Validity `yaml:"validity" of:"redlock-plain"`
	// FailedNode is what redlock-plain does when a node fails during an acquire: no-vote (the node has not voted),
	// fails-grant (the call fails even with a quorum, and leaves its votes) or ends-call (the call fails at once, asks no
	// other node, and leaves its votes). Default: no-vote. Example: ends-call
	FailedNode FailedNode `yaml:"failed-node" of:"redlock-plain"`
	// FailedRelease is what redlock-plain does when a node fails during a release or clean-up: go-on with the others, or
	// stop and leave the remaining keys to expire. Default: go-on. Example: stop
	FailedRelease FailedRelease `yaml:"failed-release" of:"redlock-plain"`
	// Extending is how redlock-plain extends: quorum (a quorum must still have the client's value), any-node (one node is
	// enough), from-replies (the validity counts from the replies, however late), re-create (also sets keys that are gone)
	// or set (also overwrites the keys of others). Default: quorum. Example: set
	Extending Extending `yaml:"extending" of:"redlock-plain"`
	// Tokens is where redlock-plain gets fencing tokens, in ways that do not work: before (from the first node, before the
	// lock is won), one-node (from the first node, afterwards) or per-node (raises a counter on every node and takes the
	// highest). Default: none. Example: one-node
	Tokens Tokens `yaml:"tokens" of:"redlock-plain"`
	// Asking is how redlock-plain asks the nodes: parallel (all at once, and waits for each), until-decided (all at once,
	// until a quorum has said yes or no) or sequential (one after another). Default: parallel. Example: sequential
	Asking Asking `yaml:"asking" of:"redlock-plain"`
	// Wait is what protocol failover demands of replicas before it considers the lock granted. Default: not set. Example:
	// {replicas: 1, timeout: 100ms}
	Wait Wait `yaml:"wait" of:"failover"`
	// Watchdog renews Redisson's locks every third of the TTL until they are released; without it the TTL is the lease time.
	// Default: true. Example: false
	Watchdog bool `yaml:"watchdog" of:"redisson redisson-fair redisson-multi"`
	// WaitTimeout is how long Redisson's fair lock waits for the client at the head of its queue. Default: 5s, as in
	// Redisson. Example: 1s
	WaitTimeout time.Duration `yaml:"wait-timeout" of:"redisson-fair"`
	// Belief is how long a client of protocol consensus believes in its lock: acknowledged (a TTL from its last request that
	// was acknowledged) or told (until the service says that the session has ended). Default: acknowledged. Example: told
	Belief Belief `yaml:"belief" of:"consensus"`
	// Effects is where clients of protocol db-row write: to the storage, or in the transaction that holds the lock. Default:
	// storage. Example: transaction
	Effects Effects `yaml:"effects" of:"db-row"`
	// CleanUp is the age at which a job of the database deletes rows of protocol db-unique; 0s is never. Default: 0s.
	// Example: 30s
	CleanUp time.Duration `yaml:"clean-up" of:"db-unique"`
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
	var factor faults.Rate
	if err := factor.UnmarshalScalar(drift.Factor); err != nil {
		panic(err)
	}
	return Settings{
		Protocol:    "redlock",
		TTL:         10 * time.Second,
		Drift:       Drift{Factor: factor, Constant: drift.Constant},
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
	if d.Decode(n, (*plain)(s)) {
		s.refuse(d, n)
	}
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
	return s.Protocol.without(e.Encode(plain(s), plain(std)))
}

// Guard is the settings of the library's restart guard.
type Guard struct {
	// MaxTTL is the largest TTL of any lock. Example: 10s
	MaxTTL time.Duration `yaml:"max-ttl,required"`
	// TrustNodeClock lets the node's clock alone end a quarantine, which is unsafe. Default: false. Example: true
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

// Drift is the allowance for clock drift: a percentage of the TTL plus a constant.
type Drift struct {
	// Factor is the percentage of the TTL. Default: 1%. Example: 0.5%
	Factor faults.Rate `yaml:"factor"`
	// Constant is added to it. Default: 2ms. Example: 0s
	Constant time.Duration `yaml:"constant"`
}

// Library is the allowance as package redlock takes it.
func (d Drift) Library() redlock.Drift {
	return redlock.Drift{Factor: d.Factor.String(), Constant: d.Constant}
}

// For is the allowance for a TTL, as package redlock computes it.
func (d Drift) For(ttl time.Duration) time.Duration {
	allowance, err := d.Library().For(ttl)
	if err != nil {
		panic(err) // a Rate is a percentage
	}
	return allowance
}

// Range is a range of durations.
type Range struct {
	// Min is the shortest. Example: 50ms
	Min time.Duration `yaml:"min,required"`
	// Max is the longest. Example: 150ms
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
