package redlock

import (
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

// Op is what a Command asks of a node.
type Op uint8

// The three atomic operations of the algorithm.
const (
	// OpAcquire sets every key to the value with the TTL, if none of them exists (SET key value NX PX ttl).
	OpAcquire Op = iota + 1
	// OpExtend raises the TTL of every key to at least TTL, if all of them hold the value. It creates no key and
	// shortens no TTL.
	OpExtend
	// OpRelease deletes those keys that hold the value, and is accepted if all of them did.
	OpRelease
)

// String gives the operation's name: "acquire", "extend" or "release".
func (o Op) String() string {
	switch o {
	case OpAcquire:
		return "acquire"
	case OpExtend:
		return "extend"
	case OpRelease:
		return "release"
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// Command is one atomic operation for one node.
type Command struct {
	Op    Op
	Keys  []string      // one or more, all on this node; not to be modified
	Value string        // the acquisition's unique value
	TTL   time.Duration // whole milliseconds; zero for OpRelease

	// Deadline is when the caller stops waiting for the reply, as a reading of the client's Clock.
	Deadline time.Time

	// Round counts the rounds asked under this Value, from 0, the acquire: (Value, Round, node) names a command.
	Round int

	// Done takes the reply. It must not be called with a lock held that Do needs.
	Done func(*Command, Reply)

	node int // index of the node in the client
}

// Reply is a node's answer to a Command.
type Reply struct {
	Outcome Outcome // Accepted, Declined, TimedOut, Refused or Failed
	Err     error   // why, for TimedOut, Refused and Failed; nil otherwise
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
	// TimedOut: no reply before the node timeout. The command may or may not have been applied, or may still be.
	TimedOut
	// Refused: the node could not be reached, or dropped the connection. A command that was under way may have been applied.
	Refused
	// Failed: the node answered with an error, which is no vote (a replica's READONLY, LOADING, OOM and so on).
	Failed
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
	}
	return fmt.Sprintf("Outcome(%d)", uint8(o))
}

// MaxNodes is the largest number of nodes of a Client.
const MaxNodes = 64
