package scenarios

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios/protocols"
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

// The kinds of steps. What each does is said in its row of the table.
const (
	LockStep           StepKind = "lock"
	TryLockStep        StepKind = "try-lock"
	HoldStep           StepKind = "hold"
	SleepStep          StepKind = "sleep"
	LingerStep         StepKind = "linger"
	WriteStep          StepKind = "write"
	WriteUncheckedStep StepKind = "write-unchecked"
	UpdateStep         StepKind = "update"
	ReadStep           StepKind = "read"
	WriteBackStep      StepKind = "write-back"
	MarkStep           StepKind = "mark"
	ExtendStep         StepKind = "extend"
	RenewStep          StepKind = "renew"
	WithLockStep       StepKind = "with-lock"
	WithAllStep        StepKind = "with-all"
	PrepareStep        StepKind = "prepare"
	UnlockStep         StepKind = "unlock"
	CloseStep          StepKind = "close"
	NewClientStep      StepKind = "new-client"
)

// aspects are what a kind of step is, as far as others ask.
type aspects uint8

const (
	takes     aspects = 1 << iota // it acquires a lock
	inOneCall                     // it takes the lock, works and releases it in one call
	reads                         // it reads the resource
	writes                        // it writes to the resource, after what it reads
	marks                         // it sets the resource's mark
	effect    = reads | writes | marks
)

// stepShape is all that there is to know of a kind of step.
type stepShape struct {
	kind       StepKind
	length     bool          // it can have one
	fallback   time.Duration // what it is without; 0: it must be given
	underLease bool          // it needs a lock
	resource   bool          // it can name one
	is         aspects
	calling    string // the keys of Calling that it can have
	do         func(*program, *Step) (goOn bool)
	text       string // what the client does, for schemas and the documentation
}

// stepKinds is the table of all kinds, which its own file fills in: what they do asks for their rows.
var stepKinds []stepShape

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
	return append(keys, strings.Fields(x.calling)...)
}

// shape is the row of a kind, one without a kind if there is none.
func (k StepKind) shape() *stepShape {
	for i := range stepKinds {
		if stepKinds[i].kind == k {
			return &stepKinds[i]
		}
	}
	return &stepShape{}
}

// is says whether any of the aspects is the step's.
func (s *Step) is(any aspects) bool { return s.Kind.shape().is&any != 0 }

// AsksReleased says whether the step asks a lock that was released, which an effect does not.
func (s *Step) AsksReleased() bool { return s.Released && !s.is(effect) }

// Faster is the step with times that are as many times shorter.
func (s Step) Faster(times int) Step {
	if s.For /= time.Duration(times); s.Kind == ExtendStep {
		s.For = s.For.Round(time.Millisecond) // as Redis counts a TTL
	}
	protocols.Faster(&s.Calling, times)
	return s
}

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
	shape := StepKind(word).shape()
	if shape.kind == "" {
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
func (s *Step) readLong(d *strictyaml.Decoder, n *yaml.Node, shape *stepShape) bool {
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

func (s *Step) readLength(d *strictyaml.Decoder, n *yaml.Node, shape *stepShape) {
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
	if s.Resource = names; len(names) > 1 && s.is(effect) {
		d.Errorf(n, "", nil, "%s is on one resource", s.Kind)
	}
}

// MarshalNode is the counterpart of UnmarshalNode.
func (s Step) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	word := strictyaml.Text(string(s.Kind))
	shape := s.Kind.shape()
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

// writes says whether a client writes to the resource.
func (s *Scenario) writes() bool {
	return s.hasStep(func(step *Step) bool { return step.is(writes | inOneCall) })
}

// hasStep says whether there is such a step.
func (s *Scenario) hasStep(is func(*Step) bool) bool {
	return slices.ContainsFunc(s.Timeline, func(item Item) bool {
		return slices.ContainsFunc(item.Do, func(step Step) bool { return is(&step) })
	})
}
