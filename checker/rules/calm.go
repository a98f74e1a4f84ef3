package rules

import (
	"slices"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// calm remembers since when nothing has been wrong with each client, and with each node and the way to it. kernel.Forever is
// that something is wrong now.
type calm struct {
	*Run
	guarded bool            // a node in quarantine is not sound
	sound   []bool          // memory for look: whether nothing is wrong with each of the Servers
	clients []watchedClient // in the order of the world's
	ways    []*way          // by the numbers of the links; nil for those of others
	changes int             // how often what is remembered has changed
	// before is called while what is remembered is still as it was, and after when it has changed.
	before, after func()
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
	since kernel.True
}

func watchCalm(r *Run, guarded bool, before, after func()) *calm {
	c := &calm{Run: r, guarded: guarded, sound: make([]bool, len(r.World.Servers)),
		before: before, after: after}
	for _, p := range r.World.Clients {
		w := watchedClient{Process: p, wall: ahead(p)}
		for _, s := range r.World.Servers {
			l := &way{Link: r.World.Network.Link(p.Name(), s.Name())}
			for len(c.ways) <= l.Number() {
				c.ways = append(c.ways, nil)
			}
			w.ways, c.ways[l.Number()] = append(w.ways, l), l
		}
		c.clients = append(c.clients, w)
	}
	trace.On(r.World.Events, func(again kernel.Restarted) {
		c.of(again.Name()).Process = again.Process
		c.look()
	})
	c.look()
	if c.guarded || isFenced(r) {
		r.onApplied(c.applied)
	}
	r.onChange(c.look)
	trace.On(r.World.Events, c.ended)
	return c
}

// of finds a client by name.
func (c *calm) of(name string) *watchedClient {
	return &c.clients[slices.IndexFunc(c.clients, func(w watchedClient) bool { return w.Name() == name })]
}

// look finds out what has changed.
func (c *calm) look() {
	now, told := c.World.Kernel.Now(), false
	set := func(since *kernel.True, isCalm bool) {
		if isCalm == (*since != kernel.Forever) {
			return
		}
		if !told {
			told = true
			c.changes++
			c.before()
		}
		if *since = kernel.Forever; isCalm {
			*since = now
		}
	}
	for i, s := range c.World.Servers {
		c.sound[i] = c.isSound(s, c.guarded) && !s.Paused()
	}
	for i := range c.clients {
		w := &c.clients[i]
		if wall := ahead(w.Process); wall != w.wall {
			w.wall, w.wrong = wall, w.wrong || c.Lock.Clock == kernel.WallClock
			set(&w.since, false)
		}
		set(&w.since, !w.wrong && !w.Dead() && !w.Paused() && !w.Starved() && w.Clock().Rate() == 0)
		for node, l := range w.ways {
			set(&l.since, c.sound[node] && l.isClear())
		}
	}
	if told {
		c.after()
	}
}

// applied takes a change of a fencing counter by a vote, or of the record of the restart guard.
func (c *calm) applied(a *redis.Applied) {
	if a.Key == driver.GuardKey || c.raised.isCounter(a.Key) {
		c.look()
	}
}

// isClear says whether nothing is in the way of messages.
func (l *way) isClear() bool {
	for _, d := range []network.Direction{network.Requests, network.Replies} {
		if cut, held, delay := l.Obstacles(d); cut || held || delay > 0 {
			return false
		}
	}
	return true
}

// ended takes what became of a message. One that is lost or torn shows that something is wrong with its way, as a broken
// connection does, and one from before it was calm brings something of that time with it.
func (c *calm) ended(m network.Ended) {
	number := m.Link().Number()
	if number >= len(c.ways) || c.ways[number] == nil {
		return
	}
	l := c.ways[number]
	_, asks := m.Client().(redis.Request)
	if isOld := m.Sent() < l.since; !asks || l.since == kernel.Forever || !isOld && m.Why == "" && m.Fate != network.Lost && m.Kind != network.RefusalMessage {
		return
	}
	c.changes++
	c.before()
	l.since = c.World.Kernel.Now()
	c.after()
}
