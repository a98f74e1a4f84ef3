package redis

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
)

// replication is a node's part in a group of a master and its asynchronous replicas, as Redis replicates: the master
// answers its clients first and tells the replicas afterwards. The zero replication is a node alone.
//
// A change travels as the whole keyspace, over a link from the master to the replica, and the reply is the replica's
// acknowledgement. What has not arrived when the master stops is lost with the master's buffers.
type replication struct {
	feeds       []*feed // to each other node of the group
	master      *Server // whom the node follows; nil if it is a master
	neverMaster bool    // it has followed another since the run began

	life      int      // how many times the node has stopped
	successor *Server  // who was promoted in its place: what it follows when it restarts
	known     []Record // what it knew after the last command
	offset    uint64   // how many changes the node has made, or has learned of
	waits     []*wait  // in the order in which they came
}

// IsReplica says whether the node follows a master.
func (s *Server) IsReplica() bool { return s.replication.master != nil }

// Group is this node, with its replicas, or with its master and that one's other replicas.
func (s *Server) Group() []*Server {
	all := []*Server{s}
	for _, f := range s.replication.feeds {
		all = append(all, f.replica)
	}
	return all
}

// NeverMaster says whether the node has been a replica since the run began. No client was ever told to address it; one that
// addresses a replica which was a master once may not have heard of the failover yet.
func (s *Server) NeverMaster() bool { return s.replication.neverMaster }

// feed is what a master keeps of one of its replicas.
type feed struct {
	replica *Server
	link    *network.Link
	acked   uint64 // the last offset that the replica has acknowledged
	sent    uint64 // how many messages there have been
	watched bool   // whether a message is sent again if nothing is acknowledged
}

// resendAfter is when a replica that has not acknowledged is sent everything again. Replicas of a redis-server
// acknowledge once a second, and connect again if they are cut off.
const resendAfter = time.Second

// update is a change on its way to a replica: all that the master knew after it.
type update struct {
	network.Exchange
	from, to *Server
	feed     *feed
	life     int
	offset   uint64
	records  []Record
}

// current says whether the update still counts: its sender has not stopped since, and is who the replica follows.
func (u *update) current() bool {
	return u.from.replication.life == u.life && u.to.replication.master == u.from
}

// arrive has the replica take the update, unless a later one has overtaken it.
func (u *update) arrive() {
	r := &u.to.replication
	if !u.current() {
		return
	}
	if u.offset > r.offset {
		u.to.BeforeWrite()
		u.to.memory.Load(u.records)
		r.offset, r.known = u.offset, u.records
		u.to.isOther()
	}
	u.Reply()
}

// Purpose implements Purposeful.
func (*update) Purpose() string { return "replication" }

// Answered implements Client: the replica has acknowledged.
func (u *update) Answered() {
	if u.current() {
		u.feed.acked = max(u.feed.acked, u.offset)
		u.from.acknowledged()
	}
}

// Broken implements Client. The update is sent again later.
func (*update) Broken() {}

// send tells a replica all that the node knows.
func (s *Server) send(f *feed) {
	r := &s.replication
	f.sent++
	u := &update{from: s, to: f.replica, feed: f, life: r.life, offset: r.offset, records: r.known}
	f.link.Open(&u.Exchange, s.Kernel().Draw("replication").WithString(s.Name()).WithString(f.replica.Name()).With(f.sent), u)
	if f.watched {
		return
	}
	f.watched = true
	s.ProgramClock().AfterFunc(resendAfter, func() {
		f.watched = false
		if u.life == r.life && s.Up() && f.replica.replication.master == s && f.acked < r.offset {
			s.send(f)
		}
	})
}

// changed tells the replicas what the last command changed.
func (s *Server) changed() {
	if s.replication.master == nil {
		if now := s.memory.Dump(); !slices.Equal(now, s.replication.known) {
			s.announce(now)
		}
	}
}

// announce makes what the node knows the next change.
func (s *Server) announce(known []Record) {
	r := &s.replication
	r.known = known
	r.offset++
	for _, f := range r.feeds {
		if f.replica.replication.master == s {
			s.send(f)
		}
	}
}

// follow makes a node the replica of another: it forgets what it knew when it hears from that one.
func (s *Server) follow(master *Server) {
	s.replication.master, s.replication.offset, s.replication.waits = master, 0, nil
	for _, f := range master.replication.feeds {
		if f.replica == s && master.Up() {
			f.acked = 0
			master.send(f)
		}
	}
}

// stopped ends what the node had under way with its replicas.
func (s *Server) stopped() {
	s.replication.life++
	s.replication.waits = nil
	for _, f := range s.replication.feeds {
		f.watched = false
	}
}

// restarted has a master tell its replicas what it came back with, and a replica ask for what it missed. A node in whose
// place another was promoted comes back as a replica of that one, which is what Sentinel makes of it.
func (s *Server) restarted() {
	r := &s.replication
	switch {
	case len(r.feeds) == 0:
	case r.successor != nil:
		s.follow(r.successor)
		r.successor = nil
	case r.master != nil:
		s.follow(r.master)
	default:
		s.announce(s.memory.Dump())
	}
}

// Missing is what another of its group knew after its last command, and this node does not know, or not in this way.
func (s *Server) Missing(master *Server) []Record {
	has := s.Dump()
	now := master.Clock().Wall().Milliseconds()
	var missing []Record
	for _, r := range master.replication.known {
		if (r.ExpiresAt == 0 || now <= r.ExpiresAt) && !slices.Contains(has, r) {
			missing = append(missing, r)
		}
	}
	return missing
}

// reaches says whether no partition keeps a master from its replica.
func (f *feed) reaches() bool {
	there, _, _ := f.link.Obstacles(network.Requests)
	back, _, _ := f.link.Obstacles(network.Replies)
	return !there && !back
}

// Promote makes a replica a master. The other replicas of its group follow it, but for those that a partition keeps from
// it; a node that is a master goes on being one, and follows it only after its next restart.
func (d *Deployment) Promote(replica *Server) error {
	r := &replica.replication
	switch {
	case !replica.Up():
		return fmt.Errorf("sim: promote: node %s is down", replica.Name())
	case r.master == nil:
		return fmt.Errorf("sim: promote: node %s is a master already", replica.Name())
	}
	r.master, r.neverMaster = nil, false
	for _, f := range r.feeds {
		if other := &f.replica.replication; other.master == nil {
			other.successor = replica
		}
	}
	replica.announce(replica.memory.Dump())
	for _, f := range r.feeds {
		if f.replica.replication.master != nil && f.reaches() {
			f.replica.follow(replica)
		}
	}
	replica.isOther()
	return nil
}

// Lead has what a client addresses to a node go to its replica from now on.
func (d *Deployment) Lead(client *kernel.Process, node, replica string) {
	d.network.Link(client.Name(), node).Redirect(d.network.Link(client.Name(), replica))
}

// MasterOf is the node that a client's requests to node go to: after a failover, another.
func (d *Deployment) MasterOf(client *kernel.Process, node string) string {
	return d.network.Link(client.Name(), node).LeadsTo().Name()
}
