package scenarios

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
)

// Step is one thing that a client does.
type Step struct {
	Kind StepKind
	// Resource is what the step locks, several names for one lock on all of them, or which of the locks held it is about. Nil
	// is the item's, and the lock that was taken last.
	Resource []string
	// For is the length of Hold and Sleep, the wait of Lock, the TTL of Extend.
	For time.Duration
	Calling
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
	// LingerStep works under the lock up to the last moment at which the client may still send an effect: until its lease, or
	// the lease's context, ends in a nanosecond more than its guard time.
	LingerStep StepKind = "linger"
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
	// WithLockStep takes the lock, or a permit of a semaphore, works under it while it renews itself, and releases it, all in
	// one call.
	WithLockStep StepKind = "with-lock"
	// WithAllStep takes all permits of a semaphore, works under them while they renew themselves, and gives them back, all in
	// one call.
	WithAllStep StepKind = "with-all"
	// PrepareStep declares the nodes fit to vote, for the restart guard.
	PrepareStep StepKind = "prepare"
	// UnlockStep releases the lock.
	UnlockStep StepKind = "unlock"
	// CloseStep closes the client, which ends those of its goroutines that wait for a lock. Only protocol redlock can.
	CloseStep StepKind = "close"
	// NewClientStep makes another client in the place of the one before, over the same nodes. What that holds stays held.
	NewClientStep StepKind = "new-client"
)

// stepShape is what can be said with a kind of step.
type stepShape struct {
	kind       StepKind
	length     bool          // it can have one
	fallback   time.Duration // what it is without; 0: it must be given
	underLease bool          // it needs a lock
	resource   bool          // it can name one
	calling    []string      // the keys of Calling that it can have
	text       string        // what the client does, for schemas and the documentation
}

// stepKinds lists all kinds, with what can be said with them.
var stepKinds = []stepShape{
	{LockStep, true, time.Minute, false, true, []string{"ttl", "cancel", "anyway"},
		"Acquires the lock, making attempts for as long as it says. Default: 1m. Example: lock: 10s"},
	{TryLockStep, false, 0, false, true, []string{"ttl", "within", "cancel", "anyway"},
		"Makes one attempt to acquire the lock. Example: try-lock"},
	{HoldStep, true, 0, true, true, nil,
		"Works under the lock for a while, and stops if the context of the lease ends. Example: hold: 5s"},
	{SleepStep, true, 0, false, false, nil,
		"Waits for a while and looks at nothing. Example: sleep: 1s"},
	{LingerStep, false, 0, true, true, nil,
		"Works under the lock up to the last moment at which the client may still send an effect, its guard time before the end of the lease. Example: linger"},
	{WriteStep, false, 0, true, true, []string{"released"},
		"Checks the lease, then writes to the resource. Example: write"},
	{WriteUncheckedStep, false, 0, true, true, []string{"released"},
		"Writes to the resource without checking the lease. Example: write-unchecked"},
	{UpdateStep, false, 0, true, true, []string{"released"},
		"Checks the lease, reads the resource, checks again, and writes one more than it read. Example: update"},
	{ReadStep, false, 0, true, true, []string{"released"},
		"Checks the lease and reads the resource. Example: read"},
	{WriteBackStep, false, 0, true, true, []string{"released"},
		"Checks the lease and writes one more than the last read gave. Example: write-back"},
	{MarkStep, false, 0, true, true, nil,
		"Checks the lease and sets the resource's mark to this grant, for storage compare-and-set. Example: mark"},
	{ExtendStep, true, 0, true, true, []string{"within", "cancel", "lease-context", "released"},
		"Extends the lease to a TTL from now. Example: extend: 10s"},
	{RenewStep, true, 0, true, true, []string{"within", "cancel", "released", "period", "jitter", "limit", "max-time", "meanwhile", "panics"},
		"Works under the lock for a while as hold does, and every third of the TTL extends it by the TTL, as often as the setting renewals allows. Example: renew: 30s"},
	{WithLockStep, true, 0, false, true, []string{"ttl", "within", "cancel", "wait", "period", "jitter", "limit", "max-time", "unlocks", "panics"},
		"Acquires the lock, or a permit of a semaphore, updates the resource, works for a while as renew does, updates again, and releases what it has, in one call (Client.Hold, Semaphore.Hold). Only protocol redlock can. Example: with-lock: 5s"},
	{WithAllStep, true, 0, false, true, []string{"ttl", "within", "cancel", "wait", "period", "jitter", "limit", "max-time"},
		"Takes all permits of a semaphore, as the writer of a read-write lock does, updates each, works for a while as renew does, updates each again, and gives them back, in one call (Semaphore.HoldAll). Only protocol redlock can. Example: with-all: {resource: pool, for: 5s}"},
	{PrepareStep, false, 0, false, false, []string{"within", "cancel"},
		"Declares the nodes fit to vote, for the restart guard. Example: prepare"},
	{UnlockStep, false, 0, true, true, []string{"within", "cancel", "lease-context", "released"},
		"Releases the lock. Example: unlock"},
	{CloseStep, false, 0, false, false, []string{"within", "cancel"},
		"Closes the client and so ends those of its goroutines that wait for a lock. Only protocol redlock can. Example: close"},
	{NewClientStep, false, 0, false, false, nil,
		"Makes another client in the place of the one before, over the same nodes. Locks that the one before has granted stay held. Example: new-client"},
}

