//go:build linux

package live

import (
	"context"
	"fmt"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/client"
	"redlocksim/live/internal/proxy"
	"redlocksim/live/internal/server"
	"redlocksim/sim/kernel"
	"redlocksim/sim/redis"
)

// muffle drops what the replicas of a server have not yet received: it is lost with the server's buffers. by is 1 before the
// server is stopped, and -1 after.
func (r *run) muffle(s *server.Server, by int) {
	for _, p := range r.links {
		if p.AmongNodes && p.Node == s.Name {
			p.Down.Change(func(w *proxy.Impairment) { w.Lost += by })
		}
	}
}

// darken cuts the links of a server that has no power, or restores them.
func (r *run) darken(s *server.Server, by int) {
	r.each(&faults.Links{Nodes: []string{s.Name}}, func(w *proxy.Impairment) { w.Lost += by })
}

// Up implements faults.Ground.
func (r *run) Up(node string) bool { return r.serverNamed(node).IsUp() }

// Stop implements faults.Ground. It asks the server what it knows before stopping it.
func (r *run) Stop(node string, how faults.Stop) (kernel.True, error) {
	s := r.serverNamed(node)
	s.Unfreeze()
	var err error
	if s.Knew, err = s.Dump(); err != nil {
		return 0, err
	}
	s.IsDark = how == faults.PoweredOff
	if s.IsDark {
		r.darken(s, +1)
	}
	r.muffle(s, +1)
	at := r.Now()
	if err := s.Stop(how); err != nil {
		return 0, r.fail(err)
	}
	r.muffle(s, -1)
	return at, nil
}

// Evict implements faults.Ground.
func (r *run) Evict(node string, goes func(key string) bool) (faults.Forgotten, error) {
	s := r.serverNamed(node)
	if s.Paused {
		return faults.Forgotten{}, fmt.Errorf("live: evict: %s is paused, and takes no orders", s.Name)
	}
	before, err := s.Dump()
	if err != nil {
		return faults.Forgotten{}, r.fail(err)
	}
	words := []string{"DEL"}
	for _, k := range before {
		if goes(k.Key) {
			words = append(words, k.Key)
		}
	}
	if len(words) == 1 {
		return faults.Forgotten{}, nil
	}
	var after []redis.Record
	if _, err = redisproc.Ask(s.Addr, words...); err == nil {
		after, err = s.Dump()
	}
	return faults.Forget(before, after, s.Wall()), r.fail(err)
}

// Start implements faults.Ground. It returns when the node answers. Nothing else happens until then, so that nothing planned
// for after the restart comes before it.
func (r *run) Start(node string) (faults.Memory, error) {
	s := r.serverNamed(node)
	err := s.Start(context.Background())
	var knows []redis.Record
	if err == nil {
		knows, err = s.Dump()
	}
	if err != nil {
		return faults.Memory{}, r.fail(err)
	}
	if s.IsDark {
		s.IsDark = false
		r.darken(s, -1)
	}
	return faults.Memory{Forgotten: faults.Forget(s.Knew, knows, s.Wall()), Empty: len(knows) == 0 && s.Kind.IsRedis}, nil
}

// IsReplica implements faults.Ground.
func (r *run) IsReplica(name string) bool { return r.serverNamed(name).Follows != "" }

// Promote implements faults.Ground. The other replicas follow the new master, except those that a partition separates from it.
// A master that is up remains one until its next start.
func (r *run) Promote(node, replica string) (faults.Forgotten, error) {
	from, to := r.serverNamed(node), r.serverNamed(replica)
	switch {
	case !to.IsUp():
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is down", to.Name)
	case to.Paused:
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is paused, and takes no orders", to.Name)
	case to.Follows == "":
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is a master already", to.Name)
	}
	has, err := to.Dump()
	known := from.Knew
	if err == nil && from.IsUp() && !from.Paused {
		known, err = from.Dump()
	}
	if err == nil {
		_, err = redisproc.Ask(to.Addr, "REPLICAOF", "NO", "ONE")
	}
	if err != nil {
		return faults.Forgotten{}, r.fail(err)
	}
	to.Follows = ""
	for _, name := range r.groupOf(to.Name).members() {
		s, link := r.serverNamed(name), r.linkOf(name, to.Name)
		switch {
		case s == to:
		case s.Follows == "":
			s.Successor = link.Addr
		case link.Reaches():
			s.Follows = link.Addr
			if s.IsUp() && !s.Paused {
				_ = r.fail(s.Follow()) // the others still follow it
			}
		}
	}
	return faults.Forget(known, has, from.Wall()), nil
}

// Lead implements faults.Ground.
func (r *run) Lead(clients []string, node, replica string) {
	for _, name := range clients {
		r.linkOf(name, node).Lead(r.linkOf(name, replica))
		c, o := r.clientNamed(name), client.Order{Promoted: &client.Promoted{Node: node, By: replica}}
		c.told = append(c.told, o)
		if c.isUp {
			c.send(o)
		}
	}
}
