package faults

import (
	"slices"
	"time"
)

// Kind is one word of the vocabulary, with all there is to say of the faults of this kind.
type Kind struct {
	// Name is what scenario files and histories call it.
	Name string
	// New makes a zero one, to be filled in.
	New func() Fault
	// Target is what it happens to.
	Target Target
	// Local says that it touches nothing but its target, which an exploration of orders takes as independent of all others.
	// False is always safe.
	Local bool
	// Takes are the keys of the budget that it takes from; none if it costs availability at the most.
	Takes []string
	// Routes says that it only decides which processes reach each other: the arithmetic (Tight) of another kind holds
	// beside it.
	Routes bool
	// Stalls is how often, compared with others, a search draws it to make a client late between the look at its lease and
	// its write; 0 is never.
	Stalls int
	// Stops says that a client to which it happens while it holds the lock may not come to release it.
	Stops bool
	// Ends is the event at which one of them ends that was in force; empty if there is none.
	Ends string
	// Applies says whether it can make a difference within the limits; nil is always.
	Applies func(*Limits) bool
	// Draw draws one at random; nil if the limits allow none.
	Draw func(Choices, *Limits) Fault
	// Place lists those that a systematic search places at every moment of a run: with every process or link, and with sizes
	// as large as the limits allow.
	Place func(*Limits) []Fault
	// Tight is the size at which it begins to break a lock, by arithmetic; nil where there is none. See Schedule.
	Tight func(Schedule) (size time.Duration, why string)
}

// Target is what a kind of fault happens to.
type Target uint8

// What faults happen to. A kind that happens to AnyProcess is as good as two: a node whose clock jumps forgets locks, a client
// whose clock jumps believes in them.
const (
	SomeLinks Target = iota
	OneNode
	OneClient
	AnyProcess
)

// vocabulary is all kinds, in the order of the documentation.
var vocabulary = []Kind{
	clockStep,
	clockRate,
	clockStall,
	partition,
	hold,
	delay,
	reset,
	split,
	kill,
	powerLoss,
	shutdown,
	restart,
	promote,
	failover,
	evict,
	setCounters,
	setGuard,
	overwrite,
	wrongAnswers,
	pause,
	suspend,
	resume,
	stuck,
	entropy,
	crash,
}

// Vocabulary lists all kinds of faults, in the order of the documentation.
func Vocabulary() []Kind { return slices.Clone(vocabulary) }

// Find finds a kind by its name; false if there is none.
func Find(name string) (Kind, bool) {
	at := slices.IndexFunc(vocabulary, func(k Kind) bool { return k.Name == name })
	if at < 0 {
		return Kind{}, false
	}
	return vocabulary[at], true
}
