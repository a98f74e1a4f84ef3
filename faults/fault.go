// Package faults is the vocabulary of what can go wrong, and of the moments at which it does.
//
// A [Fault] is a struct whose documented fields are its knobs, a sentence, and Inject. What its values may be, whom it happens
// to, how it is drawn at random and which size a search turns follow from its fields: see tags.go. A row of [Vocabulary] says
// what no field does. Faults are injected into a [Ground], a world of the simulator or processes of the operating system,
// through a [Field], which keeps what is in force and how it is undone. A [Trigger] says when. A [Budget] says how much of
// them a protocol must stand; what really happened is kept in [Used].
package faults

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Fault is one thing that goes wrong. Its zero value does nothing harmful but may not be complete: see Check.
type Fault interface {
	// String says what happens, as histories do.
	fmt.Stringer
	// Inject makes it happen, now, and adds what it takes from the budget to Field.Used. An error means that it cannot happen
	// in this state: a node is killed twice.
	Inject(*Field) error
}

// Simplified is a Fault of several parts, of which some may do.
type Simplified interface {
	// Simpler is those parts, as a fault of a kind of that name.
	Simpler() (f Fault, kind string)
}

// Kind is one word of the vocabulary, with what there is to say of the faults of this kind besides their fields.
type Kind struct {
	// Name is what scenario files and histories call it: that of its type.
	Name string
	// New makes a zero one, to be filled in.
	New func() Fault
	// Target is what it happens to, by its fields.
	Target Target
	// Local says that it touches nothing but its target, which an exploration of orders takes as independent of all others.
	// False is always safe.
	Local bool
	// Takes are the keys of the budget that it takes from, by its fields; none if it costs availability at the most.
	Takes []string
	// Stalls is how often, compared with others, a search draws it to make a client late between the look at its lease and
	// its write; 0 is never.
	Stalls int
	// Stops says that a client to which it happens while it holds the lock may not come to release it; see Stopping.
	Stops bool
	// Halts says that it makes a process stand still, or go on. The kernel tells of that as well, by kernel.StateChanged.
	Halts bool
	// Ends is the event at which one of them ends that was in force; empty if there is none.
	Ends string

	applies func(*Limits) bool // see Applies; nil is always
	live    Live               // of all of its faults; see LiveOf
}

// Applies says whether a fault of the kind can make a difference within the limits.
func (k Kind) Applies(l *Limits) bool { return k.applies == nil || k.applies(l) }

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

const (
	notByHand = "nobody changes keys by hand on the servers of tier live"
	notSplit  = "a proxy does not know where in a batch one command ends and the next begins"
	notRead   = "the proxies of tier live do not read what they pass on"
	notOneOf  = "the random bytes of an operating system cannot be taken away from one process"
)

// vocabulary is all kinds, in the order of the documentation.
var vocabulary = kinds(
	Kind{New: of[ClockStep], Local: true, live: Live{Clocks: true}},
	Kind{New: of[ClockRate], Ends: "clock-rate-ends", live: Live{Clocks: true}},
	Kind{New: of[ClockStall], Ends: "clock-stall-ends", live: Live{Clocks: true}},
	Kind{New: of[Partition], Ends: "partition-heals"},
	Kind{New: of[Hold], Ends: "hold-ends"},
	Kind{New: of[Delay], Stalls: 1, Ends: "delay-ends"},
	Kind{New: of[Reset]},
	Kind{New: of[Split], Ends: "split-ends", applies: func(l *Limits) bool { return l.Batches }, live: Live{Not: notSplit}},
	Kind{New: of[Kill]},
	Kind{New: of[PowerLoss], live: Live{Unsynced: true}},
	Kind{New: of[Shutdown]},
	Kind{New: of[Restart]},
	Kind{New: of[Promote]},
	Kind{New: of[Failover], applies: func(l *Limits) bool { return len(l.masters()) > 0 }},
	Kind{New: of[Evict], applies: func(l *Limits) bool { return l.Names.Service == "" && l.evictable() != nil }},
	Kind{New: of[SetCounters], applies: func(l *Limits) bool { return l.Fenced }, live: Live{Not: notByHand}},
	Kind{New: of[SetGuard], applies: func(l *Limits) bool { return l.MaxTTL > 0 }, live: Live{Not: notByHand}},
	Kind{New: of[Overwrite], applies: func(l *Limits) bool { return l.Names.Service == "" }, live: Live{Not: notByHand}},
	Kind{New: of[WrongAnswers], Ends: "right-answers", live: Live{Not: notRead}},
	Kind{New: of[Pause], Local: true, Stalls: 2, Stops: true, Halts: true},
	Kind{New: of[Suspend], Local: true, Stalls: 1, Stops: true, Halts: true, live: Live{Clocks: true}},
	Kind{New: of[Resume], Halts: true},
	Kind{New: of[Stuck], Stops: true},
	Kind{New: of[Entropy], Ends: "entropy-ends", applies: func(l *Limits) bool { return l.Random }, live: Live{Not: notOneOf}},
	Kind{New: of[Crash], Local: true, Ends: "client-restarts"},
)

// of makes a zero fault.
func of[T any, P interface {
	*T
	Fault
}]() Fault {
	return P(new(T))
}

var innerCapital = regexp.MustCompile(`\B[A-Z]`)

// kinds gives kinds their names, and what follows from the fields of their faults.
func kinds(all ...Kind) []Kind {
	for i := range all {
		k, zero := &all[i], all[i].New()
		k.Name = strings.ToLower(innerCapital.ReplaceAllString(reflect.TypeOf(zero).Elem().Name(), "-$0"))
		for _, knob := range tagged(zero, "budget") {
			k.Takes = append(k.Takes, knob.takes()...)
		}
		if names := tagged(zero, "of"); names != nil {
			k.Target = roles[names[0].Tag.Get("of")].target
		}
	}
	return all
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

// Stopping are the names of the events of a history after which a client may not come to release the lock that it holds.
func Stopping() []string {
	names := []string{CutOff}
	for _, k := range vocabulary {
		if k.Stops {
			names = append(names, k.Name)
		}
	}
	return names
}

// kindOf is the kind of a fault.
func kindOf(f Fault) *Kind {
	at := slices.IndexFunc(vocabulary, func(k Kind) bool { return reflect.TypeOf(k.New()) == reflect.TypeOf(f) })
	return &vocabulary[at]
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

// LiveOf is what a run on real processes has to know of a fault.
func LiveOf(f Fault, on Deployment) Live {
	l := kindOf(f).live
	if own, is := f.(interface{ live(Deployment, *Live) }); is {
		own.live(on, &l)
	}
	return l
}
