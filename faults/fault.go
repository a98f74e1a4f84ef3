package faults

import (
	"fmt"
	"time"
)

// Fault is one thing that goes wrong. Its zero value does nothing harmful but may not be complete: see Check. What there is
// to say of all faults of a kind is in its [Kind].
type Fault interface {
	// String says what happens, as histories do.
	fmt.Stringer
	// Check finds fields that make no sense among these processes. Nil means that Inject can be called.
	Check(Names) []Problem
	// Inject makes it happen, now, and adds what it takes from the budget to Field.Used. An error means that it cannot happen
	// in this state: a node is killed twice.
	Inject(*Field) error
	// Target is the process that it happens to; empty if that is links.
	Target() string
	// Size is the one knob that makes it worse, which a search for the smallest fault turns. Nil if there is none: then a
	// search makes each of its numbers smaller by itself.
	Size() *Size
	// Live is what a run on real processes has to know of it.
	Live(Deployment) Live
}

// Simplified is a Fault of several parts, of which some may do.
type Simplified interface {
	// Simpler is those parts, as a fault of a kind of that name.
	Simpler() (f Fault, kind string)
}

// Size is how large a fault is.
type Size struct {
	// Value is not negative.
	Value time.Duration
	// Knob names it in words, "the step".
	Knob string
	// Shrinks says that the fault is worse the smaller its size is, as a restart is after a shorter delay.
	Shrinks bool
	// With is the same fault with another size, which is positive.
	With func(time.Duration) Fault
}

// Late is a fault that can come between a client's look at its lease and the effect that it sends.
type Late interface {
	Fault
	// Late is by how much it makes the effect late at the most; zero if it does not say how long it lasts.
	Late() time.Duration
}

// Deployment is what a fault is injected into on tier live.
type Deployment struct {
	// Protocol is the name of the protocol of the lock.
	Protocol string
	// Subscribes says that its clients subscribe to channels of the nodes.
	Subscribes bool
}

// Live is what a run on real processes has to know of a fault. The zero Live is that of one which is injected there as
// anywhere.
type Live struct {
	// Not is why it cannot be injected into real processes; empty if it can.
	Not string
	// Silence is how long it keeps an answer from who waits for it. If that is longer than the node timeout, it must stay so in
	// a run that is faster than its scenario.
	Silence time.Duration
	// Apart is by how much it makes one message later than another. A run that the machine has held up for as long shows
	// something else.
	Apart time.Duration
	// Unhurried says that the run must not be faster than its scenario.
	Unhurried bool
	// Clocks says that it changes the clocks of its target.
	Clocks bool
	// Unsynced says that it takes from a node what was not fsynced.
	Unsynced bool
}
