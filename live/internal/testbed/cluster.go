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
	if err := r.tunnel(proxy.HTTP, func(i int, to *server.Server) map[string]string {
		return map[string]string{server.PeerAddr(i + 1): to.Peer}
	}); err != nil {
		return err
	}
	if err := startAll(ctx, r.Servers); err != nil {
		return err
	}
	return server.Lead(ctx, r.Servers)
}

// AddEnsemble starts a ZooKeeper ensemble with a member for each node, of which the first leads. There is a link from each
// member to each other.
func (r *Testbed) AddEnsemble(ctx context.Context, names []string) (err error) {
	r.Servers, err = server.NewZooKeeper(names, func(i int) string { return r.Path(fmt.Sprintf("node-%d", i)) }, int(r.Speed))
	if err != nil {
		return err
	}
	if err := r.tunnel(proxy.SOCKS4, func(_ int, to *server.Server) map[string]string {
		return map[string]string{to.Known(to.Peer): to.Peer, to.Known(to.Votes): to.Votes}
	}); err != nil {
		return err
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

// tunnel makes a link from each server to each other, and a proxy for each through which it finds them. known are the addresses
// of the i-th of them, by those that the others know.
func (r *Testbed) tunnel(greet proxy.Greeting, known func(i int, to *server.Server) map[string]string) error {
	for _, from := range r.Servers {
		routes := map[string]proxy.Route{}
		for i, to := range r.Servers {
			if from == to {
				continue
			}
			if _, err := r.Link(from.Name, to.Name, to.Peer); err != nil {
				return err
			}
			link := r.LinkOf(from.Name, to.Name)
			link.AmongNodes = true
			for by, addr := range known(i, to) {
				routes[by] = proxy.Route{Link: link, Addr: addr}
			}
		}
		var err error
		if from.Tunnel, err = r.network.Tunnel(greet, routes); err != nil {
			return err
		}
	}
	return nil
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
