package protocols

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/strictyaml"
)

// RedlockPlainSettings are those of protocol redlock-plain, the habits of tutorials and ports.
type RedlockPlainSettings struct {
	QuorumSettings  `yaml:",inline"`
	DriftSettings   `yaml:",inline"`
	RetrySettings   `yaml:",inline"`
	ReleaseSettings `yaml:",inline"`
	// Rounding is how half of the nodes and one is rounded when quorum is 0: down gives the majority, up gives 4 of 5.
	// Default: down. Example: up
	Rounding Rounding `yaml:"rounding"`
	// ConnectTimeout is how long a client tries to connect to each node, one after another, before its first lock. It never
	// uses the nodes that it could not reach, and counts the majority without them. With 0s it does not try, and all nodes
	// count. Default: 0s. Example: 1s
	ConnectTimeout time.Duration `yaml:"connect-timeout" range:"0s.."`
	// ConnectedTimeout is how long a client waits for an answer over a connection that it has: for a node that has answered
	// what it was asked last. A Redis client may have a limit of its own there, and not keep to the caller's. 0s is
	// node-timeout. Default: 0s. Example: 5s
	ConnectedTimeout time.Duration `yaml:"connected-timeout" range:"0s.."`
	// Resends is how often a client sends an extend or a release again that a node has not answered in time. Before that it
	// connects anew. Default: 0. Example: 3
	Resends int `yaml:"resends" range:"0.."`
	// Reconnects is how many tries a client has to connect anew. Default: 5. Example: 1
	Reconnects int `yaml:"reconnects" range:"1.."`
	// ReconnectTimeout is how long it waits in each of them. 0s is as long as it waits for an answer. Default: 0s. Example: 1s
	ReconnectTimeout time.Duration `yaml:"reconnect-timeout" range:"0s.."`
	// Resolution is the unit to which a client truncates its clock when it measures how long an acquire or extend took; 0s
	// is the clock's own resolution. Default: 0s. Example: 1s
	Resolution time.Duration `yaml:"resolution" range:"0s.." faster:"unit"`
	// Cleanup is what a client does about its votes after an attempt that failed: cad (compare and delete on all nodes),
	// voters (the same, only on nodes known to have voted), at-end (the same, once the call gives up), del (whoever holds
	// the key) or none. Default: cad. Example: none
	Cleanup Cleanup `yaml:"cleanup"`
	// Value is how often a client draws a random value: for each attempt, once for each call, or never (client: it takes its
	// name, as locks do that store the name of a host or pod). Default: attempt. Example: call
	Value Value `yaml:"value"`
	// ValueFrom is what a value is drawn from: random (20 bytes, the rule), time (the microseconds of the client's wall
	// clock) or client-time (the client's name and that time). Default: random. Example: client-time
	ValueFrom ValueFrom `yaml:"value-from"`
	// Validity is whether a client refuses a lease of which nothing is left when it is granted or extended. Default:
	// checked. Example: unchecked
	Validity Validity `yaml:"validity"`
	// FailedNode is what a client does when a node fails during an acquire: no-vote (the node has not voted), fails-grant
	// (the call fails even with a quorum, and leaves its votes) or ends-call (the call fails at once, asks no other node,
	// and leaves its votes). Default: no-vote. Example: ends-call
	FailedNode FailedNode `yaml:"failed-node"`
	// FailedRelease is what a client does when a node fails during a release or clean-up: go-on with the others, or stop and
	// leave the remaining keys to expire. Default: go-on. Example: stop
	FailedRelease FailedRelease `yaml:"failed-release"`
	// Extending is how a client extends: quorum (a quorum must still have the client's value), any-node (one node is
	// enough), from-replies (the validity counts from the replies, however late), re-create (also sets keys that are gone),
	// set (also overwrites the keys of others) or get-set (read, compare, and set in a second command). Default: quorum.
	// Example: set
	Extending Extending `yaml:"extending"`
	// FixedTTL is whether an extend is by the TTL of the lock, whatever it asks for. Default: false. Example: true
	FixedTTL bool `yaml:"fixed-ttl"`
	// Tokens is where a client gets fencing tokens, in ways that do not work: before (from the first node, before the lock
	// is won), one-node (from the first node, afterwards) or per-node (raises a counter on every node and takes the
	// highest). Default: none. Example: one-node
	Tokens Tokens `yaml:"tokens"`
	// Asking is how a client asks the nodes: parallel (all at once, and waits for each), until-decided (all at once, until a
	// quorum has said yes or no) or sequential (one after another). Default: parallel. Example: sequential
	Asking Asking `yaml:"asking"`
}

