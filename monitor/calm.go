package monitor

import (
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// calm remembers since when nothing has been wrong with each client, and with each node and the way to it. kernel.Forever is
// that something is wrong now.
type calm struct {
	run     *Run
	guarded bool
	fenced  bool
	counted map[counterOf]string // the fencing counters as votes have left them
	clients []watchedClient      // in the order of the world's
	ways    map[*network.Link]*way
	// before is called while what is remembered is still as it was, and after when it has changed.
	before, after func()
}

// counterOf is a fencing counter of a node.
type counterOf struct {
	server *redis.Server
	key    string
}

// watchedClient is a client, and its ways to the Servers.
type watchedClient struct {
	*kernel.Process
	since kernel.True
	wall  int64 // by how much its wall clock is ahead of the clock that cannot be stepped
	wrong bool  // for good: the clock that its lock goes by was stepped
	ways  []*way
}

// way is a node and a client's link to it.
type way struct {
	*network.Link
	server *redis.Server
	since  kernel.True
}

func watchCalm(r *Run, before, after func()) *calm {
	c := &calm{run: r, guarded: isGuarded(r), fenced: isFenced(r), counted: map[counterOf]string{}, ways: map[*network.Link]*way{}, before: before, after: after}
	for _, p := range r.World.Clients {
		w := watchedClient{Process: p, wall: ahead(p)}
		for _, s := range r.World.Servers {
			l := &way{Link: r.World.Network.Link(p.Name(), s.Name()), server: s}
			w.ways, c.ways[l.Link] = append(w.ways, l), l
		}
		c.clients = append(c.clients, w)
	}
	c.look()
	if c.fenced {
		r.onApplied = append(r.onApplied, c.applied)
	}
	r.World.Kernel.OnChange(c.look)
	r.World.Network.Observe(c)
	return c
}

func ahead(p *kernel.Process) int64 { return int64(p.Clock().Wall()) - int64(p.Clock().Boot()) }

// of finds a client by name.
func (c *calm) of(name string) *watchedClient {
	return &c.clients[slices.IndexFunc(c.clients, func(w watchedClient) bool { return w.Name() == name })]
}

// look finds out what has changed.
func (c *calm) look() {
	now, told := c.run.World.Kernel.Now(), false
	set := func(since *kernel.True, isCalm bool) {
		if isCalm == (*since != kernel.Forever) {
			return
		}
		if !told {
			told = true
			c.before()
		}
		if *since = kernel.Forever; isCalm {
			*since = now
		}
	}
	for i := range c.clients {
		w := &c.clients[i]
		if wall := ahead(w.Process); wall != w.wall {
			w.wall, w.wrong = wall, w.wrong || c.run.Lock.Clock == kernel.WallClock
			set(&w.since, false)
		}
		set(&w.since, !w.wrong && !w.Dead() && !w.Paused() && !w.Starved() && w.Clock().Rate() == 0)
		for _, l := range w.ways {
			set(&l.since, c.isOpen(l))
		}
	}
	if told {
		c.after()
	}
}

// applied takes a change of a fencing counter by a vote.
func (c *calm) applied(a *redis.Applied) {
	if driver.IsTokenKey(a.Key) {
		c.counted[counterOf{a.Server, a.Key}] = a.After.Value
		c.look()
	}
}

// isAhead says whether a node has a fencing counter that no vote has raised so far, or above which there is no token.
func (c *calm) isAhead(s *redis.Server) bool {
	return slices.ContainsFunc(c.run.Resources, func(name string) bool {
		key := driver.TokenKey(name)
		r, _, there := s.Observable().Peek(key)
		return there && (number(r.Value) > number(c.counted[counterOf{s, key}]) || number(r.Value) >= largestToken)
	})
}

// isOpen says whether nothing is wrong with a node and the way to it.
func (c *calm) isOpen(l *way) bool {
	if !l.server.Up() || l.server.Forbidden() != "" || l.server.Paused() || c.guarded && !isFit(l.server) || c.fenced && c.isAhead(l.server) {
		return false
	}
	for _, d := range []network.Direction{network.Requests, network.Replies} {
		if cut, held, delay := l.Obstacles(d); cut || held || delay > 0 {
			return false
		}
	}
	return true
}

// Sent implements network.Observer.
func (c *calm) Sent(*network.Exchange, network.MessageKind) {}

// Ended implements network.Observer. A message that is lost or torn shows that something is wrong with its way, as a broken
// connection does, and one from before it was calm brings something of that time with it.
func (c *calm) Ended(x *network.Exchange, kind network.MessageKind, fate network.Fate, why string) {
	l := c.ways[x.Link()]
	if l == nil || l.since == kernel.Forever {
		return
	}
	_, asks := x.Client().(redis.Commanding)
	if isOld := x.Sent() < l.since; !asks || !isOld && why == "" && fate != network.Lost && kind != network.RefusalMessage {
		return
	}
	c.before()
	l.since = c.run.World.Kernel.Now()
	c.after()
}
