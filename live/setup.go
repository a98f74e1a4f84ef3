//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/scenarios"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// setUp starts everything.
func (r *run) setUp(ctx context.Context) error {
	s := r.scenario
	persistence, preloaded := s.Nodes.Persistence, needsPreload(s)
	if err := r.addServers(ctx, s.Nodes.Names, persistence, preloaded); err != nil {
		return err
	}
	for _, of := range s.Nodes.Replicas {
		if err := r.addReplicas(ctx, of.Key, of.Value, persistence, preloaded); err != nil {
			return err
		}
	}
	if err := r.replicasReady(ctx); err != nil {
		return err
	}
	var err error
	r.storage, err = newStorage(s.Storage, func(at int64, e history.Event) {
		r.call(func() { r.happened(at, e) })
	})
	if err != nil {
		return err
	}
	text, err := s.Encode()
	if err != nil {
		return err
	}
	for i, name := range s.Clients {
		if err := r.addClient(i, name, string(text)); err != nil {
			return err
		}
	}
	for _, c := range r.clients {
		if err := r.ready(ctx, c); err != nil {
			return err
		}
	}
	if persistence == redis.EverySecond && preloaded {
		return r.settleDisks(ctx)
	}
	return nil
}

// addClient starts the process of a client, with a link to every server. text is the scenario as a file.
func (r *run) addClient(i int, name, text string) error {
	s := r.scenario
	role := &role{Name: name, Index: i, Clients: len(s.Clients), Scenario: text, Speed: int(r.speed)}
	for _, x := range r.servers {
		addr, err := r.link(name, x.name, x.addr)
		if err != nil {
			return err
		}
		if !r.isReplica(x.name) { // the client does not know replicas
			role.Nodes = append(role.Nodes, addr)
		}
	}
	var err error
	if role.Storage, err = r.link(name, storage.Name, r.storage.listener.Addr().String()); err != nil {
		return err
	}
	var clocks *faketime.Clocks
	if needsClocks(s, name) {
		if clocks, err = faketime.New(filepath.Join(r.dir, fmt.Sprintf("client-%d.clocks", i))); err != nil {
			return err
		}
		role.Clocks = clocks.Path()
	}
	c, err := r.startClient(name, order{Begin: role})
	if err != nil {
		if clocks != nil {
			err = errors.Join(err, clocks.Close())
		}
		return err
	}
	c.clocks, c.kind = clocks, s.Lock.Clock
	r.clients = append(r.clients, c)
	return nil
}

// settleDisks makes every node fsync, so that none does again for most of a second. What is written soon after is then not on
// disk, as in the simulator, whose first fsync is a second away. Redis fsyncs when its clock shows another second than at the
// last fsync, so this is done right after a second has begun.
func (r *run) settleDisks(ctx context.Context) error {
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	for _, x := range r.servers {
		before := x.clocks.Syncs()
		if x.follows != "" { // it writes what its master writes
			continue
		}
		if _, err := redisproc.Ask(x.addr, "SET", "redlocksim:settled", "1", "PX", "1"); err != nil {
			return err
		}
		for deadline := time.Now().Add(redisproc.Patience); x.clocks.Syncs() == before; {
			if ctx.Err() != nil || time.Now().After(deadline) {
				return errors.Join(fmt.Errorf("live: %s does not fsync", x.name), context.Cause(ctx))
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// needsClocks reports whether a fault of the scenario changes a client's clocks.
func needsClocks(s *scenarios.Scenario, client string) bool {
	return slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool {
		return it.Fault != nil && it.Fault.Live(deployment(s)).Clocks && it.Fault.Target() == client
	})
}

// needsPreload reports whether a scenario needs the library that is loaded into redis-server, because it changes a server's
// clock or loses what was not fsynced.
func needsPreload(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool {
		if it.Fault == nil {
			return false
		}
		on := it.Fault.Live(deployment(s))
		return on.Clocks && !slices.Contains(s.Clients, it.Fault.Target()) ||
			on.Unsynced && s.Nodes.Persistence != redis.NoPersistence
	})
}
