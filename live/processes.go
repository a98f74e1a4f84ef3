//go:build linux

package live

import (
	"fmt"
	"slices"
	"syscall"

	"redlocksim/internal/redisproc"
	"redlocksim/live/internal/client"
	"redlocksim/sim/history"
)

// Paused implements faults.Ground.
func (r *run) Paused(process string) bool {
	if c := r.clientNamed(process); c != nil {
		return c.isUp && c.stopped
	}
	s := r.serverNamed(process)
	return s.IsUp() && s.Paused
}

// Pause implements faults.Ground. It asks a server that has replicas what it knows first, as one of them may be promoted.
func (r *run) Pause(process string) error {
	if c := r.clientNamed(process); c != nil {
		return r.stopClient(c)
	}
	s := r.serverNamed(process)
	if !s.IsUp() {
		return fmt.Errorf("%s is down", process)
	}
	if r.groupOf(s.Name) != nil && !s.Paused {
		var err error
		if s.Knew, err = s.Dump(); err != nil {
			return err
		}
	}
	return r.fail(s.Pause())
}

func (r *run) stopClient(c *process) error {
	if !c.isUp {
		return fmt.Errorf("%s has crashed", c.name)
	}
	c.stopped = true
	return r.fail(c.child.Stop(redisproc.Patience))
}

// Suspend implements faults.Ground.
func (r *run) Suspend(client string) error {
	c := r.clientNamed(client)
	if err := r.stopClient(c); err != nil {
		return err
	}
	r.clocksChanged(c.clocks.Suspend(), c.name)
	return nil
}

// WakeClock implements faults.Ground.
func (r *run) WakeClock(process string) {
	if c := r.clientNamed(process); c != nil && c.clocks != nil && c.clocks.IsSuspended() {
		r.clocksChanged(c.clocks.Wake(), c.name)
	}
}

// Resume implements faults.Ground.
func (r *run) Resume(process string) error {
	c := r.clientNamed(process)
	if c == nil {
		return r.fail(r.serverNamed(process).GoOn())
	}
	c.stopped = false
	r.WakeClock(process)
	_ = c.child.Signal(syscall.SIGCONT)
	return nil
}

// Hang implements faults.Ground.
func (r *run) Hang(name string) {
	if c := r.clientNamed(name); c.isUp {
		c.send(client.Order{Stuck: true})
	}
}

// Crash implements faults.Ground.
func (r *run) Crash(client string) error {
	c := r.clientNamed(client)
	if !c.isUp {
		return fmt.Errorf("live: crash: %s has crashed already", client)
	}
	last, err := c.crash()
	if err != nil {
		return r.fail(err)
	}
	r.happened(last, history.Event{Kind: history.Crash, Process: client})
	return nil
}

// Restart implements faults.Ground.
func (r *run) Restart(name string) error {
	c := r.clientNamed(name)
	if c.isUp {
		return fmt.Errorf("live: restart: %s has not crashed", name)
	}
	r.WakeClock(name)
	role := *c.told[0].Begin
	role.Restarts++
	again, err := r.startClient(name, client.Order{Begin: &role})
	if err != nil {
		return r.fail(err)
	}
	for _, o := range c.told[1:] {
		again.told = append(again.told, o)
		again.send(o)
	}
	again.clocks, again.kind, c.clocks = c.clocks, c.kind, nil
	r.gone = append(r.gone, c)
	r.clients[slices.Index(r.clients, c)] = again
	return nil
}
