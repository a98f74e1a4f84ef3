package driver

import "fmt"

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
