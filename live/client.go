//go:build linux

package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/redis/go-redis/v9"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/redisproc"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/goredis"
	"redlocksim/scenarios"
)

// Client is all that a client process does: it reads orders from in and writes what happens to out, until in ends.
// An error is also written to out.
func Client(in io.Reader, out io.Writer) error { return clientOver(in, out, nil) }

// clientOver is Client. plant, if not nil, wraps the library's view of each node of a soak.
func clientOver(in io.Reader, out io.Writer, plant func(driver.Node) driver.Node) error {
	p := &noticeWriter{out: json.NewEncoder(out)}
	err := serve(in, p, plant)
	if err != nil {
		p.send(notice{Fatal: err.Error()})
	}
	return err
}

// serve becomes the client that the first order describes, and carries out the others.
func serve(in io.Reader, p *noticeWriter, plant func(driver.Node) driver.Node) error {
	lines := bufio.NewReader(in)
	next := func() (o order, err error) {
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &o)
		}
		return o, err
	}
	first, err := next()
	var obey func(order)
	switch {
	case err == nil && first.Begin != nil:
		c := &client{notices: p, waiting: map[int]chan struct{}{}}
		err, obey = c.begin(first.Begin), c.obey
	case err == nil && first.Soak != nil:
		var c *soakClients
		if c, err = newSoakClients(first.Soak, p, plant); err == nil {
			obey = c.obey
		}
	default:
		err = fmt.Errorf("live: the first order: %w", errors.Join(err, errors.New("not what begins")))
	}
	if err != nil {
		return err
	}
	p.send(notice{Ready: true})
	for {
		o, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("live: an order: %w", err)
		}
		obey(o)
	}
}

// client is the client of a scenario: it carries out what its parent orders, and reports what happens.
type client struct {
	role
	scenario *scenarios.Scenario // in the machine's time
	stops    []faults.Moment
	clock    lockClock
	redis    []*redis.Client
	host     *host
	session  *scenarios.Session

	notices *noticeWriter
	mu      sync.Mutex
	waiting map[int]chan struct{} // notices that wait for an order to go on, by their numbers
	waits   int
}

// obey carries out an order.
func (c *client) obey(o order) {
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
			c.tell(notice{Done: o.Run})
		}()
	case o.Go > 0:
		c.mu.Lock()
		close(c.waiting[o.Go])
		delete(c.waiting, o.Go)
		c.mu.Unlock()
	case o.ClocksChanged:
		c.clock.rearm()
	case o.Stuck:
		c.host.stuck.Store(true)
	case o.Serving != nil:
		c.host.serving.Store(o.Serving.Node, o.Serving.By)
	}
}

// begin makes the client ready. It connects to every node, as a client that has run for a while has.
func (c *client) begin(r *role) error {
	c.role = *r
	all, err := scenarios.Parse("scenario.yaml", []byte(r.Scenario))
	if err != nil {
		return err
	}
	c.scenario = atSpeed(all[0], r.Speed)
	for i := range c.scenario.Timeline {
		// What the timeline does at an event of this client must be done before the client continues.
		if item := &c.scenario.Timeline[i]; item.When.After != nil && item.When.Plus == 0 {
			c.stops = append(c.stops, *item.When.After)
		}
	}
	if c.clock, err = newLockClock(r.Clocks, c.scenario.Lock.Clock); err != nil {
		return err
	}
	for i, addr := range r.Nodes {
		rc := goredis.NewClient(&redis.Options{Addr: addr})
		ctx, cancel := context.WithTimeout(context.Background(), redisproc.Patience)
		err := rc.Ping(ctx).Err()
		cancel()
		if err != nil {
			return fmt.Errorf("live: %s to %s: %w", r.Name, c.scenario.Nodes.Names[i], err)
		}
		c.redis = append(c.redis, rc)
	}
	if c.host, err = newHost(c); err != nil {
		return err
	}
	c.session, err = scenarios.NewSession(c.host, c.scenario, nil)
	return err
}

// tell sends notices, and then waits for orders to continue if the timeline may do something at one of them.
func (c *client) tell(notices ...notice) {
	var stops []chan struct{}
	for _, n := range notices {
		if n.Event != nil && c.isStop(n.Event) {
			goOn := make(chan struct{})
			stops = append(stops, goOn)
			c.mu.Lock()
			c.waits++
			n.Wait = c.waits
			c.waiting[n.Wait] = goOn
			c.mu.Unlock()
		}
		c.notices.send(n)
	}
	for _, goOn := range stops {
		<-goOn
	}
}

func (c *client) isStop(e *history.Event) bool {
	for i := range c.stops {
		if c.stops[i].Matches(e) {
			return true
		}
	}
	return false
}

// scaled converts a length of the machine's time to the scenario's. The longest length stays the longest.
func scaled(span int64, speed int) int64 {
	const longest = 1<<63 - 1
	if span > longest/int64(speed) {
		return longest
	}
	return span * int64(speed)
}