// needsLength says that a step of this kind is nothing without a length.
func (x *stepShape) needsLength() bool { return x.length && x.fallback == 0 }

// keys are those of StepOn that a step of this kind can have.
func (x *stepShape) keys() (keys []string) {
	if x.resource {
		keys = append(keys, "resource")
	}
	if x.length {
		keys = append(keys, "for")
	}
	return append(keys, x.calling...)
}

// shape is the entry of stepKinds.
func (k StepKind) shape() (shape stepShape, ok bool) {
	for _, x := range stepKinds {
		if x.kind == k {
			return x, true
		}
	}
	return shape, false
}

// takes says whether the step acquires a lock.
func (s *Step) takes() bool {
	return s.Kind == LockStep || s.Kind == TryLockStep || s.Kind.isOneCall()
}

// isOneCall says whether a step of this kind takes the lock, works and releases it in one call.
func (k StepKind) isOneCall() bool {
	return k == WithLockStep || k == WithAllStep
}

// needsLock says whether the step is about a lock that is held.
func (s *Step) needsLock() bool {
	shape, _ := s.Kind.shape()
	return shape.underLease
}

// reads and writes say what the step does to a resource, in this order if both.
func (s *Step) reads() bool { return s.Kind == ReadStep || s.Kind == UpdateStep }

func (s *Step) writes() bool {
	switch s.Kind {
	case WriteStep, WriteUncheckedStep, WriteBackStep, UpdateStep:
		return true
	}
	return false
}

// AsksReleased says whether the step asks a lock that was released, which an effect does not.
func (s *Step) AsksReleased() bool { return s.Released && !s.isEffect() }

// isEffect says whether the step reaches a resource, and so is on one only.
func (s *Step) isEffect() bool { return s.reads() || s.writes() || s.Kind == MarkStep }

// StepOn is a step that says more than its length or its resource.
type StepOn struct {
	// Resource is what the step is about: a name, or a list of names for one lock on all of them. Default: the item's
	// resource. Example: orders
	Resource Several `yaml:"resource"`
	// For is the length of the step, as in a step without a resource. Default: the step's own. Example: 5s
	For *time.Duration `yaml:"for"`

	Calling `yaml:",inline"`
}

// Several is one name, or a list of names.
type Several []string

// UnmarshalNode reads a name or a list of names.
func (names *Several) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	*names = nil
	if n.Kind != yaml.SequenceNode {
		var name string
		if d.Decode(n, &name) {
			*names = Several{name}
		}
		return
	}
	var list []string
	if !d.Decode(n, &list) {
		return
	}
	if len(list) == 0 {
		d.Errorf(n, "", nil, "an empty list: name a resource")
		return
	}
	for i, name := range list {
		if slices.Contains(list[:i], name) {
			d.Errorf(n.Content[i], name, nil, "is listed twice")
			return
		}
	}
	*names = list
}

