// Package model is the tier that the searches run on: Redis semantics in Go, as far as lock protocols use them, with
// replies as plain callbacks.
package model

import (
	"cmp"
	"context"
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/sim"
)

// New returns the backend of the model tier.
func New() sim.Backend { return &backend{stores: map[*sim.Server]*store{}} }

type backend struct{ stores map[*sim.Server]*store }

func (b *backend) Memory(s *sim.Server) sim.Memory {
	st := &store{server: s, keys: map[string]record{}, known: map[*sim.Script]bool{}}
	b.stores[s] = st
	return st
}

func (b *backend) Node(client *sim.Process, s *sim.Server, l *sim.Link) redlock.Node {
	return &node{client: client, store: b.stores[s], link: l}
}

func (b *backend) Serve(s *sim.Server, x *sim.Exchange) {
	x.Client().(interface{ serve(*store) }).serve(s.Memory().(*store))
}

func (b *backend) Close() {}

// store is the memory of a node.
type store struct {
	server  *sim.Server
	keys    map[string]record
	scripts uint8 // the library's that the node knows, a bit each
	known   map[*sim.Script]bool
	gone    map[string]sim.True // when a key went last; nil unless somebody wants to know
	wiped   sim.True            // when all did
}

type record struct {
	value     string
	expiresAt int64    // as in sim.Record
	set       sim.True // when the lock was taken; only the library's own commands say so
}

// get finds a key that has not expired. Redis expires a key when its clock reads more than the deadline.
func (s *store) get(key string, now int64) (record, bool) {
	r, ok := s.keys[key]
	if ok && r.expiresAt != 0 && now > r.expiresAt {
		s.remove(key, s.runsOut(r))
		return record{}, false
	}
	return r, ok
}

// remove removes a key, which went at a true time.
func (s *store) remove(key string, at sim.True) {
	delete(s.keys, key)
	if s.gone != nil {
		s.gone[key] = at
	}
}

// runsOut is when a key expires or has expired.
func (s *store) runsOut(r record) sim.True {
	if r.expiresAt == 0 {
		return sim.Forever
	}
	return s.server.Clock().WhenWall(sim.Wall((r.expiresAt + 1) * int64(time.Millisecond)))
}

// WatchKeys implements sim.Watchful.
func (s *store) WatchKeys() { s.gone = map[string]sim.True{} }

// Freed implements sim.Watchful.
func (s *store) Freed(key string, since sim.True) sim.True {
	switch r, there := s.keys[key]; {
	case !there:
		return max(s.gone[key], s.wiped)
	case r.set > since:
		return r.set
	default:
		return s.runsOut(r)
	}
}

// apply does what a command asks, atomically.
func (s *store) apply(c *redlock.Command) redlock.Reply {
	s.server.BeforeWrite()
	now := s.server.Clock().Wall().Milliseconds()
	switch {
	case c.Op == redlock.OpPrepare:
		return s.prepare(c)
	case c.Op == redlock.OpAcquire && c.Conditions != nil:
		return s.vote(c, now)
	}
	reply := redlock.Reply{Outcome: s.plainly(c, now)}
	if reply.Outcome == redlock.Failed {
		reply.Err = errWrongType
	}
	return reply
}

// plainly does what needs no Conditions. It fails only at a key that is no string.
func (s *store) plainly(c *redlock.Command, now int64) redlock.Outcome {
	ttl := c.TTL.Milliseconds()
	switch c.Op {
	case redlock.OpAcquire:
		for _, key := range c.Keys { // up to the first that is taken: looking at a key removes it if it has expired
			if _, taken := s.get(key, now); taken {
				return redlock.Declined
			}
		}
		for _, key := range c.Keys {
			s.keys[key] = record{c.Value, now + ttl, s.server.Now()}
		}
	case redlock.OpExtend:
		for _, key := range c.Keys {
			switch r, ok := s.get(key, now); {
			case ok && !sim.IsString(r.value):
				return redlock.Failed
			case !ok || r.value != c.Value:
				return redlock.Declined
			}
		}
		for _, key := range c.Keys {
			if r := s.keys[key]; r.expiresAt < now+ttl { // a key without a TTL is given one, too
				s.keys[key] = record{r.value, now + ttl, r.set}
			}
		}
	case redlock.OpRelease:
		outcome := redlock.Accepted
		for _, key := range c.Keys {
			switch r, ok := s.get(key, now); {
			case ok && r.value == c.Value:
				s.remove(key, s.server.Now())
				if c.Wake {
					s.server.Publish(redlock.WakeChannel(key), "")
				}
			case ok && !sim.IsString(r.value):
				outcome = redlock.Failed
			case outcome != redlock.Failed:
				outcome = redlock.Declined
			}
		}
		return outcome
	}
	return redlock.Accepted
}

