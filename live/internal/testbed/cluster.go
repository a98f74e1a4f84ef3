//go:build linux

package testbed

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	if err := r.tunnel(proxy.HTTP, func(i int, to *server.Server, link *proxy.Proxy) (map[string]string, error) {
		return map[string]string{server.PeerAddr(i + 1): link.Addr}, nil
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
	if err := r.tunnel(proxy.SOCKS4, func(_ int, to *server.Server, link *proxy.Proxy) (map[string]string, error) {
		votes, err := link.Beside(to.Votes)
		if err != nil {
			return nil, err
		}
		r.beside = append(r.beside, votes)
		return map[string]string{to.Known(to.Peer): link.Addr, to.Known(to.Votes): votes.Addr}, nil
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

// tunnel makes a link from each server to each other, and a proxy for each through which it finds them. routes are where the
// i-th of them is found on such a link, by the addresses that it is known by.
func (r *Testbed) tunnel(greet proxy.Greeting, routes func(i int, to *server.Server, link *proxy.Proxy) (map[string]string, error)) error {
	for _, from := range r.Servers {
		all := map[string]string{}
		for i, to := range r.Servers {
			if from == to {
				continue
			}
			if _, err := r.Link(from.Name, to.Name, to.Peer); err != nil {
				return err
			}
			link := r.linkOf(from.Name, to.Name)
			link.AmongNodes = true
			found, err := routes(i, to, link)
			if err != nil {
				return err
			}
			maps.Copy(all, found)
		}
		t, err := proxy.NewTunnel(greet, all)
		if err != nil {
			return err
		}
		r.tunnels = append(r.tunnels, t)
		from.Tunnel = t.Addr
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
