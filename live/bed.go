//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/proxy"
	"redlocksim/live/internal/server"
	"redlocksim/live/internal/storageserver"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
)

// run is a run of a scenario under way: server processes, client processes, the proxies between them, and what became of the
// timeline. It is also the ground on which faults are injected, where true time is CLOCK_MONOTONIC times the speed, and an
// error of the machine ends the run.
type run struct {
	loop
	scenario *scenarios.Scenario
	options  Options
	dir      string // for files, removed with the run

	servers []*server.Server
	groups  []*group // of masters with their replicas
	storage *storageserver.Server
	network *proxy.Network
	links   []*proxy.Link
	clients []*process
	gone    []*process // that were killed and replaced

	start   int64 // CLOCK_MONOTONIC at true time 0
	field   *faults.Field
	armed   *scenarios.Armed
	hear    []func(kernel.True, *history.Event)
	entries []entry
}

// group is a node and its replicas. There is a link from each to each other, so that any can follow any.
type group struct {
	node     string
	replicas []string
}

func (g *group) members() []string { return append([]string{g.node}, g.replicas...) }

// newRun makes a run with nothing started, and a directory for its files. It must be closed.
func newRun(s *scenarios.Scenario, o Options) (*run, error) {
	if o.Client == nil {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		o.Client = []string{self, "live-client"}
	}
	dir, err := os.MkdirTemp("", "redlocksim-live-*")
	if err == nil {
		err = os.Chmod(dir, 0o711) // servers may run as another user, who has to get to their directories
	}
	if err != nil {
		return nil, err
	}
	r := &run{loop: newLoop(o.Speed), scenario: s, options: o, dir: dir, network: proxy.New()}
	r.field = faults.NewField(r)
	return r, nil
}

// addServers starts the servers of nodes. The members of a cluster, of which the first leads, have a link from each to each
// other, and a tunnel each through which it finds the others.
func (r *run) addServers(ctx context.Context, k *server.Kind, c server.Config) error {
	c.Work, c.Speed = r.dir, int(r.speed)
	servers, err := server.New(ctx, k, c)
	r.servers = append(r.servers, servers...)
	if err != nil {
		return err
	}
	for _, from := range servers {
		routes := map[string]proxy.Route{}
		for _, to := range servers {
			if from == to || to.Peers == nil {
				continue
			}
			link, err := r.link(from.Name, to.Name, to.Addr)
			if err != nil {
				return err
			}
			link.AmongNodes = true
			for by, addr := range to.Peers {
				routes[by] = proxy.Route{Link: link, Addr: addr}
			}
		}
		if from.Greets == nil {
			continue
		}
		if from.Tunnel, err = r.network.Tunnel(from.Greets, routes); err != nil {
			return err
		}
	}
	return server.StartAll(ctx, servers)
}

// addReplicas starts the replicas of a running node, which are configured as it is but can do all, has them follow it, and
// returns when they have what it has.
func (r *run) addReplicas(ctx context.Context, node string, replicas []string, c server.Config) error {
	c.Names, c.Forbidden = replicas, ""
	if err := r.addServers(ctx, server.Redis, c); err != nil {
		return err
	}
	g := &group{node: node, replicas: replicas}
	r.groups = append(r.groups, g)
	for _, follower := range g.members() {
		for _, master := range g.members() {
			if follower == master {
				continue
			}
			link, err := r.link(follower, master, r.serverNamed(master).Addr)
			if err != nil {
				return err
			}
			link.AmongNodes = true
		}
	}
	for _, name := range replicas {
		s := r.serverNamed(name)
		s.Follows = r.linkOf(name, node).Addr
		if err := s.Follow(); err != nil {
			return err
		}
	}
	for _, name := range replicas {
		if err := synchronized(ctx, r.serverNamed(name)); err != nil {
			return err
		}
	}
	return nil
}

// synchronized waits until a replica has what its master has.
func synchronized(ctx context.Context, s *server.Server) error {
	for deadline := time.Now().Add(redisproc.Patience); ; time.Sleep(2 * time.Millisecond) {
		info, err := redisproc.Ask(s.Addr, "INFO", "replication")
		if err != nil || strings.Contains(info, "\r\nmaster_link_status:up\r\n") {
			return err
		}
		if ctx.Err() != nil || time.Now().After(deadline) {
			return errors.Join(fmt.Errorf("live: %s does not follow its master: %q", s.Name, info), context.Cause(ctx))
		}
	}
}

// link makes the link from a client to a node.
func (r *run) link(client, node, upstream string) (*proxy.Link, error) {
	l, err := r.network.Link(client, node, upstream)
	r.links = append(r.links, l)
	return l, err
}

// linkOf is the link from a client to a node, or from a replica to a master; nil if there is none.
func (r *run) linkOf(client, node string) *proxy.Link {
	for _, p := range r.links {
		if p.Client == client && p.Node == node {
			return p
		}
	}
	return nil
}

// clientNamed is the client of this name; nil if there is none.
func (r *run) clientNamed(name string) *process {
	for _, c := range r.clients {
		if c.name == name {
			return c
		}
	}
	return nil
}

// serverNamed is the server of this name; nil if there is none.
func (r *run) serverNamed(name string) *server.Server {
	for _, s := range r.servers {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// groupOf is the group of a node or replica; nil if it has none.
func (r *run) groupOf(name string) *group {
	for _, g := range r.groups {
		if slices.Contains(g.members(), name) {
			return g
		}
	}
	return nil
}

// isReplica reports that a server is a replica from the start, promoted or not.
func (r *run) isReplica(name string) bool {
	g := r.groupOf(name)
	return g != nil && g.node != name
}

// trueTime is what true time is when CLOCK_MONOTONIC reads at.
func (r *run) trueTime(at int64) kernel.True { return kernel.True((at - r.start) * r.speed) }

// path is where a file of this name is kept until the run is closed.
func (r *run) path(name string) string { return filepath.Join(r.dir, name) }

// close ends whatever has been started and removes the files.
func (r *run) close() error {
	r.end()
	var errs []error
	for _, c := range append(r.gone, r.clients...) {
		c.close()
	}
	r.network.Close()
	if r.storage != nil {
		errs = append(errs, r.storage.Close())
	}
	for _, s := range r.servers {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, os.RemoveAll(r.dir))...)
}
