package redlock

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"redlocksim/internal/printable"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
)

// The errors to match with errors.Is.
var (
	// ErrNotAcquired: the call ended without a grant. Every [*Error] of Lock and TryLock matches it.
	ErrNotAcquired = errors.New("not acquired")
	// ErrTaken: another client has the lock, or votes for it: so many nodes hold its key, or saw its higher fencing token, that
	// no quorum was left, or the one node that [Client.Lock] asks first. Try again later.
	ErrTaken = errors.New("held by another")
	// ErrNoQuorum: too few nodes answered, were fit to vote, or had a fencing counter that others bear out. Error.Nodes says
	// which ones to look after.
	ErrNoQuorum = errors.New("no quorum of nodes")
	// ErrTooLate: a quorum said yes, but so late that no validity was left. If that happens often, the TTL is too short.
	ErrTooLate = errors.New("quorum came too late, no validity left")
	// ErrNoToken: a quorum said yes, and the source of [WithTokens] gave no token.
	ErrNoToken = errors.New("no fencing token")
	// ErrLost: the lease ended, or so many nodes lost its key that no quorum has it any more. Stop the work: another client may
	// hold the lock. With an even number of nodes, or [WithQuorum], a lease is given up before one can.
	ErrLost = errors.New("lease lost")
	// ErrReleased: the lease was released by its holder.
	ErrReleased = errors.New("lease released")
	// ErrRenewalLimit: the lease was not renewed because a limit of its [Renewal] was reached.
	ErrRenewalLimit = errors.New("limit of renewals reached")
	// ErrNotPrepared: not all nodes were declared fit to vote. Every [*Error] of PrepareGuard matches it.
	ErrNotPrepared = errors.New("not prepared")
	// ErrMaxTTL: a node's restart guard was set up with another MaxTTL than this client's. All clients must have the same; see
	// [Client.PrepareGuard] for changing it.
	ErrMaxTTL = errors.New("redlock: a node's restart guard has another MaxTTL")
	// ErrTokensUsedUp: the counters have reached the largest fencing token. Mend them on the nodes.
	ErrTokensUsedUp = errors.New("redlock: no fencing token is left above the counters")
	// ErrClosed: the client is closed.
	ErrClosed = errors.New("redlock: client closed")
	// ErrInvalid: an argument or option makes no sense. The text says which one and why, and nothing was sent.
	ErrInvalid = errors.New("redlock: invalid argument")
)

// What a node answered in the round that an [Error] tells of: its Outcome in Error.Nodes.
const (
	// Unanswered: no reply had come when the call was decided.
	Unanswered = driver.Unanswered
	// Accepted: the node did what was asked.
	Accepted = driver.Accepted
	// Declined: another holds the key (acquire), or the key is gone or another's (extend, release).
	Declined = driver.Declined
	// TimedOut: no reply within the node timeout. The node may have done what was asked, or may still do it.
	TimedOut = driver.TimedOut
	// Refused: the node could not be reached, or dropped the connection.
	Refused = driver.Refused
	// Failed: the node answered with an error, the Err beside it.
	Failed = driver.Failed
	// Quarantined: the node restarted, and [WithRestartGuard] keeps it from voting for a while.
	Quarantined = driver.Quarantined
	// Behind: the fencing token proposed is not above the node's counter.
	Behind = driver.Behind
)

// Error says why an acquire, extend, release or prepare failed, and what each node answered.
type Error struct {
	Op       driver.Op
	Resource string
	Attempts int                   // acquires only: how many were made; 0 if the call never had its turn
	Nodes    []observe.NodeOutcome // those asked in the last round, in the client's order; nil if none was

	// Reason matches ErrTaken, ErrNoQuorum, ErrTooLate, ErrNoToken, ErrLost, ErrReleased or ErrNotPrepared; nil if something
	// else ended the call. If the context ended in the middle of an attempt, it is the reason of the one before, if there was
	// any; the Nodes are those of the last.
	Reason error
	// Cause is what else ended the call: the context's error, ErrClosed, ErrTokensUsedUp, ErrRenewalLimit, or the error of the
	// source of random bytes.
	Cause error

	NodeTimeout time.Duration // how long each node was waited for; zero if none was asked
}

// Unwrap makes these matchable: the reason and the cause, ErrNotAcquired for an acquire, the errors of nodes that Failed, and
// ErrMaxTTL.
func (e *Error) Unwrap() []error {
	var errs []error
	if e.Op == driver.OpAcquire {
		errs = append(errs, ErrNotAcquired)
	}
	if e.Reason != nil {
		errs = append(errs, e.Reason)
	}
	if e.Cause != nil {
		errs = append(errs, e.Cause)
	}
	for _, n := range e.Nodes {
		if n.Outcome == Failed && n.Err != nil {
			errs = append(errs, n.Err)
			if other := (*driver.MaxTTLError)(nil); errors.As(n.Err, &other) {
				errs = append(errs, ErrMaxTTL)
			}
		}
	}
	return errs
}

// How much of a resource's name, and of what a node says, an error's text shows.
const (
	shownName   = 200
	shownAnswer = 300
)

// Error is one line of printable text, in which long names and long answers of servers are shortened.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "redlock: %s %q: ", e.Op, printable.Short(e.Resource, shownName))
	switch {
	case e.Reason != nil && e.Cause != nil:
		fmt.Fprintf(&b, "%v: %v", e.Reason, e.Cause)
	case e.Reason != nil:
		b.WriteString(e.Reason.Error())
	default:
		fmt.Fprint(&b, e.Cause)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " after %d attempts", e.Attempts)
	}
	for i, n := range e.Nodes {
		sep := "; "
		if i == 0 {
			sep = " ("
		}
		fmt.Fprintf(&b, "%s%s %s", sep, n.Node, n.Outcome.Of(e.Op))
		switch {
		case n.Outcome == driver.TimedOut && e.NodeTimeout != 0:
			fmt.Fprintf(&b, " after %v", e.NodeTimeout)
		case n.Outcome == driver.TimedOut, n.Err == nil:
		default:
			fmt.Fprintf(&b, ": %s", printable.Text(n.Err.Error(), shownAnswer))
		}
	}
	if len(e.Nodes) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}
