package redlock

import (
	"context"
	"fmt"
	"time"
)

// Node is one independent Redis master: it shares no data with the other nodes and replicates to none of them.
//
// The package reaches its servers through this interface and nothing else; [redlocksim/redlock/goredis] implements it
// for go-redis. Implementations must be safe for concurrent use.
type Node interface {
	// Name tells the node from the others in outcomes, events and logs. It does not change.
	Name() string

	// Do sends the commands of the batch to the node, in order, and returns without waiting for the replies. For each
	// command it calls Done at most once, from any goroutine, also before Do returns. A node that has not answered at
	// the command's Deadline may stay silent: the caller keeps the time itself. The batch slice is not kept after Do
	// returns; the commands are not changed, and not used after their Done was called.
	Do(batch []*Command)
}

// Listener is a Node on which one can listen for what is published, for [WithWakeUp].
type Listener interface {
	Node

	// Listen has heard called once for every message published on the channel, and returns without waiting. heard does not
	// block and may be called from any goroutine, also for a little while after stop was called. stop does not block
	// either. Messages from before the node has the subscription, and from while the connection is broken, are lost.
	Listen(channel string, heard func()) (stop func())
}

// Op is what a Command asks of a node.
type Op uint8

// The three atomic operations of the algorithm, and the one of [Client.PrepareGuard].
const (
	// OpAcquire sets every key to the value with the TTL, if none of them exists (SET key value NX PX ttl), and the
	// Conditions of the command, if it has any, are met.
	OpAcquire Op = iota + 1
	// OpExtend raises the TTL of every key to at least TTL, if all of them hold the value. It creates no key and
	// shortens no TTL.
	OpExtend
	// OpRelease deletes those keys that hold the value, and is accepted if all of them did. With Wake it also publishes an
	// empty message for each key that it deleted, on the WakeChannel of that.
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

// Command is one atomic operation for one node.
type Command struct {
	Op    Op
	Wake  bool          // has a release tell those who wait
	Keys  []string      // one or more, all on this node; not to be modified
	Value string        // the acquisition's unique value
	TTL   time.Duration // whole milliseconds; zero for OpRelease and OpPrepare

	// Conditions are further ones of an acquire; nil, for a plain one, unless the client has fencing or the restart
	// guard. OpPrepare uses them as well.
	Conditions *Conditions

	// Deadline is when the caller stops waiting for the reply, as a reading of the client's Clock.
	Deadline time.Time

	// Round counts the rounds asked under this Value, from 0, the first acquire: (Value, Round, node) names a command.
	Round int

	// Done takes the reply. It must not be called with a lock held that Do needs.
	Done func(*Command, Reply)

	round *round // nil if no client made it
	node  int    // index of the node in the client
	batch *batch // with which it went, until it is answered

	ownDeadline bool // the Deadline is not that of its round
}

// Context ends at the Deadline, or once the commands that were sent to the other nodes together with this one are settled
// as well as this one; they share it, which spares each node making one. It has no values. It is nil for a command that
// no [Client] has made, for one whose Deadline is not theirs, and when all of them are settled.
func (c *Command) Context() context.Context {
	if c.round == nil || c.ownDeadline {
		return nil
	}
	return c.round.context(c.Deadline)
}

// Arguments are the keys, the value and the TTL in milliseconds, an int64, as the arguments of a Redis command, which are
// interfaces. The commands of an acquisition share them, which spares each node making its own; they are not to be
// modified.
func (c *Command) Arguments() (keys []any, value, ttl any) {
	if c.round == nil {
		return argumentsOf(c.Keys), c.Value, int64(c.TTL / time.Millisecond)
	}
	return c.round.arguments(c)
}

func argumentsOf(keys []string) []any {
	args := make([]any, len(keys))
	for i, key := range keys {
		args[i] = key
	}
	return args
}

// Conditions are what an acquire asks of a node beyond free keys. The node looks at the guard first.
//
// The guard (MaxTTL not 0): GuardKey holds "<run id> <since> <max TTL>", with both times in milliseconds, and does not
// expire. The run id is that of INFO server. Where the max TTL differs from MaxTTL, the node fails with a
// [MaxTTLError]. Without the record, or if its run id is not the server's, the node writes "<its run id> <its clock>
// <MaxTTL>", which begins a quarantine, and answers Quarantined. While since is not 0 the node is in quarantine. That
// ends, since becoming 0, if Watched is the record as it stands and the node's clock reads more than since + MaxTTL;
// otherwise the answer is Quarantined.
//
// Fencing (Token not 0): the counter of a key is the number at [TokenKey] of it, 0 if there is none. The answer is
// Declined if a key holds a value other than the command's, and Behind if Token is not above all counters. Otherwise
// the keys are set to the value, one that held it already with the longer of its TTL and the command's, and the
// counters to Token, with CounterTTL.
type Conditions struct {
	Token      int64
	CounterTTL time.Duration // whole milliseconds
	MaxTTL     time.Duration // whole milliseconds
	Watched    string        // the record of a quarantine that the client has watched for MaxTTL, or nothing; OpPrepare: the run id
}

// Reply is a node's answer to a Command.
type Reply struct {
	Outcome Outcome // any but Unanswered
	Err     error   // why, for TimedOut, Refused and Failed; nil otherwise
	Token   int64   // the highest counter of the keys, if the acquire had a Token and was Declined or is Behind
	Record  string  // of a Quarantined node, GuardKey; of an OpPrepare, the run id
}

// Outcome is what came of a command on one node.
type Outcome uint8

const (
	// Unanswered is the zero Outcome: no reply had come when the decision was taken.
	Unanswered Outcome = iota
	// Accepted: the node did what was asked; for an acquire, a vote for this client.
	Accepted
	// Declined: the node is well and did not do it: another's value holds the key (acquire), or the key is gone or
	// another's (extend, release).
	Declined
	// TimedOut: no reply before the node timeout. The command may or may not have been applied, or may still be; of a client
	// with more to do than fits into its batches it may not have been sent at all.
	TimedOut
	// Refused: the node could not be reached, or dropped the connection. A command that was under way may have been applied.
	Refused
	// Failed: the node answered with an error, which is no vote (a replica's READONLY, LOADING, OOM and so on).
	Failed
	// Quarantined: the node is not fit to vote, because it may have forgotten votes: see WithRestartGuard.
	Quarantined
	// Behind: the keys are free, and the fencing token proposed is not above the node's counter: see WithFencing.
	Behind
)

// String gives the outcome in one or two words.
func (o Outcome) String() string {
	switch o {
	case Unanswered:
		return "unanswered"
	case Accepted:
		return "accepted"
	case Declined:
		return "declined"
	case TimedOut:
		return "timed out"
	case Refused:
		return "refused"
	case Failed:
		return "failed"
	case Quarantined:
		return "in quarantine"
	case Behind:
		return "behind"
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MaxNodes is the largest number of nodes of a Client.
const MaxNodes = 64
