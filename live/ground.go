//go:build linux

package live

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"redlocksim/faults"
	"redlocksim/history"
	"redlocksim/internal/faketime"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/storage"
)

// ground is the testbed as faults see it. True time is CLOCK_MONOTONIC times the speed of the run. An error of the machine ends
// the run.
type ground struct{ *testbed }

func (g ground) Now() kernel.True                { return kernel.True(faketime.MachineTime() * g.speed) }
func (g ground) After(d time.Duration, f func()) { g.after(faketime.MachineTime(), d, f) }
func (g ground) Grain() time.Duration            { return time.Millisecond }
func (g ground) Record(e history.Event)          { g.happened(faketime.MachineTime(), e) }

func (g ground) Clients() []string {
	names := make([]string, len(g.clients))
	for i, c := range g.clients {
		names[i] = c.name
	}
	return names
}

func (g ground) Nodes() []string {
	return g.serversThat(func(name string) bool { return !g.isReplica(name) })
}
func (g ground) Replicas() []string { return g.serversThat(g.isReplica) }

func (g ground) serversThat(are func(string) bool) (names []string) {
	for _, s := range g.servers {
		if are(s.name) {
			names = append(names, s.name)
		}
	}
	return names
}

// fail ends the run with an error, if there is one.
func (g ground) fail(err error) error {
	if err != nil && g.failed == nil {
		g.failed = err
	}
	return err
}

// clocksOf are the clocks of a client or node.
func (g ground) clocksOf(process string) *faketime.Clocks {
	if s := g.server(process); s != nil {
		return s.clocks
	}
	return g.client(process).clocks
}

// clocksChanged notifies everything that goes by a process's clocks of a change at that reading of CLOCK_MONOTONIC: the client,
// the record, and what waits for a node's clock.
func (g ground) clocksChanged(at int64, process string) {
	if c := g.client(process); c != nil {
		l := skewOf(c.clocks, c.kind)
		g.take(entry{at: at, process: process, clock: &l})
		if c.process != nil {
			c.send(order{ClocksChanged: true})
		}
		return
	}
	for _, wait := range slices.Clone(g.byWall[process]) {
		g.when(faketime.MachineTime(), wait.look)
	}
}

func (g ground) StepClock(process string, by time.Duration) {
	g.clocksChanged(g.clocksOf(process).Step(by/time.Duration(g.speed)), process)
}

func (g ground) SetClockRate(process string, ppb int64) {
	g.clocksChanged(g.clocksOf(process).SetRate(ppb), process)
}

// wallWait waits for a reading of a node's wall clock.
type wallWait struct{ look func() }

// AfterWall implements faults.Clocks. A server that is down is supervised by its machine's clock.
func (g ground) AfterWall(node string, d time.Duration, f func()) {
	s, wait := g.server(node), new(wallWait)
	at := s.clocks.WallNow().Add(d / time.Duration(g.speed))
	var next *moment
	wait.look = func() {
		g.drop(next)
		if s.clocks.WallNow().Before(at) {
			next = g.when(s.clocks.WhenWall(at), wait.look)
			return
		}
		if i := slices.Index(g.byWall[node], wait); i >= 0 {
			g.byWall[node] = slices.Delete(g.byWall[node], i, i+1)
			f()
		}
	}
	g.byWall[node] = append(g.byWall[node], wait)
	wait.look()
}

// each changes the selected directions of the selected links.
func (g ground) each(l *faults.Links, change func(*impairment)) {
	if len(l.Peers) > 0 {
		g.eachOfPeers(l, change)
		return
	}
	for _, p := range g.proxies {
		if p.amongNodes || len(l.Clients) > 0 && !slices.Contains(l.Clients, p.client) ||
			len(l.Nodes) > 0 && !slices.Contains(l.Nodes, p.node) || len(l.Nodes) == 0 && p.node == storage.Name {
			continue
		}
		if l.Direction != network.Replies {
			p.up.change(change)
		}
		if l.Direction != network.Requests {
			p.down.change(change)
		}
	}
}

func (g ground) Lose(l *faults.Links) (undo func()) {
	g.each(l, func(w *impairment) { w.lost++ })
	return func() { g.each(l, func(w *impairment) { w.lost-- }) }
}

func (g ground) Hold(l *faults.Links) (undo func() time.Duration) {
	g.each(l, func(w *impairment) { w.held++ })
	return func() time.Duration {
		g.each(l, func(w *impairment) { w.held-- })
		return 0 // delays of the machine are no fault
	}
}

