package sim

import (
	"fmt"
	"redlocksim/internal/rediscmd"
	"slices"
	"strconv"
	"strings"
	"time"
)

// replication is a node's part in a group of a master and its asynchronous replicas, as Redis replicates: the master
// answers its clients first and tells the replicas afterwards. The zero replication is a node alone.
//
// A change travels as the whole keyspace, over a link from the master to the replica, and the reply is the replica's
// acknowledgement. What has not arrived when the master stops is lost with the master's buffers.
type replication struct {
	feeds  []*feed // to each other node of the group
	master *Server // whom the node follows; nil if it is a master

	life      int      // how many times the node has stopped
	successor *Server  // who was promoted in its place: what it follows when it restarts
	known     []Record // what it knew after the last command
	offset    uint64   // how many changes the node has made, or has learned of
	waits     []*wait
}

// feed is what a master keeps of one of its replicas.
type feed struct {
	replica *Server
	link    *Link
	acked   uint64 // the last offset that the replica has acknowledged
	sent    uint64 // how many messages there have been
	watched bool   // whether a message is sent again if nothing is acknowledged
}

// resendAfter is when a replica that has not acknowledged is sent everything again. Replicas of a redis-server
// acknowledge once a second, and connect again if they are cut off.
const resendAfter = time.Second

// replicate makes the replicas of a node, and the links among them.
func (w *World) replicate(master *Server, names []string, persistence Persistence, latency Latency) {
	group := []*Server{master}
	for _, name := range names {
		s := &Server{Process: w.Kernel.newProcess(name), persistence: persistence}
		s.memory = w.backend.Memory(s)
		s.replication.master = master
		w.Replicas = append(w.Replicas, s)
		group = append(group, s)
	}
	for _, from := range group {
		for _, to := range group {
			if from == to || len(group) == 1 {
				continue
			}
			l := w.Network.connect(from.Process, to.Process, latency, func(x *Exchange) { x.end.(*update).arrive() }, func() presence { return to.state })
			to.links = append(to.links, l)
			from.replication.feeds = append(from.replication.feeds, &feed{replica: to, link: l})
		}
	}
}

// update is a change on its way to a replica: all that the master knew after it.
type update struct {
	Exchange
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
		u.to.k.look()
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
	f.link.Open(&u.Exchange, s.k.Draw("replication").WithString(s.name).WithString(f.replica.name).With(f.sent), u)
	if f.watched {
		return
	}
	f.watched = true
	s.after(resendAfter, func() {
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
func (f *feed) reaches() bool { return f.link.request.cuts == 0 && f.link.reply.cuts == 0 }

// Promote makes a replica a master. The other replicas of its group follow it, but for those that a partition keeps from
// it; a node that is a master goes on being one, and follows it only after its next restart. What the clients address to node goes to it from now on.
func (w *World) Promote(node, replica *Server, clients []*Process) error {
	r := &replica.replication
	switch {
	case !replica.Up():
		return fmt.Errorf("sim: promote: node %s is down", replica.name)
	case r.master == nil:
		return fmt.Errorf("sim: promote: node %s is a master already", replica.name)
	}
	r.master = nil
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
	for _, c := range clients {
		w.Network.Link(c.name, node.name).leads = w.Network.Link(c.name, replica.name)
	}
	w.Kernel.look()
	return nil
}

// Serving is the node that a client's requests to node go to: after a failover, another.
func (w *World) Serving(client *Process, node string) string {
	if l := w.Network.Link(client.name, node); l.leads != nil {
		return l.leads.server.name
	}
	return node
}

// Asking is the client's end of an exchange with a node that has replicas or is one: the node itself answers what its
// memory knows nothing of.
type Asking interface {
	Client
	// Command is the command that is asked and its arguments; for a script, at least EVAL or EVALSHA.
	Command() []string
	// Answer sets the reply, an int64 or a ServerError.
	Answer(value any)
}

// ErrReadOnly is what a replica answers to a command that writes.
const ErrReadOnly = rediscmd.ServerError("READONLY You can't write against a read only replica.")

// readers are the commands that a replica carries out. It refuses scripts as a whole, where redis-server would run them
// up to their first write: those of locks write, unless they have nothing to do.
var readers = []string{"GET", "EXISTS", "PTTL", "PING", "HEXISTS", "HGET"}

// answers has the node answer WAIT, and refuse to write if it is a replica.
func (s *Server) answers(x *Exchange) bool {
	end, ok := x.end.(Asking)
	if !ok {
		return false
	}
	command := end.Command()
	name := strings.ToUpper(command[0])
	switch {
	case name == "WAIT":
		s.wait(x, end, command[1:])
	case s.replication.master != nil && !slices.Contains(readers, name):
		end.Answer(ErrReadOnly)
		x.Reply()
	default:
		return false
	}
	return true
}

// wait is a WAIT that has not been answered.
type wait struct {
	exchange *Exchange
	end      Asking
	replicas int
	offset   uint64
	timer    *timer
}

// wait answers WAIT replicas milliseconds: with the number of replicas that know all that the node knows now, once these
// are enough or the time is up. redis-server asks that of the writes of the connection only.
func (s *Server) wait(x *Exchange, end Asking, args []string) {
	r := &s.replication
	refuse := func(text string) {
		end.Answer(rediscmd.ServerError(text))
		x.Reply()
	}
	if r.master != nil {
		refuse("ERR WAIT cannot be used with replica instances.")
		return
	}
	if len(args) != 2 {
		refuse("ERR wrong number of arguments for 'wait' command")
		return
	}
	replicas, err := strconv.Atoi(args[0])
	millis, err2 := strconv.Atoi(args[1])
	if err != nil || err2 != nil || millis <= 0 {
		refuse("ERR value is not an integer or out of range")
		return
	}
	w := &wait{exchange: x, end: end, replicas: replicas, offset: r.offset}
	life := r.life
	w.timer = s.after(time.Duration(millis)*time.Millisecond, func() {
		if i := slices.Index(r.waits, w); i >= 0 && life == r.life {
			r.waits = slices.Delete(r.waits, i, i+1)
			s.answer(w)
		}
	})
	r.waits = append(r.waits, w)
	s.acknowledged()
}

// acknowledged answers every WAIT for which enough replicas have acknowledged.
func (s *Server) acknowledged() {
	r := &s.replication
	r.waits = slices.DeleteFunc(r.waits, func(w *wait) bool {
		if s.countAcked(w.offset) < w.replicas {
			return false
		}
		w.timer.Stop()
		s.answer(w)
		return true
	})
}

func (s *Server) answer(w *wait) {
	w.end.Answer(int64(s.countAcked(w.offset)))
	w.exchange.Reply()
}

func (s *Server) countAcked(offset uint64) int {
	n := 0
	for _, f := range s.replication.feeds {
		if f.replica.replication.master == s && f.acked >= offset {
			n++
		}
	}
	return n
}
