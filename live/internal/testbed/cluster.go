//go:build linux

package testbed

import (
	"context"
	"fmt"
	"sync"

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
	var all sync.WaitGroup
	errs := make([]error, len(r.Servers))
	for i, s := range r.Servers {
		all.Go(func() { errs[i] = s.Start(ctx) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return server.Lead(ctx, r.Servers)
}
