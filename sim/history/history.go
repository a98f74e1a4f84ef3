// Package history is the record of one run: what the clients asked and were told, what the library reported, what
// became of the shared resource, and which faults were injected, in the order in which it happened.
//
// The checkers judge histories and the reports draw them. The tiers model and wire give the same history, byte for byte, for
// the same scenario and seed: what happens below the library's Node seam is not part of it.
package history

// Kind says what an Event records.
type Kind string

const (
	// Call: a client begins the operation Op, of function Func.
	Call Kind = "call"
	// Return: the operation Op ends, with an Outcome.
	Return Kind = "return"
	// Step: the library reports a step of the algorithm, Name, inside operation Op (0 outside of any).
	Step Kind = "step"
	// Expire: the client's lock clock first reads the last acknowledged expiry of Grant: its believed window ends. It
	// is recorded only if the window had not ended before, and at equal times stands before any grant.
	Expire Kind = "expire"
	// Crash: the client process ends; so do the believed windows of its grants, and its open operations never return.
	Crash Kind = "crash"
	// Effect: the shared resource takes a request of a client that acts under Grant: Func is read or write, Outcome
	// is OK (accepted) or Failed (turned down), Number the value read or written.
	Effect Kind = "effect"
	// Fault: something outside the protocol happens to Process or Node; Name is its name in the faults vocabulary.
	Fault Kind = "fault"
)

// Func is what an operation does.
type Func string

// The operations of a client. Acquire, Extend and Release concern the lock, the others the resource it guards.
const (
	Acquire Func = "acquire"
	Extend  Func = "extend"
	Release Func = "release"
	Read    Func = "read"
	Write   Func = "write"
	// Mark sets the resource's mark, by which a compare-and-set resource knows whose writes to take. It does not touch
	// the number.
	Mark Func = "mark"
)

// Outcome is how an operation ended.
type Outcome string

const (
	// OK: the operation did what it says; for Acquire, a grant.
	OK Outcome = "ok"
	// Failed: it certainly did not.
	Failed Outcome = "fail"
	// Unknown: it may or may not have happened, or may happen later.
	Unknown Outcome = "unknown"
)

// Event is one line of a history. Fields that do not apply to its Kind are zero.
type Event struct {
	// Seq numbers the events of a history from 1 without gaps; it orders them, also those at the same Time.
	Seq int `json:"seq"`
	// Time is true time since the start of the run, in nanoseconds. It never falls along Seq.
	Time int64 `json:"t"`
	Kind Kind  `json:"kind"`
	// Process is the client the event belongs to; for a Fault, the client it affects, if any.
	Process string `json:"process,omitempty"`
	// Op numbers the operations of a history from 1; Call and Return of one operation share it.
	Op   int  `json:"op,omitempty"`
	Func Func `json:"f,omitempty"`
	// Resource is the name of what is locked, read or written; at a Step of a lock on several, all names with ", " between.
	Resource string `json:"resource,omitempty"`
	// Grant is the Op of the successful acquire that the event belongs to: the lock an extend or release is for, the
	// lock a read or write is made under, the window that expires. Zero when there is none.
	Grant   int     `json:"grant,omitempty"`
	Outcome Outcome `json:"outcome,omitempty"`
	// Name is the library's step or the fault's name.
	Name string `json:"name,omitempty"`
	// Node is the Redis node a Step or Fault concerns.
	Node string `json:"node,omitempty"`
	// Number is the value read or written, or the attempt a Step belongs to.
	Number int64 `json:"number,omitempty"`
	// Span is a length in nanoseconds: the validity of a grant or extension, the size of a fault.
	Span int64 `json:"span,omitempty"`
	// Detail is for people: a node's outcome, why an operation failed, what exactly a fault did.
	Detail string `json:"detail,omitempty"`
	// Token is the fencing token: of a grant, at the Return of its acquire, and of an Effect that carries it. 0 is none.
	Token int64 `json:"token,omitempty"`
	// With is set where one call locks, extends or releases several resources at once: it is an operation on each, called
	// and returned at the same Time, and With is the Op of the first of them. Zero for a call on one resource.
	With int `json:"with,omitempty"`
	// Basis is set at the Call of a write that builds on what its client has read under another grant, or of a write under
	// none: the Op of that read. Zero for a write that builds on what its own grant has read or written, or on nothing. At the
	// Effect of a write to a resource with versions it is the Op of the read or write that returned the version the write goes
	// by; zero if the write has none.
	Basis int `json:"basis,omitempty"`
}

// History is a whole run, in order.
type History []Event