// MarshalNode is the counterpart of UnmarshalNode.
func (names Several) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	if len(names) == 1 {
		return strictyaml.Text(names[0])
	}
	return e.Encode([]string(names), nil)
}

// UnmarshalNode reads a step: its name, or its name and what it is about as in "hold: 5s", "lock: invoices", "lock: [a, b]"
// and "lock: {resource: invoices, for: 5s, ttl: 3s}".
func (s *Step) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	var all []string
	for _, k := range stepKinds {
		all = append(all, string(k.kind))
	}
	word, body := "", (*yaml.Node)(nil)
	if n.Kind == yaml.MappingNode {
		var ok bool
		if word, body, ok = d.OneOf(n, all...); !ok {
			return
		}
	} else if !d.Decode(n, &word) {
		return
	}
	shape, ok := StepKind(word).shape()
	if !ok {
		d.Errorf(n, word, all, "no such step")
		return
	}
	s.Kind, s.For = shape.kind, shape.fallback
	hasLength := false
	switch {
	case body == nil:
	case body.Kind == yaml.MappingNode:
		hasLength = s.readLong(d, body, shape)
	case body.Kind == yaml.ScalarNode && isLength(body.Value):
		hasLength = true
		s.readLength(d, body, shape)
	case !shape.resource:
		d.Errorf(body, body.Value, nil, "%s takes no resource", word)
		return
	default:
		s.readResource(d, body)
	}
	if !hasLength && shape.needsLength() {
		d.Errorf(n, word, nil, `needs a length, as in "%s: 5s"`, word)
	}
}

// isLength says whether a scalar is meant for a length; no resource is called so.
func isLength(text string) bool { return !resourceName.MatchString(text) }

// readLong reads a step that says more than its length or its resource, and says whether it had a length.
func (s *Step) readLong(d *strictyaml.Decoder, n *yaml.Node, shape stepShape) bool {
	var both StepOn
	if !d.Decode(n, &both) {
		return true
	}
	both.Calling.read(d, n, shape)
	s.Calling = both.Calling
	if both.For != nil {
		s.readLength(d, child(n, "for"), shape)
	}
	switch {
	case len(n.Content) == 0:
		d.Errorf(n, "", nil, `says nothing: want "resource", "for" or another key`)
	case both.Resource != nil && !shape.resource:
		d.Errorf(child(n, "resource"), "", nil, "%s takes no resource", shape.kind)
	case both.Resource != nil:
		s.readResource(d, child(n, "resource"))
	}
	return both.For != nil
}

func (s *Step) readLength(d *strictyaml.Decoder, n *yaml.Node, shape stepShape) {
	switch {
	case !shape.length:
		d.Errorf(n, string(shape.kind), nil, "takes no length")
	case d.Decode(n, &s.For) && s.For <= 0:
		d.Errorf(n, n.Value, nil, "must be positive")
	}
}

func (s *Step) readResource(d *strictyaml.Decoder, n *yaml.Node) {
	var names Several
	if !d.Decode(n, &names) {
		return
	}
	if s.Resource = names; len(names) > 1 && s.isEffect() {
		d.Errorf(n, "", nil, "%s is on one resource", s.Kind)
	}
}

// MarshalNode is the counterpart of UnmarshalNode.
func (s Step) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	word := strictyaml.Text(string(s.Kind))
	shape, _ := s.Kind.shape()
	hasLength := shape.length && (s.For != shape.fallback || s.For <= 0)
	var body *yaml.Node
	switch {
	case !s.isUsual():
		long := StepOn{Resource: s.Resource, Calling: s.Calling}
		if hasLength {
			long.For = &s.For
		}
		body = e.Encode(long, StepOn{})
	case s.Resource == nil && !hasLength:
		return word
	case s.Resource == nil:
		body = e.Encode(s.For, nil)
	case !hasLength:
		body = e.Encode(Several(s.Resource), nil)
	default:
		body = e.Encode(StepOn{Resource: s.Resource, For: &s.For}, StepOn{})
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{word, body}}
}
