package scenarios

import (
	"cmp"
	"time"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
)

// Item is one entry of a timeline: at a moment, a client starts to do something or a fault is injected.
type Item struct {
	When faults.Trigger
	// Client does the steps of Do, Repeat times, in each of so many Goroutines of its own.
	Client string
	// Resource is what its locks are on that do not name a resource themselves: several names for one lock on all of them.
	Resource []string
	Do       []Step
	Repeat   int
	// Goroutines is 0 for a single one.
	Goroutines int
	// Fault is injected, if it is not nil. Kind is its name.
	Kind  string
	Fault faults.Fault

	node *yaml.Node // where it is written
	body *yaml.Node // where the fault is
}

// UnmarshalNode reads an item.
func (i *Item) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	raw := once
	if !d.Decode(n, &raw) {
		return
	}
	moments := 0
	for _, given := range []bool{raw.At != nil, raw.After != nil, raw.Every != nil} {
		if given {
			moments++
		}
	}
	if raw.Every != nil {
		raw.After = raw.Every
	}
	*i = Item{When: faults.Trigger{After: raw.After, Every: raw.Every != nil, Plus: raw.Plus}, Client: raw.Client, Resource: raw.Resource, Do: raw.Do, Repeat: raw.Repeat, node: n}
	switch {
	case moments != 1:
		d.Errorf(n, "", nil, `an item says when, with one of "at", "after" and "every"`)
	case raw.Every != nil && raw.Fault == nil:
		d.Errorf(child(n, "every"), "every", nil, "is for faults only")
	case raw.At != nil && raw.Plus != 0:
		d.Errorf(child(n, "plus"), "plus", nil, `goes with "after" and "every" only`)
	case raw.Fault != nil && (raw.Do != nil || raw.Client != "" || raw.Resource != nil):
		d.Errorf(n, "", nil, `an item is either a fault or something that a client does`)
	case raw.Fault == nil && (len(raw.Do) == 0 || raw.Client == ""):
		d.Errorf(n, "", nil, `an item has either "fault", or "client" and "do"`)
	}
	if raw.At != nil {
		i.When.At = *raw.At
	}
	if raw.Goroutines > 1 {
		i.Goroutines = raw.Goroutines
	}
	if raw.Fault != nil {
		i.Kind, i.Fault, i.body = raw.Fault.kind, raw.Fault.fault, raw.Fault.body
	}
}

// written is an item of the timeline: something that a client does or a fault, and when. Each item has one of at, after and
// every, and either client and do, or fault.
type written struct {
	// At is the true time at which it happens. Example: 500ms
	At *time.Duration `yaml:"at" range:"0s.."`
	// After is the event after which it happens once. Example: {client: client-1, event: acquire-done}
	After *faults.Moment `yaml:"after"`
	// Every is the event after which a fault is injected each time, from its nth on. Example: {client: client-2, event:
	// acquire-called}
	Every *faults.Moment `yaml:"every"`
	// Plus is how long after the event it happens. Default: 0s. Example: 10ms
	Plus time.Duration `yaml:"plus" range:"0s.."`
	// Client is the client that does it. Example: client-1
	Client string `yaml:"client"`
	// Resource is what steps lock that do not name a resource: a name, or a list of names for one lock on all of them.
	// Default: the only resource of the scenario. Example: [orders, stock]
	Resource Several `yaml:"resource"`
	// Do is what the client does, step by step. Example: [lock: 10s, write, hold: 100ms, unlock]
	Do []Step `yaml:"do"`
	// Repeat is how often the client does the steps, one time after another. Default: 1. Example: 100
	Repeat int `yaml:"repeat" range:"1..1000000"`
	// Goroutines is how many goroutines of the client do the steps in parallel; repeat counts for each of them. Default: 1.
	// Example: 8
	Goroutines int `yaml:"goroutines" range:"1..10000"`
	// Fault is the fault that is injected. Example: {kill: {node: C, restart-after: 1s}}
	Fault *fault `yaml:"fault"`
}

// once is what an item is before anything is said of it.
var once = written{Repeat: 1, Goroutines: 1}

// MarshalNode is the counterpart of UnmarshalNode.
func (i Item) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	w := written{Client: i.Client, Resource: i.Resource, Do: i.Do, Repeat: max(i.Repeat, 1), Goroutines: max(i.Goroutines, 1), Plus: i.When.Plus}
	switch {
	case i.When.After == nil:
		w.At = &i.When.At
	case i.When.Every:
		w.Every = i.When.After
	default:
		w.After = i.When.After
	}
	if i.Fault != nil {
		w.Fault = &fault{kind: i.Kind, fault: i.Fault}
	}
	return e.Encode(w, once)
}

// fault is a mapping with one key, the fault's name.
type fault struct {
	kind  string
	fault faults.Fault
	body  *yaml.Node
}

func (f *fault) UnmarshalNode(d *strictyaml.Decoder, n *yaml.Node) {
	var names []string
	for _, k := range faults.Vocabulary() {
		names = append(names, k.Name)
	}
	kind, body, ok := d.OneOf(n, names...)
	if !ok {
		return
	}
	k, _ := faults.Find(kind) // it is one of them
	f.kind, f.fault, f.body = kind, k.New(), body
	d.Decode(body, f.fault)
}

// MarshalNode is the counterpart of UnmarshalNode.
func (f fault) MarshalNode(e *strictyaml.Encoder) *yaml.Node {
	k, ok := faults.Find(f.kind)
	if !ok {
		e.Errorf("no fault is named %q", f.kind)
		return strictyaml.Text("")
	}
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{strictyaml.Text(f.kind), e.Encode(f.fault, k.New())}}
}

// child is the value of a key, or n itself if it is not there.
func child(n *yaml.Node, key string) *yaml.Node { return cmp.Or(strictyaml.At(n, key), n) }
