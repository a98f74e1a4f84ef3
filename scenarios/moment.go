package scenarios

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/scenarios/protocols"
)

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
	if events := c.events(); !slices.Contains(events, m.Event) {
		c.d.Errorf(child(n, "event"), m.Event, events, "there is no such event")
	}
	if m.Client != "" && !slices.Contains(names.Clients, m.Client) {
		c.d.Errorf(child(n, "client"), m.Client, names.Clients, "there is no such client")
	}
	if m.Node != "" && !slices.Contains(names.Nodes, m.Node) {
		c.d.Errorf(child(n, "node"), m.Node, names.Nodes, "there is no such node")
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
