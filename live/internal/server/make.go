//go:build linux

package server

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/internal/redisproc"
	"redlocksim/sim/redis"
)

// Config says what the servers of a run are to be.
type Config struct {
	Names []string
	Speed int // of the run
	// Persistence is that of a redis-server, SnapshotEvery how old its snapshot is before there is another, and Forbidden a
	// command that the last of them does not have.
	Persistence   redis.Persistence
	SnapshotEvery time.Duration
	Forbidden     string
	// Changes says that faults need the clocks or the fsyncs of redis-servers.
	Changes bool

	// Work is a directory for the files of the servers.
	Work string
	// preload is the library that changes clocks and notes fsyncs; empty if there is none, and the clocks are the machine's.
	preload string
}

// New makes the servers of a kind, which are to be started. With an error it returns those that there are so far.
func New(ctx context.Context, k *Kind, c Config) ([]*Server, error) {
	programs, err := k.Programs()
	if err != nil {
		return nil, err
	}
	if k.IsRedis && c.Changes {
		if c.preload, err = faketime.Build(c.Work); err != nil {
			return nil, err
		}
	}
	var all []*Server
	for _, name := range c.Names {
		s := &Server{Name: name, Kind: k, Addr: redisproc.FreeAddr(), shutdown: syscall.SIGTERM}
		if s.dir, err = os.MkdirTemp(c.Work, "node-"); err != nil {
			return all, err
		}
		if s.Clocks, err = faketime.New(s.dir + ".clocks"); err != nil {
			return all, err
		}
		all = append(all, s)
	}
	switch k {
	case Redis:
		newRedis(all, c)
	case Etcd:
		newEtcd(all, c)
	case ZooKeeper:
		err = newZooKeeper(all, c, programs)
	case Postgres:
		err = newPostgres(ctx, all, c, programs)
	}
	return all, err
}

// StartAll starts servers of a kind, all at once, and returns when the first of them leads, if any does.
func StartAll(ctx context.Context, servers []*Server) error {
	var all sync.WaitGroup
	errs := make([]error, len(servers))
	for i, s := range servers {
		all.Go(func() { errs[i] = s.Start(ctx) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	switch servers[0].Kind {
	case Etcd:
		return leadEtcd(ctx, servers)
	case ZooKeeper:
		return leadZooKeeper(ctx, servers)
	}
	return nil
}
