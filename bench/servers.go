//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisserver"
	"redlocksim/redlock/goredis"
)

// clusterSize is how many servers a majority is taken of.
const clusterSize = 5

// cluster is the servers that the contestants use, and a connection of the harness's own to each.
type cluster struct {
	owner   *owner
	servers []*redisserver.Server
	control []*redis.Client
	infos   [clusterSize]int // how often info asked each of them
}

func startCluster() (c *cluster, err error) {
	c = &cluster{owner: new(owner)}
	err = guarded(func() {
		for range clusterSize {
			s := redisserver.Start(c.owner)
			c.servers = append(c.servers, s)
			c.control = append(c.control, goredis.NewClient(&redis.Options{Addr: s.Addr, PoolSize: 1}))
		}
	})
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close ends the servers, whatever state they are in.
func (c *cluster) close() {
	for _, control := range c.control {
		_ = control.Close()
	}
	c.owner.close()
}

func (c *cluster) addrs() []string {
	addrs := make([]string, len(c.servers))
	for i, s := range c.servers {
		addrs[i] = s.Addr
	}
	return addrs
}

// controlTimeout is how long a server has for the harness's own requests: it may have the load of a cell before it.
const controlTimeout = 10 * time.Second

// each asks every server, by way of the harness's own connection.
func (c *cluster) each(ctx context.Context, ask func(ctx context.Context, i int, control *redis.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, controlTimeout)
	defer cancel()
	for i, control := range c.control {
		if err := ask(ctx, i, control); err != nil {
			return fmt.Errorf("server %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *cluster) flush(ctx context.Context) error {
	return c.each(ctx, func(ctx context.Context, _ int, control *redis.Client) error { return control.FlushAll(ctx).Err() })
}

// open has a contestant make its lock on servers that have forgotten what was before.
func (c *cluster) open(ctx context.Context, who *contestant) (locker, error) {
	if err := c.flush(ctx); err != nil {
		return nil, err
	}
	return who.open(ctx, c.addrs()[:who.servers])
}

// info reads a section of a server's INFO as names and values.
func (c *cluster) info(ctx context.Context, server int, section string) (map[string]string, error) {
	c.infos[server]++
	text, err := c.control[server].Info(ctx, section).Result()
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if name, value, found := strings.Cut(lines.Text(), ":"); found {
			values[name] = value
		}
	}
	return values, nil
}

// owner stands in for the test that package redisserver wants its servers to belong to. Where a test would fail, or be
// skipped, it panics with a failure.
type owner struct {
	testing.TB // nil: for the methods that are not called
	cleanups   []func()
}

type failure struct{ error }

// guarded runs f and gives the failure it ended with.
func guarded(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
		default:
			panic(r)
		}
	}()
	f()
	return nil
}

func (o *owner) Helper()                           {}
func (o *owner) Cleanup(f func())                  { o.cleanups = append(o.cleanups, f) }
func (o *owner) Fatal(args ...any)                 { panic(failure{errors.New(fmt.Sprint(args...))}) }
func (o *owner) Fatalf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }
func (o *owner) Skipf(format string, args ...any)  { o.Fatalf(format, args...) }

func (o *owner) TempDir() string {
	dir, err := os.MkdirTemp("", "redlock-bench-")
	if err != nil {
		o.Fatal(err)
	}
	o.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Clean(dir)
}

func (o *owner) close() {
	for len(o.cleanups) > 0 {
		last := len(o.cleanups) - 1
		f := o.cleanups[last]
		o.cleanups = o.cleanups[:last]
		f()
	}
}
