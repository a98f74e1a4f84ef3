package driver

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Command is one atomic operation for one node.
type Command struct {
	Op    Op
	Keys  []string      // one or more, all on this node; not to be modified
	Value string        // the acquisition's unique value
	TTL   time.Duration // whole milliseconds; zero for OpRelease and OpPrepare

	// Line is set where the keys are waited for, on every node in the same way; nil where callers only poll.
	Line *Line

	// Conditions are further ones of an acquire; nil, for a plain one, unless the client has fencing or the restart
	// guard. OpPrepare uses them as well.
	Conditions *Conditions

	// Replicas is how many replicas must have what an acquire or extend has written before the node accepts it (Redis' WAIT).
	// With fewer it fails with a [ReplicasError]. Only a [Replicated] is asked for any.
	Replicas int

	// Deadline is when the caller stops waiting for the reply, as a reading of the client's Clock.
	Deadline time.Time

	// Round counts the rounds asked under this Value, from 0, the first acquire: (Value, Round, node) names a command.
	Round int

	// Done takes the reply. It must not be called with a lock held that Do needs.
	Done func(*Command, Reply)

	// Shared is what the command has in common with others of its client; nil for one that stands alone.
	Shared Shared
}

// Shared is what a command has in common with others of its client.
type Shared interface {
	// Context is that of [Command.Context].
	Context() context.Context

	// IsMoot is that of [Command.IsMoot] of a command that is no release.
	IsMoot() bool
}

// IsMoot reports that the client is releasing what the command asks for. A node that has not carried it out must not be asked
// for it again: the release may be there before.
func (c *Command) IsMoot() bool {
	return c.Op != OpRelease && c.Shared != nil && c.Shared.IsMoot()
}

// Context ends at the Deadline, or when this command and those sent to the other nodes with it are settled; they share it. It
// carries no values. It is nil for a command that shares nothing, for one with a Deadline of its own, and when all of them are
// settled.
func (c *Command) Context() context.Context {
	if c.Shared == nil {
		return nil
	}
	return c.Shared.Context()
}

// Line is how a node serves those who wait for a key first come, first served, which spares them to ask again and again. It
// decides nothing: a client needs the votes of a quorum as always, and whoever asks without it is not held up by it.
//
// The line of a key are the names at its [LineKey], with a space on both sides of each, the first in front. The one at its
// [TurnKey] was told that it is its turn. An acquire with a Waiter is also declined if it is the turn of another for one of its
// keys. Declined, its Waiter stands in the line of each key: where it stood before, or at the end, or in front if it was its
// turn. Accepted, it stands in none.
//
// A release with a Turn calls the next for each key that it deletes: it takes those in front out of the line and publishes the
// key on their [WakeChannel], one after the other until somebody listens there, and it is the turn of that one for so long. The
// reply says whether somebody was called. A release with a Waiter takes that out of the lines, and if it was its turn and the
// key is free, calls the next.
type Line struct {
	Waiter string        // who waits; in a release, who no longer does
	Turn   time.Duration // of a release: how long it is the turn of who is called, whole milliseconds; 0: nobody is called
}

// LineTTL is how long a node keeps the line of a key after somebody has joined it.
const LineTTL = time.Minute

// MostInLine limits the length of a line, in bytes. Who comes then only polls.
const MostInLine = 1 << 16

// Conditions are what an acquire asks of a node beyond free keys. The node checks the guard first.
//
// The guard (MaxTTL not 0): GuardKey holds "<run id> <since> <max TTL>", with both times in milliseconds, and does not expire.
// The run id is that of INFO server. If the max TTL differs from MaxTTL, the node fails with a [MaxTTLError]. If there is no
// record, or its run id is not the server's, the node writes "<its run id> <its clock> <MaxTTL>", which begins a quarantine,
// and answers Quarantined. While since is not 0 the node is in quarantine. The quarantine ends, and since becomes 0, if Watched
// is the present record and the node's clock reads more than since + MaxTTL. Otherwise the answer is Quarantined.
//
// Fencing (Token not 0): the counter of a key is the number at its [TokenKey], or 0. The answer is Declined if a key holds
// another value, and Behind if Token is not above all counters. Otherwise the keys are set to the value, one that already held
// it with the longer of its TTL and the command's, and the counters to Token, with CounterTTL.
type Conditions struct {
	Token      int64
	CounterTTL time.Duration // whole milliseconds
	MaxTTL     time.Duration // whole milliseconds
	Watched    string        // the record of a quarantine that the client has watched for MaxTTL, or ""; OpPrepare: the run id
}

// Op is what a Command asks of a node.
type Op uint8

// The three atomic operations of the algorithm, and the one of [redlocksim/redlock.Client.PrepareGuard].
const (
	// OpAcquire sets every key to the value with the TTL, if none of them exists (SET key value NX PX ttl), and the
	// Conditions of the command, if it has any, are met.
	OpAcquire Op = iota + 1
	// OpExtend raises the TTL of every key to at least TTL, if all of them hold the value. It creates no key and
	// shortens no TTL.
	OpExtend
	// OpRelease deletes those keys that hold the value, and is accepted if all of them did.
	OpRelease
	// OpPrepare declares that the run of the server that Conditions.Watched names is fit to vote: it sets GuardKey to
	// "<run id> 0 <MaxTTL>". If the server's run id is another, it does nothing and is declined. The reply's Record is
	// the run id in both cases.
	OpPrepare
)

// String gives the operation's name: "acquire", "extend", "release" or "prepare".
func (o Op) String() string {
	switch o {
	case OpAcquire:
		return "acquire"
	case OpExtend:
		return "extend"
	case OpRelease:
		return "release"
	case OpPrepare:
		return "prepare"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// tokenPrefix begins the names of the counters, linePrefix and turnPrefix those of the lines of who waits, and GuardKey is the
// name of the restart guard's record. None of them is a lock.
const (
	tokenPrefix = "redlock:token:"
	linePrefix  = "redlock:line:"
	turnPrefix  = "redlock:turn:"
	GuardKey    = "redlock:guard"
)

// LineKey and TurnKey are the names of those keys that belong to a lock's key: see [Line].
func LineKey(key string) string { return linePrefix + key }

// TurnKey is described with LineKey.
func TurnKey(key string) string { return turnPrefix + key }

// TokenKey is the name of the counter that belongs to a lock's key.
func TokenKey(key string) string { return tokenPrefix + key }

// IsLockKey reports whether a key on a node can be a lock's. Counters and the guard's record are none: they outlive all
// locks. Nor are lines and turns.
func IsLockKey(key string) bool { return key != GuardKey && !IsTokenKey(key) && !IsLineKey(key) }

// IsLineKey reports whether a key on a node belongs to the line of a lock's key.
func IsLineKey(key string) bool {
	return strings.HasPrefix(key, linePrefix) || strings.HasPrefix(key, turnPrefix)
}

// IsTokenKey reports whether a key on a node is a lock's fencing counter.
func IsTokenKey(key string) bool { return strings.HasPrefix(key, tokenPrefix) }

// wakePrefix begins the names of the channels on which clients hear that it is their turn.
const wakePrefix = "redlock:wake:"

// WakeChannel is the name of the channel on which a client that waits is told of the keys for which it is its turn.
func WakeChannel(waiter string) string { return wakePrefix + waiter }
