//go:build linux

package testbed

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"redlocksim/faults"
	"redlocksim/live/internal/proxy"
	"redlocksim/live/internal/server"
)

// AddCluster starts an etcd cluster with a member for each node, of which the first leads. There is a link from each member to
// each other.
func (r *Testbed) AddCluster(ctx context.Context, names []string) error {
	if _, err := server.Etcd.Programs(); err != nil {
		return err
	}
	for i, name := range names {
		s, err := server.NewEtcd(name, r.Path(fmt.Sprintf("node-%d", i)), i+1, names, int(r.Speed))
		if err != nil {
			return err
		}
		r.Servers = append(r.Servers, s)
	}
	for _, from := range r.Servers {
		routes := map[string]string{}
		for i, to := range r.Servers {
			if from == to {
				continue
			}
			addr, err := r.Link(from.Name, to.Name, to.Peer)
			if err != nil {
				return err
			}
			r.linkOf(from.Name, to.Name).AmongNodes = true
			routes[server.PeerAddr(i+1)] = addr
		}
		t, err := proxy.NewTunnel(routes)
		if err != nil {
			return err
		}
		r.tunnels = append(r.tunnels, t)
		from.Through(t.Addr)
	}
	if err := startAll(ctx, r.Servers); err != nil {
		return err
	}
	return server.Lead(ctx, r.Servers)
}

// AddEnsemble starts a ZooKeeper ensemble with a member for each node, of which the first leads. There is a link from each member
// to each other.
func (r *Testbed) AddEnsemble(ctx context.Context, names []string) error {
	for i, name := range names {
		s, err := server.NewZooKeeper(name, r.Path(fmt.Sprintf("node-%d", i)), len(names)-i, len(names), int(r.Speed))
		if err != nil {
			return err
		}
		r.Servers = append(r.Servers, s)
	}
	for _, from := range r.Servers {
		for _, to := range r.Servers {
			if from == to {
				continue
			}
			peer, err := r.Link(from.Name, to.Name, to.Peer)
			if err != nil {
				return err
			}
			link := r.linkOf(from.Name, to.Name)
			link.AmongNodes = true
			votes, err := link.Beside(to.Votes)
			if err != nil {
				return err
			}
			r.beside = append(r.beside, votes)
			if err := from.FindsAt(to, peer, votes.Addr); err != nil {
				return err
			}
		}
	}
	if err := startAll(ctx, r.Servers); err != nil {
		return err
	}
	// The first has the highest number, and is elected unless it was heard too late. Who was elected then is started again.
	for {
		leader, err := server.Leader(ctx, r.Servers)
		if err != nil || leader == r.Servers[0] {
			return err
		}
		if err := leader.Stop(faults.Killed); err != nil {
			return err
		}
		if err := leader.Start(ctx); err != nil {
			return err
		}
	}
}

// startAll starts servers, all at once.
func startAll(ctx context.Context, servers []*server.Server) error {
	var all sync.WaitGroup
	errs := make([]error, len(servers))
	for i, s := range servers {
		all.Go(func() { errs[i] = s.Start(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}
