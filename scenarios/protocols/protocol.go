// Package protocols is the lock protocols that scenarios test: the shipped library, and those that it is compared with.
// Each is a client's side of a protocol, written for a Host: a process of the simulator or one of the operating system, with
// the same nodes, network and faults around it.
//
// To add a protocol: a file with its Protocol, its Locker and its own settings, and its line in All.
package protocols

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/sim/trace"
)

// Locker takes locks. Its errors match those of package redlock where they mean the same: ErrTaken, ErrNoQuorum,
// ErrTooLate, ErrLost, ErrReleased; any other error of a release or extend leaves open whether it happened.
type Locker interface {
	// Lock acquires the lock on a resource, trying again until ctx ends.
	Lock(ctx context.Context, resource string, ttl time.Duration) (Lease, error)
	// TryLock makes a single attempt.
	TryLock(ctx context.Context, resource string, ttl time.Duration) (Lease, error)
}

// AllLocker is a Locker that takes one lock on several resources, all of them or none.
type AllLocker interface {
	LockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error)
	TryLockAll(ctx context.Context, resources []string, ttl time.Duration) (Lease, error)
}

// Preparer is a Locker whose nodes must be prepared before the first lock.
type Preparer interface {
	Prepare(ctx context.Context) error
}

// Closer is a Locker that can be closed: it grants nothing from then on, and ends the calls that wait.
type Closer interface {
	// Close returns when nothing is under way any more.
	Close(ctx context.Context) error
}

// Holder is a Locker that does work under a lock: it takes the lock, renews it meanwhile, and releases it.
type Holder interface {
	// Hold calls work with a context that ends when the work must stop. The error is that of the acquire if it did not, and
	// otherwise that of work, of the renewals and of the release. What the release returned is told to r as well.
	Hold(ctx context.Context, resource string, ttl time.Duration, r Renewal, work func(context.Context, Lease) error) error
}

// Lease is a lock that was granted.
type Lease interface {
	// Until is when the client stops believing in the lock, by its lock clock; the zero time if it never does by itself.
	Until() time.Time
	// Context ends when the client is told that it no longer has the lock, or released it.
	Context() context.Context
	// Token is the fencing token; false where the protocol has none.
	Token() (int64, bool)
	Extend(ctx context.Context, ttl time.Duration) error
	Unlock(ctx context.Context) error
}

// Named is a Lease that says what it is on.
type Named interface {
	// Resource is one name for all of it, and Resources are the names of each.
	Resource() string
	Resources() []string
}

// Warner is a Lease whose context ends before it, so that its holder stops in time.
type Warner interface {
	// ContextEnds is when, by the lock clock, unless the lease is extended before.
	ContextEnds() time.Time
}

// Renewer is a Lease that is renewed by its protocol while work is done under it.
type Renewer interface {
	// Renew calls work and extends the lease until it returns. The error is that of work, and of the renewals.
	Renew(ctx context.Context, r Renewal, work func(context.Context) error) error
}

// SelfRenewing is a Lease that may be renewed by its protocol for as long as it is held, as by a watchdog: its holder need not
// extend it.
type SelfRenewing interface {
	// RenewsItself says that it is.
	RenewsItself() bool
}

// Renewal is how a Renewer or a Holder does it.
type Renewal struct {
	// Wait is how long a Holder waits for the lock at the most; zero is as long as its context.
	Wait time.Duration
	// Period is the time between two renewals; zero is the protocol's own.
	Period time.Duration
	// Jitter is how much sooner than that a renewal may come.
	Jitter time.Duration
	// Limit is how often at the most, and MaxTime for how long; zero is without a limit, and if both are, as the protocol
	// has it.
	Limit   int
	MaxTime time.Duration
	// Begins and Ends are told of every extend.
	Begins func()
	Ends   func(error)
	// Releases and Released are told of the release by a Holder.
	Releases func()
	Released func(error)
}

// Env is what a protocol has to work with.
type Env struct {
	Host
	Settings Settings
	// FirstNode is the node for a lock on one Redis: the first that the scenario's faults happen to, so that they concern it.
	FirstNode string
	// Events are those of the run, among which is what the library reports; nil outside of the simulator.
	Events *trace.Stream
	// Step notes a step of the protocol. The timeline may pause or end the process there.
	Step func(ctx context.Context, s Step)
	// Believe says until when the client believes in the lock that ctx is about: at the grant, before it is returned,
	// and at every extension. The zero time is for as long as nothing else ends it.
	Believe func(ctx context.Context, until time.Time)
	// Disbelieve says that the belief ends now, and why, in words that go on from "its lease ends: ".
	Disbelieve func(ctx context.Context, why string)
	// Thread is the number of the program of the process that makes the call ctx is about, from 1: what a lock that is
	// re-entrant for a thread goes by.
	Thread func(ctx context.Context) int
	// Attempt says which attempt of the call under way comes next, from 1: random bytes are drawn for it.
	Attempt func(ctx context.Context, number int)
}

// Step is a step of a protocol.
type Step struct {
	Name    string
	Node    string        // whose answer it is, if any
	Attempt int           // which attempt of the call
	Span    time.Duration // a validity or delay, where it has one
	Detail  string        // for people
	Late    bool          // it happens outside of the call that it belongs to
}

// Protocol is a protocol by its name in scenario files.
type Protocol struct {
	Name Name
	// New makes a client's side of it.
	New func(Env) (Locker, error)
	// Steps are the names of its steps, for the timeline.
	Steps []string
	// Sentences are those of Steps whose Detail is a sentence in stories, behind the client's name.
	Sentences []string
	// Capabilities are those with the default settings. Own settings that decide one have a method choose.
	Capabilities Capabilities

	own Own // the defaults of the settings that it has of its own
}

// All lists the protocols.
func All() []Protocol {
	return []Protocol{
		redlockProtocol,
		redlockPlainProtocol,
		setnxExpireProtocol,
		getSetProtocol,
		singleProtocol,
		oneRedisProtocol,
		nodePermitsProtocol,
		redissonProtocol,
		redissonFairProtocol,
		redissonMultiProtocol,
		consensusProtocol,
		dbRowProtocol,
		dbUniqueProtocol,
	}
}

// Find is the protocol of a name.
func Find(name Name) (Protocol, bool) {
	for _, p := range All() {
		if p.Name == name {
			return p, true
		}
	}
	return Protocol{}, false
}

// IsSentence says whether the Detail of a step is a sentence in stories.
func IsSentence(step string) bool {
	return slices.ContainsFunc(All(), func(p Protocol) bool { return slices.Contains(p.Sentences, step) })
}

const overAlready = "it was already over when it was "

// Over is why nobody believes in a lease of which its program says itself that it is over: it has granted, extended or renewed
// it for no more than zero. It is for Env.Disbelieve.
func Over(done string, valid time.Duration) string {
	return fmt.Sprintf("%s%s (valid for %v)", overAlready, done, valid)
}

// IsOver says that a belief has ended for that reason, and goes on from "when it was ".
func IsOver(why string) (done string, is bool) { return strings.CutPrefix(why, overAlready) }
