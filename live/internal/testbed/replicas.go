//go:build linux

package testbed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/server"
)

// group is a node and its replicas. There is a link from each to each other, so that any can follow any.
type group struct {
	node     string
	replicas []string
}

func (g *group) members() []string { return append([]string{g.node}, g.replicas...) }

// AddReplicas starts the replicas of a running node, which are configured as it is but can do all, and has them follow it.
func (r *Testbed) AddReplicas(ctx context.Context, node string, replicas []string, c server.Config) error {
	c.Names, c.Forbidden = replicas, ""
	if err := r.AddServers(ctx, server.Redis, c); err != nil {
		return err
	}
	g := &group{node: node, replicas: replicas}
	r.groups = append(r.groups, g)
	for _, follower := range g.members() {
		for _, master := range g.members() {
			if follower == master {
				continue
			}
			if _, err := r.Link(follower, master, r.ServerNamed(master).Addr); err != nil {
				return err
			}
			r.LinkOf(follower, master).AmongNodes = true
		}
	}
	for _, name := range replicas {
		s := r.ServerNamed(name)
		s.Follows = r.LinkOf(name, node).Addr
		if err := s.Follow(); err != nil {
			return err
		}
	}
	return nil
}

// ReplicasReady waits until all replicas have synchronized with their masters.
func (r *Testbed) ReplicasReady(ctx context.Context) error {
	deadline := time.Now().Add(redisproc.Patience)
	for _, g := range r.groups {
		for _, name := range g.replicas {
			for {
				info, err := redisproc.Ask(r.ServerNamed(name).Addr, "INFO", "replication")
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

// groupOf is the group of a node or replica; nil if it has none.
func (r *Testbed) groupOf(name string) *group {
	for _, g := range r.groups {
		if slices.Contains(g.members(), name) {
			return g
		}
	}
	return nil
}

// IsReplica reports that a server is a replica from the start, promoted or not.
func (r *Testbed) IsReplica(name string) bool {
	g := r.groupOf(name)
	return g != nil && g.node != name
}
