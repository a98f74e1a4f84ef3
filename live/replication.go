//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// group is a node and its replicas. There is a link from each to each other, so that any can follow any.
type group struct {
	node     string
	replicas []string
}

func (g *group) members() []string { return append([]string{g.node}, g.replicas...) }

// groupOf is the group of a node or replica; nil if it has none.
func (r *testbed) groupOf(name string) *group {
	for _, g := range r.groups {
		if slices.Contains(g.members(), name) {
			return g
		}
	}
	return nil
}

func (r *testbed) isReplica(name string) bool {
	g := r.groupOf(name)
	return g != nil && g.node != name
}

// addReplicas starts the replicas of a running node and has them follow it.
func (r *testbed) addReplicas(
	ctx context.Context, node string, replicas []string, persistence redis.Persistence, needsPreload bool,
) error {
	if err := r.addServers(ctx, replicas, persistence, needsPreload); err != nil {
		return err
	}
	g := &group{node: node, replicas: replicas}
	r.groups = append(r.groups, g)
	for _, follower := range g.members() {
		for _, master := range g.members() {
			if follower == master {
				continue
			}
			if _, err := r.link(follower, master, r.server(master).addr); err != nil {
				return err
			}
			r.proxies[len(r.proxies)-1].amongNodes = true
		}
	}
	for _, name := range replicas {
		s := r.server(name)
		s.follows = r.proxy(name, node).addr
		if err := s.follow(); err != nil {
			return err
		}
	}
	return nil
}

// replicasReady waits until all replicas have synchronized with their masters.
func (r *testbed) replicasReady(ctx context.Context) error {
	deadline := time.Now().Add(redisproc.Patience)
	for _, g := range r.groups {
		for _, name := range g.replicas {
			for {
				info, err := redisproc.Ask(r.server(name).addr, "INFO", "replication")
				if err != nil {
					return err
				}
				if strings.Contains(info, "\r\nmaster_link_status:up\r\n") {
					break
				}
				if ctx.Err() != nil || time.Now().After(deadline) {
					return errors.Join(fmt.Errorf("live: %s does not follow its master: %q", name, info), context.Cause(ctx))
				}
				time.Sleep(2 * time.Millisecond)
			}
		}
	}
	return nil
}

// follow makes a running server a replica of the master that it is to follow.
func (s *server) follow() error {
	host, port, err := net.SplitHostPort(s.follows)
	if err != nil {
		return err
	}
	if _, err := redisproc.Ask(s.addr, "REPLICAOF", host, port); err != nil {
		return fmt.Errorf("live: %s: %w", s.name, err)
	}
	return nil
}

// muffle drops what the replicas of a server have not yet received: it is lost with the server's buffers. by is 1 before the
// server is stopped, and -1 after.
func (r *testbed) muffle(s *server, by int) {
	for _, p := range r.proxies {
		if p.amongNodes && p.node == s.name {
			p.down.change(func(w *impairment) { w.lost += by })
		}
	}
}

// eachOfPeers changes the links between nodes. What a node sends to a peer goes down the link of the peer, if that follows it,
// and up its own.
func (r *testbed) eachOfPeers(l *faults.Links, change func(*impairment)) {
	for _, node := range l.Nodes {
		for _, peer := range l.Peers {
			from, to := r.proxy(peer, node), r.proxy(node, peer)
			if l.Direction != network.Replies {
				from.down.change(change)
				to.up.change(change)
			}
			if l.Direction != network.Requests {
				from.up.change(change)
				to.down.change(change)
			}
		}
	}
}

// reaches reports whether the link loses no messages.
func (p *proxy) reaches() bool {
	up, _ := p.up.state()
	down, _ := p.down.state()
	return up.lost == 0 && down.lost == 0
}

// Promote implements faults.Servers. From now on clients reach the replica where they reached the node. The other replicas
// follow it, except those that a partition separates from it. A master that is up remains one until its next start.
func (g ground) Promote(node, replica string, clients []string) (faults.Forgotten, error) {
	from, to := g.server(node), g.server(replica)
	switch {
	case to.process == nil:
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is down", to.name)
	case to.paused:
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is paused, and takes no orders", to.name)
	case to.follows == "":
		return faults.Forgotten{}, fmt.Errorf("live: promote: %s is a master already", to.name)
	}
	lacks, err := g.lacks(to, from)
	if err == nil {
		_, err = redisproc.Ask(to.addr, "REPLICAOF", "NO", "ONE")
	}
	if err != nil {
		return faults.Forgotten{}, g.fail(err)
	}
	to.follows = ""
	for _, name := range g.groupOf(to.name).members() {
		s, link := g.server(name), g.proxy(name, to.name)
		switch {
		case s == to:
		case s.follows == "":
			s.successor = link.addr
		case link.reaches():
			s.follows = link.addr
			if s.process != nil && !s.paused {
				_ = g.fail(s.follow()) // the others still follow it
			}
		}
	}
	for _, name := range clients {
		if err := g.proxy(name, node).lead(g.proxy(name, replica)); err != nil {
			return faults.Forgotten{}, g.fail(err)
		}
		if c := g.client(name); c.process != nil {
			c.send(order{Serving: &serving{Node: node, By: replica}})
		}
	}
	return lacks, nil
}

// lacks is what the master knows, or knew when it stopped, and a replica does not.
func (r *testbed) lacks(replica, master *server) (faults.Forgotten, error) {
	has, err := replica.dump()
	if err != nil {
		return faults.Forgotten{}, err
	}
	known := master.knew
	if master.process != nil && !master.paused {
		if known, err = master.dump(); err != nil {
			return faults.Forgotten{}, err
		}
	}
	return faults.Forget(known, has, master.wall()), nil
}

// goOn lets a paused server continue. It may have to follow another master by now.
func (s *server) goOn() error {
	s.paused = false
	s.process.signal(syscall.SIGCONT)
	if s.follows == "" {
		return nil
	}
	return s.follow()
}