// Check implements Own.
func (own RedlockPlainSettings) Check(s Settings, nodes int) error {
	switch {
	case own.Quorum > nodes:
		return fmt.Errorf("quorum %d of %d nodes", own.Quorum, nodes)
	case own.Cleanup == CleanupAtEnd && own.Value != PerCall:
		return errors.New("cleanup at-end deletes the value of the call, and needs value call")
	case own.Value == PerClient && own.ValueFrom != Random:
		return errors.New("value client draws nothing, neither value-from time nor client-time")
	case own.Release == GetDel:
		return errors.New("release: redlock-plain has cad and del")
	}
	return cmp.Or(s.checkTTL(), own.DriftSettings.check(s.TTL), own.RetrySettings.check())
}

// checkResource refuses the names of the counters that tokens are drawn from.
func (own RedlockPlainSettings) checkResource(_ Settings, name string, _ int) error {
	if own.Tokens != NoTokens && strings.HasSuffix(name, counter("")) {
		return fmt.Errorf("resource %q has a name that tokens are drawn from", name)
	}
	return nil
}

// besides implements what Settings.KeysOf asks for.
func (own RedlockPlainSettings) besides(resource string) []string {
	if own.Tokens == NoTokens {
		return nil
	}
	return []string{counter(resource)}
}

// choose implements what Settings.Capabilities asks for.
func (own RedlockPlainSettings) choose(c *Capabilities) {
	c.AllAtOnce, c.Unit, c.Tokens = own.Asking != Sequential, own.Resolution, own.Tokens != NoTokens
}

// quorum is how many nodes must agree.
func (own RedlockPlainSettings) quorum(nodes int) int {
	if own.Quorum == 0 && own.Rounding == RoundUp {
		return min(majority(nodes)+nodes%2, nodes)
	}
	return own.QuorumSettings.quorum(nodes)
}

// Cleanup is what a client does about its votes when it was not granted the lock.
type Cleanup uint8

const (
	// CleanupCompareAndDelete deletes the keys that hold the client's value: the rule.
	CleanupCompareAndDelete Cleanup = iota
	// CleanupDel deletes the key on all nodes, whoever's it is.
	CleanupDel
	// NoCleanup leaves its votes to expire.
	NoCleanup
	// CleanupVoters is the rule on the nodes only that were heard to vote for the client.
	CleanupVoters
	// CleanupAtEnd is the rule once the call gives up, and nothing between its attempts.
	CleanupAtEnd
)

var _ = strictyaml.Enum[Cleanup]("clean-up").Word("cad", CleanupCompareAndDelete).Word("voters", CleanupVoters).
	Word("at-end", CleanupAtEnd).Word("del", CleanupDel).Word("none", NoCleanup)

// Asking is the order in which nodes are asked.
type Asking uint8

const (
	// Parallel asks all nodes at once, and waits for each: the rule.
	Parallel Asking = iota
	// Sequential asks one node after the other, and waits for each.
	Sequential
	// UntilDecided asks all nodes at once, and waits until a quorum has said yes, or no. If nodes are of even number and
	// half of them say each, it waits for ever.
	UntilDecided
)

var _ = strictyaml.Enum[Asking]("order").Word("parallel", Parallel).Word("until-decided", UntilDecided).
	Word("sequential", Sequential)

// Extending is how a lock is extended.
type Extending uint8

const (
	// ExtendQuorum extends the keys that hold the client's value and asks for a quorum of them: the rule.
	ExtendQuorum Extending = iota
	// ExtendAnyNode takes the extension for good when a single node has extended.
	ExtendAnyNode
	// ExtendFromReplies counts the new validity from the replies, however long they took.
	ExtendFromReplies
	// ExtendSet sets the key again, also where it is gone or another's.
	ExtendSet
	// ExtendReCreate sets the key again where it is gone or the client's.
	ExtendReCreate
	// ExtendGetSet reads the value, compares it, and sets the key again in a second command.
	ExtendGetSet
)

