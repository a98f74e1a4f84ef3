package protocols

import (
	"context"
	"time"

	"redlocksim/redlock/observe"
)

// Stepped is the event that the library of a client reports a step to its observer, and WentOn that the client goes on after
// it: the timeline may have paused it in between.
type (
	Stepped struct {
		Client string
		*observe.Event
	}
	WentOn Stepped
)

// Called is the event that a call begins, and Returned what it returned, before anything else happens in the client.
type (
	Called   struct{ *Call }
	Returned struct {
		*Call
		Err error
	}
)

// WorkDone is the event that work has returned under which a Renewer or a Holder renews a lease, and WorkReturned what the
// Renewer or Holder returned: a Holder after the release.
type (
	WorkDone     struct{ *Work }
	WorkReturned struct {
		*Work
		Err error
	}
)

// PermitCalled is the event that a call for a permit of a semaphore begins, or for all, and PermitReturned what it returned.
// Each attempt to take one of the permits is Called and Returned. AllBegun is the event that a call which takes all begins its
// work, in the context In, and AllDone that the work has returned.
type (
	PermitCalled   struct{ *PermitCall }
	PermitReturned struct {
		*PermitCall
		Err error
	}
	AllBegun struct {
		*PermitCall
		In context.Context
	}
	AllDone struct {
		*PermitCall
		Err error
	}
)

// Call is a call of a client's lock.
type Call struct {
	Func   CallFunc
	Client string
	// Grants are the Ops of the acquires that the call is about, one for each of Resources. Calls about the client have
	// neither.
	Grants    []int
	Resources []string
	// Renewal says that the protocol extends the lease by itself: its call ends only after Returned.
	Renewal bool
	// Context is that of the call; nil for what a protocol calls by itself: renewals, and the release by a Holder.
	Context context.Context
	// Wait is how long a Holder waits for the lock at the most; 0 is as long as its Context.
	Wait time.Duration
	// TTL is what an acquire or extend asks for.
	TTL time.Duration
	// Waits says that an acquire makes attempts until it is granted, instead of a single one.
	Waits bool
	// Permit is the call for a permit of a semaphore that an acquire is an attempt of; nil for others.
	Permit *PermitCall
	// Lease is what the call is about. An acquire returns it; nil if it was not granted. Bare says that its context has not the
	// values of the Context.
	Lease Lease
	Bare  bool
}

// Work is work under a lease that its protocol renews.
type Work struct {
	Client   string
	Resource string
	Lease    Lease
	// Releases says that a Holder does it, which releases the lease afterwards.
	Releases bool
	// Context is that of the call, and TTL what the lease was granted with and is renewed for.
	Context context.Context
	TTL     time.Duration
	// Period, Jitter, Limit and MaxTime are those of the Renewal.
	Period  time.Duration
	Jitter  time.Duration
	Limit   int
	MaxTime time.Duration
	// Ended says that the work has returned, and Err what. Lost says that the lease was lost by then, and Unaware that the
	// work's context had not ended although that of the lease had. Deaf says that it had not although the caller's had, and
	// Misled that it had although neither of the two had. Bare says that it has not the values of the Context.
	Ended                             bool
	Err                               error
	Lost, Unaware, Deaf, Misled, Bare bool
	// Panics says that the work panics when it is done, and Caught that the caller has recovered from that.
	Panics, Caught bool
}

// Panic panics, if the work is to.
func (w *Work) Panic() {
	if w.Panics {
		panic(w)
	}
}

// Catch makes the call that does the work, and recovers from its panic.
func (w *Work) Catch(call func() error) error {
	defer func() {
		switch caught := recover(); caught {
		case nil:
		case w:
			w.Caught = true
		default:
			panic(caught)
		}
	}()
	return call()
}

// CallFunc is what a Call does.
type CallFunc uint8

const (
	// AcquireCall is the zero value.
	AcquireCall CallFunc = iota
	ExtendCall
	ReleaseCall
	// CloseCall closes the client.
	CloseCall
	// PrepareCall declares the nodes fit to vote, for the restart guard.
	PrepareCall
	// NewClientCall makes a client in the place of the one before, which may still have locks.
	NewClientCall
)

// Standing is a Lease that is no Voted one, and that its nodes or its service know by a name: the owner in a hash, a session, a
// transaction, or the owner of a row.
type Standing interface{ Holder() string }

// Voted is a Lease that nodes voted for: each of a quorum keeps a key for every resource, named as that is, with the lease's
// value, which no other acquisition has.
type Voted interface {
	Value() string
	Quorum() int
}

// Early is the error of a call that was to wait for the lock for longer, and was not granted it. It matches what it wraps.
type Early struct {
	Err error
	// Left is for how much longer it was to wait, by the client's clock.
	Left time.Duration
}

func (e *Early) Error() string { return e.Err.Error() }
func (e *Early) Unwrap() error { return e.Err }
