package scenarios

import (
	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

// Reached is something that must happen in a run for the run to test what it is meant to: that client 2 asks while client 1
// believes, that a fault hits between two steps, that a write is sent after the expiry. Without it the run is not tested,
// whatever else it shows.
type Reached struct {
	// Moment is the event; Nth is how many such events there must be at the least.
	faults.Moment `yaml:",inline"`
	// Believing is a client that must believe in its lock at the event. Default: not set. Example: client-1
	Believing string `yaml:"believing"`
	// Past is a client that must no longer believe at the event: its belief has ended, and its last lock has not been
	// released. Default: not set. Example: client-1
	Past string `yaml:"past"`
	// After is an event that must have happened by then, as often as its nth says. Default: not set. Example: {event: kill}
	After *faults.Moment `yaml:"after"`
	// Before is an event that must happen only later, as often as its nth says. Default: not set. Example: {event: heal}
	Before *faults.Moment `yaml:"before"`
}

func (r Reached) String() string {
	text := r.Moment.String()
	if r.Believing != "" {
		text += " while " + r.Believing + " believes"
	}
	if r.Past != "" {
		text += " after the belief of " + r.Past + " has ended"
	}
	if r.After != nil {
		text += " after " + r.After.String()
	}
	if r.Before != nil {
		text += " before " + r.Before.String()
	}
	return text
}

// reached looks for what can never be reached.
func (c *check) reached() {
	list := child(child(c.n, "expect"), "reached")
	for i, r := range c.s.Expect.Reached {
		n := list
		if i < len(list.Content) {
			n = list.Content[i]
		}
		c.recorded(n, &r.Moment)
		for _, at := range []struct {
			key string
			m   *faults.Moment
		}{{"after", r.After}, {"before", r.Before}} {
			if at.m != nil {
				c.recorded(child(n, at.key), at.m)
			}
		}
		for _, who := range []struct{ key, client string }{{"believing", r.Believing}, {"past", r.Past}} {
			if who.client != "" {
				c.known(child(n, who.key), "client", who.client, c.s.Clients)
			}
		}
	}
}

// recorded looks whether a moment is an event that the history can have.
func (c *check) recorded(n *yaml.Node, m *faults.Moment) {
	c.moment(n, m)
	if !m.IsRecorded() {
		c.d.Errorf(child(n, "event"), m.Event, nil, "is a moment for things to happen at, and no event of a history")
	}
}

// moment looks for an event that there is not.
func (c *check) moment(n *yaml.Node, m *faults.Moment) {
	names := c.s.Processes()
	c.known(child(n, "event"), "event", m.Event, c.events())
	if m.Client != "" {
		c.known(child(n, "client"), "client", m.Client, names.Clients)
	}
	if m.Node != "" {
		c.known(child(n, "node"), "node", m.Node, names.Nodes)
	}
	if m.Lead > 0 && m.Event != faults.NodesFree {
		c.d.Errorf(child(n, "lead"), m.Lead.String(), nil, "goes with %s only", faults.NodesFree)
	}
}

// events are the names of all events that the timeline can wait for.
func (c *check) events() []string {
	p, _ := protocols.Find(c.s.Lock.Protocol)
	events := append(faults.EventNames(), p.Steps...)
	if c.s.Lock.Capabilities().Service == "" {
		events = append(events, faults.CommandMoments()...)
	}
	return events
}
