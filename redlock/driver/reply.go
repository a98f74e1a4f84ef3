package driver

import (
	"errors"
	"fmt"
	"time"
)

// Reply is a node's answer to a Command.
type Reply struct {
	Outcome Outcome // any but Unanswered
	Err     error   // why, for TimedOut, Refused and Failed; otherwise nil, or an ErrWakeUp
	Token   int64   // the highest counter of the keys, if the acquire had a Token and was Declined or is Behind
	Called  bool    // a release with a Line has called somebody, who waits
	Record  string  // of a Quarantined node, GuardKey; of an OpPrepare, the run id
}

// Outcome is what became of a command on one node.
type Outcome uint8

const (
	// Unanswered is the zero Outcome: no reply had come when the decision was taken.
	Unanswered Outcome = iota
	// Accepted: the node did what was asked; for an acquire, a vote for this client.
	Accepted
	// Declined: the node is well and did not do it: another's value holds the key (acquire), or the key is gone or
	// another's (extend, release).
	Declined
	// TimedOut: no reply before the node timeout. The command may have been applied, or may still be. A client with
	// more commands than fit into its batches may not have sent it at all.
	TimedOut
	// Refused: the node could not be reached, or dropped the connection. A command in flight may have been applied.
	Refused
	// Failed: the node answered with an error, which is no vote (READONLY of a replica, LOADING, OOM and so on).
	Failed
	// Quarantined: the node does not vote, because it may have forgotten votes: see redlock.WithRestartGuard.
	Quarantined
	// Behind: the keys are free, but the proposed fencing token is not above the node's counter: see
	// redlock.WithFencing.
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

// Of gives the outcome in the words of the operation: "granted" for an accepted acquire, and so on.
func (o Outcome) Of(op Op) string {
	switch {
	case o == Accepted && op == OpAcquire:
		return "granted"
	case o == Accepted && op == OpExtend:
		return "extended"
	case o == Accepted && op == OpRelease:
		return "released"
	case o == Accepted && op == OpPrepare:
		return "prepared"
	case o == Declined && op == OpPrepare:
		return "not prepared"
	case o == Declined && op == OpAcquire:
		return "held by another"
	case o == Behind:
		return "ahead of the token"
	case o == Declined:
		return "not ours any more"
	}
	return o.String()
}

// ErrWakeUp matches the error of a node that did what was asked, or is held by another, and on which redlock.WithWakeUp
// does not work: its server does not let the user PUBLISH or SUBSCRIBE, or what waiting calls listen with fails in another
// way, as where a server takes no more connections. Waiting calls poll.
var ErrWakeUp = errors.New("no wake-up")

// MaxTTLError is the error of a node on which the restart guard has another MaxTTL than the client.
type MaxTTLError struct{ Node, Client time.Duration }

func (e *MaxTTLError) Error() string {
	return fmt.Sprintf("redlock: the restart guard's largest TTL is %v on the node and %v in this client", e.Node, e.Client)
}

// ReplicasError is the error of a node that did what was asked, which too few of its replicas have confirmed in time.
type ReplicasError struct{ Confirmed, Asked int }

func (e *ReplicasError) Error() string {
	return fmt.Sprintf("redlock: confirmed by %d of the %d replicas that a vote needs", e.Confirmed, e.Asked)
}