func (g ground) Slow(l *faults.Links, by time.Duration) (most time.Duration, undo func()) {
	speed := time.Duration(g.speed)
	most = by
	g.each(l, func(w *impairment) {
		w.delay += by / speed
		most = max(most, w.delay*speed)
	})
	return most, func() { g.each(l, func(w *impairment) { w.delay -= by / speed }) }
}

func (g ground) Split(l *faults.Links, _ int, _ bool) (undo func(), err error) {
	return nil, fmt.Errorf("live: batches %v: %w", l, ErrUnfit)
}

func (g ground) Reset(l *faults.Links) {
	both := *l
	both.Direction = network.Both
	g.each(&both, func(w *impairment) { w.resets++ })
}

// darken cuts the links of a server that has no power, or restores them.
func (g ground) darken(s *server, by int) {
	g.each(&faults.Links{Nodes: []string{s.name}}, func(w *impairment) { w.lost += by })
}

func (g ground) Up(node string) bool { return g.server(node).process != nil }

// Stop implements faults.Servers. It asks the server what it knows before stopping it.
func (g ground) Stop(node string, how faults.Stop) (kernel.True, error) {
	s := g.server(node)
	if s.paused {
		s.process.signal(syscall.SIGCONT)
	}
	var err error
	if s.knew, err = s.dump(); err != nil {
		return 0, err
	}
	s.isDark = how == faults.PoweredOff
	if s.isDark {
		g.darken(s, +1)
	}
	g.muffle(s, +1)
	at := g.Now()
	if err := s.stop(how); err != nil {
		return 0, g.fail(err)
	}
	g.muffle(s, -1)
	return at, nil
}

// Start implements faults.Servers. It returns when the node answers. Nothing else happens until then, so that nothing planned
// for after the restart comes before it.
func (g ground) Start(node string) (faults.Memory, error) {
	s := g.server(node)
	if err := s.start(context.Background()); err != nil {
		return faults.Memory{}, g.fail(err)
	}
	knows, err := s.dump()
	if err != nil {
		return faults.Memory{}, g.fail(err)
	}
	if s.isDark {
		s.isDark = false
		g.darken(s, -1)
	}
	return faults.Memory{Forgotten: faults.Forget(s.knew, knows, s.wall()), Empty: len(knows) == 0}, nil
}

func (g ground) Paused(process string) bool {
	if c := g.client(process); c != nil {
		return c.process != nil && c.stopped
	}
	s := g.server(process)
	return s.process != nil && s.paused
}

// Pause implements faults.Processes. It asks a server that has replicas what it knows first, as one of them may be promoted.
func (g ground) Pause(process string) error {
	if c := g.client(process); c != nil {
		return g.stopClient(c)
	}
	s := g.server(process)
	if s.process == nil {
		return fmt.Errorf("%s is down", process)
	}
	if g.groupOf(s.name) != nil && !s.paused {
		var err error
		if s.knew, err = s.dump(); err != nil {
			return err
		}
	}
	s.paused = true
	s.process.stop()
	return nil
}

func (g ground) stopClient(c *clientProcess) error {
	if c.process == nil {
		return fmt.Errorf("%s has crashed", c.name)
	}
	c.stopped = true
	c.process.stop()
	return nil
}

func (g ground) Suspend(client string) error {
	c := g.client(client)
	if err := g.stopClient(c); err != nil {
		return err
	}
	g.clocksChanged(c.clocks.Suspend(), c.name)
	return nil
}

func (g ground) Resume(process string) error {
	c := g.client(process)
	if c == nil {
		return g.fail(g.server(process).goOn())
	}
	c.stopped = false
	if c.clocks != nil && c.clocks.IsSuspended() {
		g.clocksChanged(c.clocks.Wake(), c.name)
	}
	c.process.signal(syscall.SIGCONT)
	return nil
}

func (g ground) Hang(client string) {
	if c := g.client(client); c.process != nil {
		c.send(order{Stuck: true})
	}
}

func (g ground) Crash(client string) error {
	c := g.client(client)
	if c.process == nil {
		return fmt.Errorf("live: crash: %s has crashed already", client)
	}
	c.crash()
	g.Record(history.Event{Kind: history.Crash, Process: client})
	return nil
}
