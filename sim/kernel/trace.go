package kernel

import (
	"fmt"
	"math"
	"math/bits"
)

// StepKind says what a step of a run did. A package that schedules events declares kinds of its own, with [NewStepKind] and
// [NewMessageKind].
type StepKind struct {
	number  uint8
	name    string
	message bool // a Scheduler decides when it comes
}

// stepKinds are the kinds that all packages have declared, by their numbers.
var stepKinds [math.MaxUint8 + 1]*StepKind

// NewStepKind declares a kind. name is what a trace calls it, and number stands for it in the hash of a trace; declaring a
// second kind with the same number panics.
func NewStepKind(number uint8, name string) *StepKind {
	if other := stepKinds[number]; other != nil {
		panic(fmt.Sprintf("sim: the kinds of steps %q and %q have the same number %d", other, name, number))
	}
	k := &StepKind{number: number, name: name}
	stepKinds[number] = k
	return k
}

// NewMessageKind is NewStepKind for the arrival of a message: a Scheduler decides when that is.
func NewMessageKind(number uint8, name string) *StepKind {
	k := NewStepKind(number, name)
	k.message = true
	return k
}

// The kernel's own kinds of steps.
var (
	stepTimer  = NewStepKind(1, "timer")
	stepWake   = NewStepKind(5, "task wakes")
	stepResume = NewStepKind(6, "process resumes")
	// StepTimeline is what After was asked to do.
	StepTimeline = NewStepKind(7, "timeline")
	// StepTime is what a Scheduler can decide without a step of the kernel: time goes on.
	StepTime = NewStepKind(9, "time goes on")
)

func (k *StepKind) String() string { return k.name }

// Label says what an event is, for the trace and for a Scheduler.
type Label struct {
	kind *StepKind
	from int32 // process numbers; 0 is nobody
	to   int32
	ref  uint64 // what the message is for
}

// TraceStep is one line of a trace: what the kernel did, in order. Unlike a history it belongs to one tier.
type TraceStep struct {
	Step     int
	At       True
	Kind     *StepKind
	From, To string // processes; empty for none
	Ref      uint64 // the key of a message; a request and its reply share it
}

func (s TraceStep) String() string {
	text := fmt.Sprintf("#%d %.6fs %s", s.Step, float64(s.At)/1e9, s.Kind)
	switch {
	case s.From != "" && s.To != "":
		text += fmt.Sprintf(" %s → %s", s.From, s.To)
	case s.From+s.To != "":
		text += " " + s.From + s.To
	}
	if s.Ref != 0 {
		text += fmt.Sprintf(" [%08x]", uint32(s.Ref))
	}
	return text
}

// digest is a running hash of the steps; 128 bits, not cryptographic.
type digest struct{ a, b uint64 }

func (d *digest) add(x uint64) {
	hi, lo := bits.Mul64(d.a^x^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	d.a = hi ^ lo ^ bits.RotateLeft64(d.b, 17)
	d.b = (d.b ^ lo + x) * 0x9FB21C651E98DF25
}

func (d digest) String() string { return fmt.Sprintf("%016x%016x", d.a, d.b) }
