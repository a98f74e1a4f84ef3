package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// Limits on a scenario, so that a mistake in a file does not fill the memory.
const (
	maxClients = 1000
	maxCases   = 100
	maxItems   = 10_000
	// maxName bounds the name of a process or a resource, in bytes.
	maxName = 200
)

// check looks for what is wrong with a scenario that is well-formed.
type check struct {
	d *strictyaml.Decoder
	s *Scenario
	n *yaml.Node
}

func (c *check) all() {
	s := c.s
	c.oneLine("title", s.Title)
	c.oneLine("source", s.Source)
	c.oneLine("live", s.Live.Not)
	c.names(child(c.n, "clients"), s.Clients, maxClients, "client")
	c.nodes()
	for _, name := range s.Clients {
		if slices.Contains(s.Nodes.Names, name) {
			c.d.Errorf(child(c.n, "clients"), name, nil, "is the name of a client and of a node")
		}
	}
	c.resources()
	c.semaphores()
	c.liveness()
	c.reached()
	for _, g := range s.Expect.Grants {
		c.known(child(child(c.n, "expect"), "grants"), "client", g.Key, s.Clients)
	}
	items := child(c.n, "timeline")
	if len(s.Timeline) > maxItems {
		c.d.Errorf(items, "", nil, "%d items, at most %d are allowed", len(s.Timeline), maxItems)
		return
	}
	for i := range s.Timeline {
		c.item(&s.Timeline[i])
	}
}

// nodes looks at the nodes, and whether the lock can be had on so many.
func (c *check) nodes() {
	c.names(child(child(c.n, "nodes"), "names"), c.s.Nodes.Names, redlock.MaxNodes, "node")
	c.oneNode()
	c.replicas()
	c.forbidden()
	c.servers()
	c.onlyRedis()
	if n := len(c.s.Nodes.Names); n > 0 && n <= redlock.MaxNodes {
		c.lock()
	}
	c.budget()
}

// onlyRedis refuses what Redis nodes have, where a service of another kind runs on them.
func (c *check) onlyRedis() {
	service := c.s.Lock.Capabilities().Service
	if service == "" {
		return
	}
	for _, given := range []struct {
		key string
		is  bool
	}{{"persistence", c.s.Nodes.Persistence != redis.NoPersistence}, {"replicas", len(c.s.Nodes.Replicas) > 0},
		{"server", c.s.Nodes.Server != redis.Redis70}, {"servers", len(c.s.Nodes.Servers) > 0}} {
		if given.is {
			c.d.Errorf(child(child(c.n, "nodes"), given.key), given.key, nil, "is for Redis nodes, and protocol %s has a %s on them; leave it out:", c.s.Lock.Protocol, service)
		}
	}
}

// budget looks for bounds that nothing can keep to.
func (c *check) budget() {
	if rate := c.s.Budget.ClockRate; rate.PPB() < 0 || rate.PPB() > kernel.MaxRate {
		c.d.Errorf(child(child(c.n, "budget"), "clock-rate"), rate.String(), nil, "must be from 0%% to 50%%")
	}
}

// lock asks the protocol what it thinks of the settings.
func (c *check) lock() {
	if err := c.s.Lock.Check(len(c.s.Nodes.Names)); err != nil {
		c.d.Errorf(child(c.n, "lock"), "", nil, "%v", err)
		return
	}
	for _, name := range c.s.Resources {
		if err := c.s.Lock.CheckResource(name, len(c.s.Nodes.Names)); err != nil {
			c.d.Errorf(child(c.n, "resources"), name, nil, "%v", err)
		}
	}
}

func (c *check) item(i *Item) {
	names := c.s.Processes()
	if m := i.When.After; m != nil {
		n := child(i.node, "after")
		if i.When.Every {
			n = child(i.node, "every")
		}
		c.moment(n, m)
		if free := m.Event == faults.NodesFree; free && (m.Client == "" || i.When.Every || i.When.Plus != 0) {
			c.d.Errorf(n, m.Event, nil, `needs the client whose grant it is about, and goes neither with "every" nor with "plus"`)
		}
		if m.Resource != "" {
			c.named(child(n, "resource"), []string{m.Resource})
		}
	}
	if i.Fault == nil {
		c.known(child(i.node, "client"), "client", i.Client, names.Clients)
		c.named(child(i.node, "resource"), i.Resource)
		c.program(i, func(step int, word string, valid []string, format string, args ...any) {
			c.d.Errorf(child(i.node, "do").Content[step], word, valid, format, args...)
		})
		return
	}
	c.beforeHealing(i)
	for _, p := range faults.Check(i.Fault, names) {
		c.d.Errorf(fieldOf(i.body, p.Field), p.Word, p.Valid, "%s", p.Text)
	}
}

// fieldOf is where a field of a fault stands, "by" or "clients[1]".
func fieldOf(n *yaml.Node, field string) *yaml.Node {
	key, index, isList := strings.Cut(field, "[")
	n = child(n, key)
	var at int
	if _, err := fmt.Sscanf(index, "%d]", &at); isList && err == nil && n.Kind == yaml.SequenceNode && at < len(n.Content) {
		return n.Content[at]
	}
	return n
}

// known refuses a word that is none of those that there are.
func (c *check) known(n *yaml.Node, what, word string, valid []string) {
	if !slices.Contains(valid, word) {
		c.d.Errorf(n, word, valid, "there is no such %s", what)
	}
}

// names looks at the names of all clients, nodes or resources.
func (c *check) names(n *yaml.Node, names []string, limit int, what string) {
	if len(names) == 0 || len(names) > limit {
		c.d.Errorf(n, "", nil, "%d %ss, must be from 1 to %d", len(names), what, limit)
		return
	}
	for i, name := range names {
		at := n
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			at = n.Content[i]
		}
		switch {
		case name == "" || name == storage.Name:
			c.d.Errorf(n, name, nil, "cannot be the name of a %s", what)
		case len(name) > maxName:
			c.d.Errorf(at, "", nil, "the name of a %s has at most %d bytes", what, maxName)
		case strings.ContainsAny(name, "\n\t"):
			c.d.Errorf(at, name, nil, "the name of a %s is one line of printable text", what)
		case slices.Contains(names[:i], name):
			c.d.Errorf(n, name, nil, "there are two %ss of this name", what)
		}
	}
}

// oneLine looks at what is told as one line.
func (c *check) oneLine(key, text string) {
	if strings.ContainsAny(text, "\n\t") {
		c.d.Errorf(child(c.n, key), text, nil, "is one line of printable text")
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
