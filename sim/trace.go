package sim

import (
	"fmt"
	"math/bits"
)

// StepKind says what a step of the kernel did.
type StepKind uint8

// The kinds of steps.
const (
	StepTimer StepKind = iota + 1
	StepRequest
	StepReply
	StepRefusal
	StepWake
	StepResume
	StepFault
	StepExpire
	// StepTime is no step of the kernel, but what a Chooser decides: time goes on.
	StepTime
)

var stepKindNames = [...]string{StepTimer: "timer", StepRequest: "request arrives", StepReply: "reply arrives",
	StepRefusal: "connection breaks", StepWake: "task wakes", StepResume: "process resumes", StepFault: "timeline",
	StepExpire: "belief ends", StepTime: "time goes on"}

func (k StepKind) String() string { return stepKindNames[k] }

// label says what an event is, for the trace.
type label struct {
	kind StepKind
	from int32 // process numbers; 0 is nobody
	to   int32
	ref  uint64 // what the request is for
}

// TraceStep is one line of a trace: what the kernel did, in order. Unlike a history it belongs to one tier.
type TraceStep struct {
	Step     int
	At       True
	Kind     StepKind
	From, To string // processes; empty for none
	Ref      uint64 // the key of a request; both its messages share it
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
