package scenarios

import (
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// Step is one thing that a client does.
type Step struct {
	Kind StepKind
	// For is the length of Hold and Sleep, the wait of Lock, the TTL of Extend.
	For time.Duration
}

// StepKind is a kind of Step.
type StepKind string

const (
	// LockStep acquires the lock, trying again for as long as For says.
	LockStep StepKind = "lock"
	// TryLockStep makes one attempt.
	TryLockStep StepKind = "try-lock"
	// HoldStep works under the lock for a while, but stops when the lease's context ends.
	HoldStep StepKind = "hold"
	// SleepStep lets time pass and looks at nothing.
	SleepStep StepKind = "sleep"
	// WriteStep makes sure of the lease and then writes to the resource.
	WriteStep StepKind = "write"
	// WriteUncheckedStep writes to the resource without making sure of the lease.
	WriteUncheckedStep StepKind = "write-unchecked"
	// UpdateStep makes sure of the lease, reads the resource, makes sure again and writes one more.
	UpdateStep StepKind = "update"
	// ReadStep makes sure of the lease and reads the resource; WriteBackStep makes sure and writes one more than was read.
	ReadStep      StepKind = "read"
	WriteBackStep StepKind = "write-back"
	// MarkStep makes sure of the lease and sets the resource's mark to this grant, for storage compare-and-set.
	MarkStep StepKind = "mark"
	// ExtendStep extends the lease.
	ExtendStep StepKind = "extend"
	// RenewStep works under the lock for a while as HoldStep does, and extends it by its TTL every third of that, at most
	// as often as the setting renewals allows.
	RenewStep StepKind = "renew"
	// PrepareStep declares the nodes fit to vote, for the restart guard.
	PrepareStep StepKind = "prepare"
	// UnlockStep releases the lock.
	UnlockStep StepKind = "unlock"
)

// stepKinds lists all kinds, with what their length may be.
var stepKinds = []struct {
	kind       StepKind
	length     bool          // it can have one
	fallback   time.Duration // what it is without; 0: it must be given
	underLease bool          // it needs a lock
}{
	{LockStep, true, time.Minute, false},
	{TryLockStep, false, 0, false},
	{HoldStep, true, 0, true},
	{SleepStep, true, 0, false},
	{WriteStep, false, 0, true},
	{WriteUncheckedStep, false, 0, true},
	{UpdateStep, false, 0, true},
	{ReadStep, false, 0, true},
	{WriteBackStep, false, 0, true},
	{MarkStep, false, 0, true},
	{ExtendStep, true, 0, true},
	{RenewStep, true, 0, true},
	{PrepareStep, false, 0, false},
	{UnlockStep, false, 0, true},
}

// UnmarshalNode reads a step: its name, or its name and length as in "hold: 5s".
func (s *Step) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	var all []string
	for _, k := range stepKinds {
		all = append(all, string(k.kind))
	}
	word, length := "", (*yaml.Node)(nil)
	if n.Kind == yaml.MappingNode {
		var ok bool
		if word, length, ok = d.OneOf(n, all...); !ok {
			return
		}
	} else if !d.Decode(n, &word) {
		return
	}
	for _, k := range stepKinds {
		if string(k.kind) != word {
			continue
		}
		s.Kind, s.For = k.kind, k.fallback
		switch {
		case length != nil && !k.length:
			d.Errorf(length, word, nil, "takes no length")
		case length != nil && d.Decode(length, &s.For) && s.For <= 0:
			d.Errorf(length, length.Value, nil, "must be positive")
		case length == nil && k.length && k.fallback == 0:
			d.Errorf(n, word, nil, `needs a length, as in "%s: 5s"`, word)
		}
		return
	}
	d.Errorf(n, word, all, "no such step")
}

// MarshalNode is the counterpart of UnmarshalNode.
func (s Step) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	word := strictyaml.Text(string(s.Kind))
	for _, k := range stepKinds {
		if k.kind == s.Kind && (!k.length || s.For == k.fallback && s.For > 0) {
			return word
		}
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{word, e.Encode(s.For, nil)}}
}

// firstUnlocked is the index of the first step that needs a lock where none was taken, −1 if there is none.
func firstUnlocked(steps []Step) int {
	locked := 0
	for i, s := range steps {
		for _, k := range stepKinds {
			if k.kind == s.Kind && k.underLease && locked == 0 {
				return i
			}
		}
		switch s.Kind {
		case LockStep, TryLockStep:
			locked++
		case UnlockStep:
			locked--
		}
	}
	return -1
}

// firstReadBack is the index of the first step that reads after a write under the same lock, −1 if there is none.
func firstReadBack(steps []Step) int {
	written := false
	for i, s := range steps {
		switch s.Kind {
		case LockStep, TryLockStep, UnlockStep:
			written = false
		case ReadStep:
			if written {
				return i
			}
		case UpdateStep:
			if written {
				return i
			}
			written = true
		case WriteStep, WriteUncheckedStep, WriteBackStep:
			written = true
		}
	}
	return -1
}
