//go:build linux

// Package client is the process of one client of a scenario on tier live: it runs the client's programs against server
// processes, as its parent orders, and reports what happens.
package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/redis/go-redis/v9"

	"redlocksim/internal/child"
	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/speed"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
)

// Serve is all that a client process does: it reads orders from in and writes what happens to out, until in ends. An error is
// also written to out.
func Serve(in io.Reader, out io.Writer) error {
	report := &reporter{out: json.NewEncoder(out), waiting: map[int]chan struct{}{}}
	err := obeyAll(json.NewDecoder(in), report)
	if err != nil {
		report.tell(Notice{Fatal: err.Error()})
	}
	return err
}

func obeyAll(orders *json.Decoder, report *reporter) error {
	if err := child.AdoptOrphans(); err != nil { // a lock program's stand still and end with it
		return err
	}
	var first Order
	if err := orders.Decode(&first); err != nil || first.Begin == nil {
		return fmt.Errorf("live: the first order: not what begins: %w", err)
	}
	c, err := newClient(first.Begin, report)
	if err != nil {
		return err
	}
	report.tell(Notice{Ready: true})
	for {
		var o Order
		switch err := orders.Decode(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("live: an order: %w", err)
		}
		c.obey(o)
	}
}

// client is the client of a scenario: it carries out what its parent orders, and reports what happens.
type client struct {
	scenario *scenarios.Scenario // in the machine's time
	report   *reporter
	host     *host
	session  *scenarios.Session
}

// newClient makes the client ready. It connects to every Redis node, as a client that has run for a while has; one that is
// started again to those that there are then.
func newClient(r *Role, report *reporter) (*client, error) {
	all, err := scenarios.Parse("scenario.yaml", []byte(r.Scenario))
	if err != nil {
		return nil, err
	}
	c := &client{scenario: speed.Scenario(all[0], r.Speed), report: report}
	for i := range c.scenario.Timeline {
		// What the timeline does at an event of this client must be done before the client continues.
		if item := &c.scenario.Timeline[i]; item.When.After != nil && item.When.Plus == 0 {
			report.stops = append(report.stops, *item.When.After)
		}
	}
	clock, err := newClock(r.Clocks, c.scenario.Lock.Clock)
	if err != nil {
		return nil, err
	}
	c.host = newHost(r, clock, report)
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
	case o.Promoted != nil:
		c.host.masters.Store(o.Promoted.Node, o.Promoted.By)
	}
}
