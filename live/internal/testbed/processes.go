//go:build linux

package testbed

import (
	"fmt"
	"slices"
	"syscall"

	"redlocksim/internal/redisproc"
	"redlocksim/sim/history"

	"redlocksim/live/internal/messages"
)

func (g ground) Paused(process string) bool {
	if c := g.ClientNamed(process); c != nil {
		return c.IsUp() && c.Stopped
	}
	s := g.ServerNamed(process)
	return s.IsUp() && s.Paused
}

// Pause implements faults.Processes. It asks a server that has replicas what it knows first, as one of them may be promoted.
func (g ground) Pause(process string) error {
	if c := g.ClientNamed(process); c != nil {
		return g.stopClient(c)
	}
	s := g.ServerNamed(process)
	if !s.IsUp() {
		return fmt.Errorf("%s is down", process)
	}
	if g.groupOf(s.Name) != nil && !s.Paused {
		var err error
		if s.Knew, err = s.Dump(); err != nil {
			return err
		}
	}
	return g.failing(s.Pause())
}

func (g ground) stopClient(c *Client) error {
	if !c.IsUp() {
		return fmt.Errorf("%s has crashed", c.name)
	}
	c.Stopped = true
	return g.failing(c.process.Stop(redisproc.Patience))
}

func (g ground) Suspend(client string) error {
	c := g.ClientNamed(client)
	if err := g.stopClient(c); err != nil {
		return err
	}
	g.clocksChanged(c.Clocks.Suspend(), c.name)
	return nil
}

func (g ground) WakeClock(process string) {
	if c := g.ClientNamed(process); c != nil && c.Clocks != nil && c.Clocks.IsSuspended() {
		g.clocksChanged(c.Clocks.Wake(), c.name)
	}
}

func (g ground) Resume(process string) error {
	c := g.ClientNamed(process)
	if c == nil {
		return g.failing(g.ServerNamed(process).GoOn())
	}
	c.Stopped = false
	g.WakeClock(process)
	_ = c.process.Signal(syscall.SIGCONT)
	return nil
}

func (g ground) Hang(client string) {
	if c := g.ClientNamed(client); c.IsUp() {
		c.Send(messages.Order{Stuck: true})
	}
}

func (g ground) Crash(client string) error {
	c := g.ClientNamed(client)
	if !c.IsUp() {
		return fmt.Errorf("live: crash: %s has crashed already", client)
	}
	last, err := c.Crash()
	if err != nil {
		return g.failing(err)
	}
	g.Happened(last, history.Event{Kind: history.Crash, Process: client})
	return nil
}

func (g ground) Restart(client string) error {
	c := g.ClientNamed(client)
	if c.IsUp() {
		return fmt.Errorf("live: restart: %s has not crashed", client)
	}
	g.WakeClock(client)
	role := *c.told[0].Begin
	role.Restarts++
	again, err := g.StartClient(client, messages.Order{Begin: &role})
	if err != nil {
		return g.failing(err)
	}
	for _, o := range c.told[1:] {
		again.told = append(again.told, o)
		again.Send(o)
	}
	again.Clocks, again.Kind, c.Clocks = c.Clocks, c.Kind, nil
	g.retire(c)
	g.Testbed.Clients[slices.Index(g.Testbed.Clients, c)] = again
	return nil
}
