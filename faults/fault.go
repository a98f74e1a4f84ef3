// Package faults is the vocabulary of what can go wrong, and of the moments at which it does.
//
// A [Fault] is a struct whose documented fields are its knobs, a sentence, and Inject. What its values may be, whom it happens
// to, how it is drawn at random, where a systematic search places it and which size a search turns follow from its fields:
// see knobs.go. A row of [Vocabulary] says what no field does. Faults are injected into a [Ground], a world of the simulator or
// processes of the operating system, through a [Field], which keeps what is in force and how it is undone. A [Trigger] says
// when. A [Budget] says how much of them a protocol must stand; what really happened is kept in [Used].
package faults

import (
	"cmp"
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
	// Takes are the keys of the budget that it takes from; none if it costs availability at the most. The first bounds its
	// size, if that is a length of time.
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
	// Applies says whether it can make a difference within the limits; nil is always.
	Applies func(*Limits) bool

	simulated string // why tier live cannot have it; empty if it can
	clocks    bool   // it changes the clocks of its target
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

// Keys of the budget from which a node takes that comes back without its memory, and reasons not to be on tier live.
var memoryLoss = []string{"restart-delay", "memory-loss", "counter-loss"}

const (
	notByHand = "nobody changes keys by hand on the servers of tier live"
	notSplit  = "a proxy does not know where in a batch one command ends and the next begins"
	notRead   = "the proxies of tier live do not read what they pass on"
	notOneOf  = "the random bytes of an operating system cannot be taken away from one process"
)

// vocabulary is all kinds, in the order of the documentation.
var vocabulary = kinds(
	Kind{New: of[ClockStep], Takes: []string{"clock-step"}, Local: true, clocks: true},
	Kind{New: of[ClockRate], Takes: []string{"clock-rate"}, Ends: "clock-rate-ends", clocks: true},
	Kind{New: of[ClockStall], Takes: []string{"clock-rate"}, Ends: "clock-stall-ends", clocks: true},
	Kind{New: of[Partition], Ends: "partition-heals"},
	Kind{New: of[Hold], Takes: []string{"delay"}, Ends: "hold-ends"},
	Kind{New: of[Delay], Takes: []string{"delay"}, Stalls: 1, Ends: "delay-ends"},
	Kind{New: of[Reset]},
	Kind{New: of[Split], Ends: "split-ends", Applies: func(l *Limits) bool { return l.Batches }, simulated: notSplit},
	Kind{New: of[Kill], Takes: memoryLoss},
	Kind{New: of[PowerLoss], Takes: append([]string{"no-power-loss"}, memoryLoss...)},
	Kind{New: of[Shutdown], Takes: memoryLoss},
	Kind{New: of[Restart], Takes: memoryLoss},
	Kind{New: of[Promote], Takes: memoryLoss},
	Kind{New: of[Failover], Takes: memoryLoss,
		Applies: func(l *Limits) bool { return len(l.masters()) > 0 }},
	Kind{New: of[Evict], Takes: []string{"memory-loss", "counter-loss"},
		Applies: func(l *Limits) bool { return l.Names.Service == "" && l.evictable() != nil }},
	Kind{New: of[SetCounters], Applies: func(l *Limits) bool { return l.Fenced }, simulated: notByHand},
	Kind{New: of[SetGuard], Applies: func(l *Limits) bool { return l.MaxTTL > 0 }, simulated: notByHand},
	Kind{New: of[Overwrite], Applies: func(l *Limits) bool { return l.Names.Service == "" }, simulated: notByHand},
	Kind{New: of[WrongAnswers], Ends: "right-answers", simulated: notRead},
	Kind{New: of[Pause], Takes: []string{"pause"}, Local: true, Stalls: 2, Stops: true, Halts: true},
	Kind{New: of[Suspend], Takes: []string{"suspend"}, Local: true, Stalls: 1, Stops: true, Halts: true, clocks: true},
	Kind{New: of[Resume], Halts: true},
	Kind{New: of[Stuck], Stops: true},
	Kind{New: of[Entropy], Ends: "entropy-ends", Applies: func(l *Limits) bool { return l.Random }, simulated: notOneOf},
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

// kinds names kinds and their targets.
func kinds(all ...Kind) []Kind {
	for i := range all {
		k := &all[i]
		t := reflect.TypeOf(k.New()).Elem()
		k.Name = strings.ToLower(innerCapital.ReplaceAllString(t.Name(), "-$0"))
		for target, name := range targets {
			if _, has := t.FieldByName(name); has && name != "" {
				k.Target = Target(target)
			}
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
func LiveOf(f Fault, on Deployment) (l Live) {
	if own, is := f.(interface{ live(Deployment) Live }); is {
		l = own.live(on)
	}
	k := kindOf(f)
	l.Not, l.Clocks = cmp.Or(l.Not, k.simulated), k.clocks
	return l
}
