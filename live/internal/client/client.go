//go:build linux

// Package client is the process of one client of a scenario on tier live: it runs the client's programs against server
// processes, as its parent orders, and reports what happens.
package client

import (
	"context"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/speed"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
)

// client is the client of a scenario: it carries out what its parent orders, and reports what happens.
type client struct {
	scenario *scenarios.Scenario // in the machine's time
	clock    clock
	report   *reporter
	host     *host
	session  *scenarios.Session
}

// newClient makes the client ready. It connects to every Redis node, as a client that has run for a while has; one that is
// started again to those that there are then.
func newClient(r *Role, to *notices) (*client, error) {
	all, err := scenarios.Parse("scenario.yaml", []byte(r.Scenario))
	if err != nil {
		return nil, err
	}
	c := &client{scenario: speed.Scenario(all[0], r.Speed)}
	c.report = newReporter(to, c.scenario)
	if c.clock, err = newClock(r.Clocks, c.scenario.Lock.Clock); err != nil {
		return nil, err
	}
	c.host = newHost(r, c.clock, c.report)
	for i, addr := range r.Nodes {
		if !r.IsRedis {
			break
		}
		name := c.scenario.Nodes.Names[i]
		rc := goredis.NewClient(&redis.Options{Addr: addr})
		ctx, cancel := context.WithTimeout(context.Background(), redisproc.Patience)
		err := rc.Ping(ctx).Err()
		cancel()
		if err != nil && r.Restarts == 0 {
			return nil, fmt.Errorf("live: %s to %s: %w", r.Name, name, err)
		}
		if err := c.host.addNode(name, rc); err != nil {
			return nil, err
		}
	}
	var foreign *scenarios.Foreign
	if r.Lock != nil {
		foreign = &scenarios.Foreign{New: c.startProgram, IsProgram: true}
	}
	c.session, err = scenarios.NewSession(c.host, c.scenario, foreign, nil)
	return c, err
}

// obey carries out an order.
func (c *client) obey(o Order) {
	switch {
	case o.Run > 0:
		item := &c.scenario.Timeline[o.Run-1]
		var all sync.WaitGroup
		for range max(item.Goroutines, 1) {
			all.Go(func() {
				c.host.Enter()
				defer c.host.Leave()
				c.session.Run(item)
			})
		}
		go func() {
			all.Wait()
			c.report.tell(Notice{Done: o.Run})
		}()
	case o.Go > 0:
		c.report.release(o.Go)
	case o.Stuck:
		c.host.stuck.Store(true)
	case o.Serving != nil:
		c.host.serving.Store(o.Serving.Node, o.Serving.By)
	}
}