var _ = strictyaml.Enum[Extending]("way to extend").Word("quorum", ExtendQuorum).Word("any-node", ExtendAnyNode).
	Word("from-replies", ExtendFromReplies).Word("re-create", ExtendReCreate).Word("set", ExtendSet).
	Word("get-set", ExtendGetSet)

// counter is the key that fencing tokens are drawn from.
func counter(resource string) string { return resource + ":token" }

// Tokens is where redlock-plain has its fencing tokens from: from counters on the nodes, in ways that do not work.
type Tokens uint8

const (
	// NoTokens: there are none.
	NoTokens Tokens = iota
	// TokenBefore draws from a counter on the first node before the lock is won.
	TokenBefore
	// TokenOneNode draws from a counter on the first node once the lock is won.
	TokenOneNode
	// TokenPerNode raises a counter on each node at every attempt and takes the highest answer.
	TokenPerNode
)

var _ = strictyaml.Enum[Tokens]("source of tokens").Word("none", NoTokens).Word("before", TokenBefore).
	Word("one-node", TokenOneNode).Word("per-node", TokenPerNode)

// Rounding is how half of the nodes and one are rounded.
type Rounding uint8

const (
	// RoundDown gives the majority: the rule.
	RoundDown Rounding = iota
	// RoundUp gives one more than that where the number of nodes is odd: 4 of 5.
	RoundUp
)

var _ = strictyaml.Enum[Rounding]("rounding").Word("down", RoundDown).Word("up", RoundUp)

// Value is what a value is drawn for.
type Value uint8

const (
	// PerAttempt draws a value for every attempt, so that what an earlier one left behind is another's.
	PerAttempt Value = iota
	// PerCall draws a value for a call and keeps it for all of its attempts.
	PerCall
	// PerClient draws none: the value is the client's name, which it has after a restart too.
	PerClient
)

var _ = strictyaml.Enum[Value]("draw of values").Word("attempt", PerAttempt).Word("call", PerCall).Word("client", PerClient)

// ValueFrom is what a value is drawn from.
type ValueFrom uint8

const (
	// Random is random bytes, so that no two values are the same: the rule.
	Random ValueFrom = iota
	// Time is the microseconds of the client's wall clock, as PHP's uniqid has them: those who ask at once have the same.
	Time
	// ClientTime is the client's name and that time, which the Redis documentation calls simpler and not as safe: two threads
	// of a client that ask at once have the same, and so may a client have again whose clock was stepped back.
	ClientTime
)

var _ = strictyaml.Enum[ValueFrom]("source of values").Word("random", Random).Word("time", Time).Word("client-time", ClientTime)

// Validity is whether a client looks at how much of its lease is left.
type Validity uint8

const (
	// Checked: a lease of which nothing is left is not granted or extended: the rule.
	Checked Validity = iota
	// Unchecked: the lease is handed out with the end that it has, also if that is past.
	Unchecked
)

var _ = strictyaml.Enum[Validity]("way with validity").Word("checked", Checked).Word("unchecked", Unchecked)

// FailedNode is what a client makes of a node that fails when it is asked for its vote.
type FailedNode uint8

const (
	// NoVote: it has not voted: the rule.
	NoVote FailedNode = iota
	// FailsGrant: it has not voted, and if the others were a quorum the call fails all the same and leaves its votes.
	FailsGrant
	// EndsCall: the call fails there and then, asks no other node, and leaves its votes.
	EndsCall
)

var _ = strictyaml.Enum[FailedNode]("way with a failed node").Word("no-vote", NoVote).Word("fails-grant", FailsGrant).
	Word("ends-call", EndsCall)

// ReleaseSettings are those of protocols that release with plain commands.
type ReleaseSettings struct {
	// Release is how a client releases: cad (compare and delete in a script), del (whoever holds the key) or get-del (read,
	// compare, then delete with a second command, which redlock-plain cannot). Default: cad. Example: del
	Release Release `yaml:"release"`
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

var _ = strictyaml.Enum[Release]("release").Word("cad", CompareAndDelete).Word("del", Del).Word("get-del", GetDel)

// FailedRelease is what a client does when a node fails while it releases or cleans up.
type FailedRelease uint8

const (
	// GoOn: it releases the other nodes: the rule.
	GoOn FailedRelease = iota
	// Stop: it leaves the nodes behind it to expire.
	Stop
)

var _ = strictyaml.Enum[FailedRelease]("way with a failed release").Word("go-on", GoOn).Word("stop", Stop)
