// Package consensus is a lock service on Raft: locks that belong to sessions, sessions that end when their client is not
// heard of for their time to live, and a revision that grows with every change: what etcd and ZooKeeper offer.
//
// The nodes of the world run it in the place of Redis, on go.etcd.io/raft/v3. Its messages go over the simulated network,
// its ticks are simulated timers, and an election is started by a simulated timer through Campaign: raft's own
// election time-outs are drawn from a source that cannot be seeded, and are set so that they never fire.
//
// Every request goes through the log, so that a leader that has been replaced and does not know it answers none. Time
// decides one thing only, when a session ends: the leader counts on its monotonic clock, from when it received the last
// request of the session or, if it became leader later, from then. What it decides goes through the log too.
package consensus

import (
	"time"

	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/service"
)

// Kind is a kind of request.
type Kind uint8

const (
	// Acquire asks for a lock under a session, which it opens.
	Acquire Kind = iota + 1
	// KeepAlive says that the session's client is still there.
	KeepAlive
	// Close ends the session, and with it gives its lock and its place in the queue back.
	Close
	// expire is a leader's Close of a session that it has not heard of.
	expire
)

// Request is a request to the service.
type Request struct {
	Kind     Kind
	Session  string
	Resource string        `json:",omitempty"`
	TTL      time.Duration `json:",omitempty"`
	// Queue says that an Acquire that finds the lock taken waits for its turn: asking again tells whether it has come.
	Queue bool `json:",omitempty"`
}

// Answer is what came of a request.
type Answer struct {
	Status Status
	// Revision is when the lock was granted, if it is.
	Revision int64
	// Leader is which node to ask instead, −1 if that is not known.
	Leader int
}

// Status is an answer in short.
type Status uint8

const (
	// Done: the lock is granted, the session kept or closed.
	Done Status = iota + 1
	// Taken: another session has the lock.
	Taken
	// Gone: the session has ended.
	Gone
	// NotLeader: ask another node.
	NotLeader
)

// The service's times. They are etcd's defaults: 100 ms between heartbeats, an election after 1 s.
const (
	heartbeat      = 100 * time.Millisecond
	electionMin    = time.Second
	electionSpread = time.Second
)

// Service is the service in a world.
type Service struct {
	world *sim.World
	nodes []*node
}

// Of is the service of the world. It starts when it is first asked for, on all nodes; the first node stands for election
// at once, so that runs do not begin with a wait.
func Of(w *sim.World) *Service {
	return sim.Shared(w, "consensus", func() *Service {
		s := &Service{world: w}
		for i, server := range w.Servers {
			s.nodes = append(s.nodes, newNode(s, i, server))
		}
		for _, n := range s.nodes {
			n.connect()
			n.Started()
		}
		s.nodes[0].elect(0)
		return s
	})
}

// Ask sends a request to a node and waits for the answer, until the client's lock clock reads deadline. The errors are
// those of service.Ask; the request may have been carried out then, or may still be.
func (s *Service) Ask(client *kernel.Process, nodeIndex int, key kernel.Key, deadline time.Time, r Request) (Answer, error) {
	n := s.nodes[nodeIndex]
	link := s.world.Network.Link(client.Name(), n.server.Name())
	return service.Ask(link, key, deadline, func(c *service.Call[Answer]) { n.take(r, c) })
}

// Has says whether a session is under way, by what any node has applied so far: one that has ended never begins again.
func (s *Service) Has(session string) bool {
	isOpen := false
	for _, n := range s.nodes {
		if n.state.ended[session] {
			return false
		}
		isOpen = isOpen || n.state.sessions[session] != nil
	}
	return isOpen
}

// Size is the number of nodes.
func (s *Service) Size() int { return len(s.nodes) }
