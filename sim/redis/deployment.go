// Package redis is the Redis nodes of a run: what every tier's node does when it is stopped and started again, what it has on
// its disk, how its replicas follow it, and how it sends what is published to those who subscribed.
//
// A [Tier] carries out the commands. Start with [Deploy] and [Deployment.Connect].
package redis

import (
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/trace"
)

// Config is which nodes there are.
type Config struct {
	// Nodes names the nodes; Persistence is what all of them, and their replicas, write to disk, and SnapshotEvery how old a
	// snapshot is at least before there is another.
	Nodes         []string
	Persistence   Persistence
	SnapshotEvery time.Duration
	// Forbidden is a command that the last of the Nodes does not have, or Scripts; empty if it has all.
	Forbidden string
	// Software is what a node or replica runs, by its name; that of all others is Redis 7.0.
	Software map[string]Software
	// Replicas names the asynchronous replicas of nodes, by the node's name.
	Replicas map[string][]string
	// Latency is the delay of messages in each direction, between nodes and between them and their clients.
	Latency network.Latency
}

// Deployment is the nodes of a run, with their replicas.
type Deployment struct {
	Servers []*Server
	// Replicas are those of all Servers; no client knows of them.
	Replicas []*Server

	kernel  *kernel.Kernel
	network *network.Network
	tier    Tier
	latency network.Latency
	counts  Counts
	nodes   map[*kernel.Process][]driver.Node
	conns   map[*kernel.Process][]Conn
	handled *network.Exchange // the request for which a node does something
	// listening counts on how many nodes libraries listen.
	listening map[listener]int
	executed  *trace.Kind[Executed]
	told      *trace.Kind[Told]
	notified  *trace.Kind[Notified]
}

// Deploy makes the nodes.
func Deploy(k *kernel.Kernel, n *network.Network, tier Tier, cfg Config) *Deployment {
	d := &Deployment{kernel: k, network: n, tier: tier, latency: cfg.Latency, listening: map[listener]int{},
		nodes: map[*kernel.Process][]driver.Node{}, conns: map[*kernel.Process][]Conn{},
		executed: trace.Of[Executed](k.Events), told: trace.Of[Told](k.Events), notified: trace.Of[Notified](k.Events)}
	for _, name := range cfg.Nodes {
		d.Servers = append(d.Servers, d.newServer(name, cfg))
	}
	if n := len(d.Servers); n > 0 {
		d.Servers[n-1].forbidden = cfg.Forbidden
	}
	for _, s := range d.Servers {
		d.replicate(s, cfg)
	}
	for _, s := range d.All() {
		s.software = cfg.Software[s.Name()]
	}
	applied, asked := trace.Of[*Applied](k.Events), trace.Of[*Asked](k.Events)
	applied.WhenRead(func() { d.makeApplied(applied) })
	asked.WhenRead(func() { makeAsked(k.Events, d.All(), asked) })
	return d
}

// replicate makes the replicas of a node, and the links among them.
func (d *Deployment) replicate(master *Server, cfg Config) {
	group := []*Server{master}
	for _, name := range cfg.Replicas[master.Name()] {
		s := d.newServer(name, cfg)
		s.replication.master, s.replication.neverMaster = master, true
		d.Replicas = append(d.Replicas, s)
		group = append(group, s)
	}
	for _, from := range group {
		for _, to := range group {
			if from == to {
				continue
			}
			l := d.ConnectNodes(from, to, func(x *network.Exchange) { x.Client().(*update).arrive() })
			from.replication.feeds = append(from.replication.feeds, &feed{replica: to, link: l})
		}
	}
}

// ConnectNodes makes a link from one node to another, whose requests are given to listener.
func (d *Deployment) ConnectNodes(from, to *Server, listener func(*network.Exchange)) *network.Link {
	l := d.network.Connect(from.Process, to.Process, d.latency, listener, to.Presence)
	to.links = append(to.links, l)
	return l
}

// Connect makes the links of a client to all nodes.
func (d *Deployment) Connect(client *kernel.Process) {
	var links []*network.Link
	for _, s := range d.All() {
		l := d.network.Connect(client, s.Process, d.latency, s.arrived, s.Presence)
		s.links = append(s.links, l)
		links = append(links, l)
	}
	d.open(client, links[:len(d.Servers)])
}

// Restarted opens the nodes for a client that was started again after a crash, and has its links.
func (d *Deployment) Restarted(client *kernel.Process) {
	links := make([]*network.Link, len(d.Servers))
	for i, s := range d.Servers {
		links[i] = d.network.Link(client.Name(), s.Name())
	}
	d.open(client, links)
}

// open makes what a client gives to redlock.New, of its links to the Servers.
func (d *Deployment) open(client *kernel.Process, links []*network.Link) {
	for _, n := range d.tier.Nodes(client, d.Servers, links) {
		d.nodes[client] = append(d.nodes[client], &counted{n, d, client})
	}
}

// Nodes is what a client gives to redlock.New.
func (d *Deployment) Nodes(client *kernel.Process) []driver.Node { return d.nodes[client] }

// Conns is a client's plain connections to all nodes, in their order.
func (d *Deployment) Conns(client *kernel.Process) []Conn {
	if d.conns[client] == nil {
		for _, s := range d.Servers {
			d.conns[client] = append(d.conns[client], d.tier.Conn(client, s, d.network.Link(client.Name(), s.Name())))
		}
	}
	return d.conns[client]
}

// All is the Servers and then the Replicas.
func (d *Deployment) All() []*Server {
	return append(d.Servers[:len(d.Servers):len(d.Servers)], d.Replicas...)
}

// Server finds a node, a replica too, by name; nil if there is none.
func (d *Deployment) Server(name string) *Server {
	for _, s := range d.All() {
		if s.Name() == name {
			return s
		}
	}
	return nil
}

// Close frees what the tier holds. The error says that something could not be freed.
func (d *Deployment) Close() error { return d.tier.Close() }

// Counts is what was counted so far.
func (d *Deployment) Counts() Counts { return d.counts }

// Subscribe asks a node to send the client what is published on a channel. key is as for Conn.Do.
func (d *Deployment) Subscribe(client *kernel.Process, node string, key kernel.Key, channel string) *Subscription {
	return d.Server(node).open(d.network.Link(client.Name(), node), key, channel)
}

func (d *Deployment) newServer(name string, cfg Config) *Server {
	s := &Server{Process: d.kernel.NewProcess(name, kernel.Monotonic), disk: disk{persistence: cfg.Persistence, every: cfg.SnapshotEvery},
		deployment: d}
	s.broker = newBroker(&d.counts)
	s.drawRunID()
	s.memory = d.tier.Memory(s)
	return s
}
