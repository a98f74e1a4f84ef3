package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"redlocksim/faults"
	"redlocksim/internal/strictyaml"
	"redlocksim/redlock"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// Limits on a scenario, so that a mistake in a file does not fill the memory.
const (
	maxClients = 1000
	maxCases   = 100
	maxItems   = 10_000
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
	c.snapshots()
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
