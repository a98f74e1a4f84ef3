//go:build linux

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/client"
	"redlocksim/live/internal/server"
	"redlocksim/live/internal/speed"
	"redlocksim/live/internal/storageserver"
	"redlocksim/scenarios"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

// setUp starts everything.
func (r *run) setUp(ctx context.Context) error {
	s := r.scenario
	err := r.startServers(ctx)
	if err != nil {
		return err
	}
	r.storage, err = storageserver.New(s.Storage, func(at int64, e history.Event) {
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
		if err := c.ready(ctx); err != nil {
			return err
		}
	}
	switch {
	case !r.options.kind().IsRedis:
	case s.Nodes.Persistence == redis.EverySecond && needsPreload(s):
		return r.settleDisks(ctx)
	case s.Nodes.Persistence == redis.Snapshots:
		return r.saveNow()
	}
	return nil
}

// startServers starts what the nodes run.
func (r *run) startServers(ctx context.Context) error {
	s := r.scenario
	c := server.Config{Names: s.Nodes.Names, Persistence: s.Nodes.Persistence, SnapshotEvery: s.Nodes.SnapshotEvery, Forbidden: string(s.Nodes.Forbidden), Changes: needsPreload(s)}
	if err := r.addServers(ctx, r.options.kind(), c); err != nil {
		return err
	}
	for _, of := range s.Nodes.Replicas {
		if err := r.addReplicas(ctx, of.Key, of.Value, c); err != nil {
			return err
		}
	}
	return nil
}

// addClient starts the process of a client, with a link to every server. text is the scenario as a file.
func (r *run) addClient(i int, name, text string) error {
	s := r.scenario
	role := &client.Role{Name: name, Index: i, Clients: len(s.Clients), Scenario: text, Speed: int(r.speed),
		Lock: r.options.Lock, OneNode: r.options.OneNode, IsRedis: r.options.kind().IsRedis}
	for _, x := range r.servers {
		link, err := r.link(name, x.Name, x.Addr)
		if err != nil {
			return err
		}
		if !r.isReplica(x.Name) { // the client does not know replicas
			role.Nodes = append(role.Nodes, link.Addr)
		}
	}
	link, err := r.link(name, storage.Name, r.storage.Addr)
	if err != nil {
		return err
	}
	role.Storage = link.Addr
	var clocks *faketime.Clocks
	if needsClocks(s, name) {
		if clocks, err = faketime.New(r.path(fmt.Sprintf("client-%d.clocks", i))); err != nil {
			return err
		}
		role.Clocks = clocks.Path()
	}
	c, err := r.startClient(name, client.Order{Begin: role})
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
	untilSecond()
	for _, x := range r.servers {
		before := x.Clocks.Syncs()
		if x.Follows != "" { // it writes what its master writes
			continue
		}
		if _, err := redisproc.Ask(x.Addr, "SET", "redlocksim:settled", "1", "PX", "1"); err != nil {
			return err
		}
		for deadline := time.Now().Add(redisproc.Patience); x.Clocks.Syncs() == before; {
			if ctx.Err() != nil || time.Now().After(deadline) {
				return errors.Join(fmt.Errorf("live: %s does not fsync", x.Name), context.Cause(ctx))
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// saveNow has every node make a snapshot, so that the time until the next one counts from the beginning of the run. Redis
// counts the seconds that begin on its clock, so this is done right after one has begun.
func (r *run) saveNow() error {
	untilSecond()
	for _, x := range r.servers {
		if _, err := redisproc.Ask(x.Addr, "SAVE"); err != nil {
			return err
		}
	}
	return nil
}

// untilSecond waits for the next second of the clock.
func untilSecond() { time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second))) }

// needsPreload reports whether a scenario needs the library that is loaded into redis-server, because it changes a server's
// clock or loses what was not fsynced.
func needsPreload(s *scenarios.Scenario) bool {
	return slices.ContainsFunc(s.Timeline, func(it scenarios.Item) bool {
		if it.Fault == nil {
			return false
		}
		on := faults.LiveOf(it.Fault, speed.Deployment(s))
		return on.Clocks && !slices.Contains(s.Clients, faults.TargetOf(it.Fault)) ||
			on.Unsynced && s.Nodes.Persistence.SurvivesKill()
	})
}