// isScript: the shipped adapter acquires a single key with a plain SET, if there are no conditions, and does everything
// else with a script.
func isScript(c *redlock.Command) bool {
	return c.Op != redlock.OpAcquire || len(c.Keys) > 1 || c.Conditions != nil
}

// scriptBit tells the scripts of the shipped adapter apart: one for each operation, and one for acquires with conditions.
func scriptBit(c *redlock.Command) uint8 {
	if c.Op == redlock.OpAcquire && c.Conditions != nil {
		return 1
	}
	return 1 << c.Op
}

func (s *store) Dump() []sim.Record {
	now := s.server.Clock().Wall().Milliseconds()
	records := make([]sim.Record, 0, len(s.keys))
	for key, r := range s.keys {
		if r.expiresAt == 0 || now <= r.expiresAt {
			records = append(records, sim.Record{Key: key, Value: r.value, ExpiresAt: r.expiresAt})
		}
	}
	slices.SortFunc(records, func(a, b sim.Record) int { return cmp.Compare(a.Key, b.Key) })
	return records
}

func (s *store) Load(records []sim.Record) {
	clear(s.keys)
	s.wiped = s.server.Now()
	s.scripts = 0
	clear(s.known)
	for _, r := range records {
		s.keys[r.Key] = record{value: r.Value, expiresAt: r.ExpiresAt}
	}
}

// node is a client's view of a node.
type node struct {
	client *sim.Process
	store  *store
	link   *sim.Link
	known  uint8 // the scripts that the node has confirmed to know, by their bits
}

func (n *node) Name() string { return n.store.server.Name() }

// Do sends each command over a connection of its own, with the source of its script until the node has run that.
func (n *node) Do(batch []*redlock.Command) {
	for _, c := range batch {
		if isScript(c) && n.known&scriptBit(c) == 0 {
			n.openWithSource(c)
		} else {
			x := &exchange{node: n, command: c}
			n.link.Open(&x.Exchange, sim.CommandKey(c), x)
		}
	}
}

// Listen implements redlock.Listener.
func (n *node) Listen(channel string, heard func()) (stop func()) {
	return n.store.server.Listen(n.link, channel, heard)
}

// openWithSource sends a script in full. The shipped adapter ends a command at its Deadline by itself. That shows only
// here: whether the node is known to know the script. Elsewhere nothing can happen between the start of the library's own
// timer and that of the adapter's.
func (n *node) openWithSource(c *redlock.Command) {
	x := &exchange{node: n, command: c, withSource: true}
	n.link.Open(&x.Exchange, sim.CommandKey(c).With(1), x)
	clock := n.client.LockClock()
	x.timer = clock.AfterFunc(c.Deadline.Sub(clock.Now()), func() {
		x.Abandon()
		x.done(timedOut)
	})
}

// exchange is one command on its way to a node and back.
type exchange struct {
	sim.Exchange
	node       *node
	command    *redlock.Command
	withSource bool // EVAL; EVALSHA without
	noScript   bool
	reply      redlock.Reply
	timer      redlock.Timer // of the Deadline, with the source
}

func (x *exchange) serve(st *store) {
	bit := scriptBit(x.command)
	if isScript(x.command) && !x.withSource && st.scripts&bit == 0 {
		x.noScript = true
	} else {
		if isScript(x.command) {
			st.scripts |= bit
		}
		x.reply = st.apply(x.command)
	}
	x.Reply()
}

// Purpose implements sim.Purposeful.
func (x *exchange) Purpose() string { return x.command.Op.String() }

func (x *exchange) Broken() { x.done(redlock.Reply{Outcome: redlock.Refused, Err: sim.ErrReset}) }

// Answered gives the reply to the library or, where the node does not know the script, sends it in full.
func (x *exchange) Answered() {
	n, bit := x.node, scriptBit(x.command)
	switch {
	case x.withSource:
		if !isServerError(x.reply.Err) {
			n.known |= bit
		}
		x.done(x.reply)
	case !x.noScript:
		x.done(x.reply)
	case n.client.LockClock().Now().Before(x.command.Deadline):
		n.known &^= bit
		n.openWithSource(x.command)
	default:
		x.done(timedOut)
	}
}

// isServerError: the script did not answer, as far as the shipped adapter can tell.
func isServerError(err error) bool {
	_, is := err.(sim.ServerError)
	return is
}

var timedOut = redlock.Reply{Outcome: redlock.TimedOut, Err: context.DeadlineExceeded}

func (x *exchange) done(r redlock.Reply) {
	if x.timer != nil {
		x.timer.Stop()
	}
	x.command.Done(x.command, r)
}
