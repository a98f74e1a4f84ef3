//go:build linux

package testbed

import (
	"context"
	"fmt"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/proxy"
	"redlocksim/live/internal/server"
	"redlocksim/sim/kernel"
)

// muffle drops what the replicas of a server have not yet received: it is lost with the server's buffers. by is 1 before the
// server is stopped, and -1 after.
func (g ground) muffle(s *server.Server, by int) {
	for _, p := range g.links {
		if p.AmongNodes && p.Node == s.Name {
			p.Down.Change(func(w *proxy.Impairment) { w.Lost += by })
		}
	}
}

// darken cuts the links of a server that has no power, or restores them.
func (g ground) darken(s *server.Server, by int) {
	g.each(&faults.Links{Nodes: []string{s.Name}}, func(w *proxy.Impairment) { w.Lost += by })
}

func (g ground) Up(node string) bool { return g.ServerNamed(node).IsUp() }

// Stop implements faults.Servers. It asks the server what it knows before stopping it.
func (g ground) Stop(node string, how faults.Stop) (kernel.True, error) {
	s := g.ServerNamed(node)
	s.Unfreeze()
	var err error
	if s.Knew, err = s.Dump(); err != nil {
		return 0, err
	}
	s.IsDark = how == faults.PoweredOff
	if s.IsDark {
		g.darken(s, +1)
	}
	g.muffle(s, +1)
	at := g.Now()
	if err := s.Stop(how); err != nil {
		return 0, g.failing(err)
	}
	g.muffle(s, -1)
	return at, nil
}

func (g ground) Evict(node string, goes func(key string) bool) (faults.Forgotten, error) {
	s := g.ServerNamed(node)
	if s.Paused {
		return faults.Forgotten{}, fmt.Errorf("live: evict: %s is paused, and takes no orders", s.Name)
	}
	before, err := s.Dump()
	if err != nil {
		return faults.Forgotten{}, g.failing(err)
	}
	words := []string{"DEL"}
	for _, r := range before {
		if goes(r.Key) {
			words = append(words, r.Key)
		}
	}
	if len(words) == 1 {
		return faults.Forgotten{}, nil
	}
	if _, err := redisproc.Ask(s.Addr, words...); err != nil {
		return faults.Forgotten{}, g.failing(err)
	}
	after, err := s.Dump()
	return faults.Forget(before, after, s.Wall()), g.failing(err)
}

// Start implements faults.Servers. It returns when the node answers. Nothing else happens until then, so that nothing planned
// for after the restart comes before it.
func (g ground) Start(node string) (faults.Memory, error) {
	s := g.ServerNamed(node)
	if err := s.Start(context.Background()); err != nil {
		return faults.Memory{}, g.failing(err)
	}
	knows, err := s.Dump()
	if err != nil {
		return faults.Memory{}, g.failing(err)
	}
	if s.IsDark {
		s.IsDark = false
		g.darken(s, -1)
	}
	return faults.Memory{Forgotten: faults.Forget(s.Knew, knows, s.Wall()), Empty: len(knows) == 0 && s.Kind.IsRedis}, nil
}
