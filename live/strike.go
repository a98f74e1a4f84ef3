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
	"redlocksim/sim"
)

// down is how a server went down.
type down struct {
	at     int64
	number int                   // tells it from the server's other outages
	knew   map[string]remembered // before
	dark   bool                  // it is without power
	// byWall looks whether the server's wall clock says that it is to start again; nil if nobody asks that clock.
	byWall func()
	// comesBack: its restart is on its way.
	comesBack bool
}

// remedy undoes a fault that is in force, once.
type remedy struct {
	undo func()
	over bool
}

func (m *remedy) apply() {
	if !m.over {
		m.over = true
		m.undo()
	}
}

// lasts has a fault that is in force undone after d, or at the healing if that is earlier; if d is zero, at the healing
// only.
func (r *stage) lasts(d time.Duration, undo func()) {
	m := &remedy{undo: undo}
	r.inForce = append(r.inForce, m)
	if d > 0 {
		r.after(trueTime(), d, m.apply)
	}
}

// note takes a fault down.
func (r *stage) note(name, process, node string, size time.Duration, format string, args ...any) {
	r.happened(trueTime(), history.Event{Kind: history.Fault, Name: name, Process: process, Node: node, Span: int64(size), Detail: fmt.Sprintf(format, args...)})
}

// notePoint takes a fault down that strikes the process of this name, client or node.
func (r *stage) notePoint(name, process string, size time.Duration, format string, args ...any) {
	if r.client(process) != nil {
		r.note(name, process, "", size, format, args...)
	} else {
		r.note(name, "", process, size, format, args...)
	}
}

// strike has a fault happen, now. An error means that it cannot happen in this state. What each fault means is said in
// package faults.
func (r *stage) strike(fault faults.Fault) error {
	switch f := fault.(type) {
	case *faults.ClockStep:
		r.clockStep(f)
		return nil
	case *faults.ClockRate:
		r.clockRate(f)
		return nil
	case *faults.Promote:
		return r.promote(f)
	case *faults.Partition:
		r.partition(f)
		return nil
	case *faults.Hold:
		r.spent.Delay = max(r.spent.Delay, f.For)
		r.each(&f.Links, func(w *wrong) { w.held++ })
		r.note("hold", one(f.Clients), "", f.For, "messages %v are held back for %v", &f.Links, f.For)
		r.lasts(f.For, func() {
			r.note("hold-ends", one(f.Clients), "", 0, "messages %v that were held back arrive", &f.Links)
			r.each(&f.Links, func(w *wrong) { w.held-- })
		})
		return nil
	case *faults.Delay:
		by := f.By / time.Duration(r.speed)
		r.spent.Delay = max(r.spent.Delay, f.By)
		r.each(&f.Links, func(w *wrong) { w.delay += by })
		r.note("delay", one(f.Clients), "", f.By, "messages %v take %v longer", &f.Links, f.By)
		r.lasts(f.For, func() {
			r.each(&f.Links, func(w *wrong) { w.delay -= by })
			r.note("delay-ends", one(f.Clients), "", 0, "messages %v are as fast as before", &f.Links)
		})
		return nil
	case *faults.Reset:
		r.note("reset", one(f.Clients), "", 0, "connections %v are reset", &f.Links)
		both := f.Links
		both.Direction = faults.Direction{Direction: sim.Both}
		r.each(&both, func(w *wrong) { w.resets++ })
		return nil
	case *faults.Kill:
		return r.stop(&f.Outage, "kill", killed, "%s is killed")
	case *faults.PowerLoss:
		return r.stop(&f.Outage, "power-loss", withoutPower, "%s loses power")
	case *faults.Shutdown:
		return r.stop(&f.Outage, "shutdown", shutDown, "%s is shut down")
	case *faults.Restart:
		return r.restart(f.Node)
	case *faults.Pause:
		return r.pause(f)
	case *faults.Suspend:
		return r.suspend(f)
	case *faults.Resume:
		return r.resume(f.Process)
	case *faults.Stuck:
		if c := r.client(f.Client); c.process != nil {
			c.send(order{Stuck: true})
		}
		r.note("stuck", f.Client, "", 0, "%s hangs in its work", f.Client)
		return nil
	case *faults.Crash:
		c := r.client(f.Client)
		if c.process == nil {
			return fmt.Errorf("live: crash: %s has crashed already", c.name)
		}
		c.crash()
		r.happened(trueTime(), history.Event{Kind: history.Crash, Process: c.name})
		return nil
	}
	return fmt.Errorf("live: %T: %w", fault, ErrUnfit)
}

// each changes the directions of the links selected.
func (r *stage) each(l *faults.Links, change func(*wrong)) {
	if len(l.Peers) > 0 {
		r.eachOfPeers(l, change)
		return
	}
	for _, p := range r.proxies {
		if p.amongNodes || len(l.Clients) > 0 && !slices.Contains(l.Clients, p.client) ||
			len(l.Nodes) > 0 && !slices.Contains(l.Nodes, p.node) || len(l.Nodes) == 0 && p.node == sim.StorageName {
			continue
		}
		if l.Direction.Direction != sim.Replies {
			p.up.change(change)
		}
		if l.Direction.Direction != sim.Requests {
			p.down.change(change)
		}
	}
}

// one is the only one of some names; empty if there are others or none.
func one(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// clocksOf are the clocks of a client or node that a fault is to touch.
func (r *stage) clocksOf(process string) *clocks {
	if s := r.server(process); s != nil {
		return s.shared.clocks
	}
	return r.client(process).clocks
}

// turned tells who goes by a process's clocks that they were changed at a reading of CLOCK_MONOTONIC: the client, the record,
// and a restart that waits for a node's.
func (r *stage) turned(at int64, process string) {
	if c := r.client(process); c != nil {
		l := c.clocks.line(c.kind)
		r.take(entry{at: at, process: process, clock: &l})
		if c.process != nil {
			c.send(order{Turned: true})
		}
	} else if look := r.down[process].byWall; look != nil {
		r.when(trueTime(), look)
	}
}

func (r *stage) clockStep(f *faults.ClockStep) {
	r.turned(r.clocksOf(f.Process).step(int64(f.By)/r.speed), f.Process)
	r.spent.ClockStep = max(r.spent.ClockStep, f.By.Abs())
	where := "forward"
	if f.By < 0 {
		where = "back"
	}
	r.notePoint("clock-step", f.Process, f.By, "the wall clock of %s jumps %s by %v", f.Process, where, f.By.Abs())
}

// rateInForce is a rate error that has not ended.
type rateInForce struct{ ppb int64 }

// setRate gives a process the rate error that is in force since last.
func (r *stage) setRate(process string) {
	var ppb int64
	if in := r.rates[process]; len(in) > 0 {
		ppb = in[len(in)-1].ppb
	}
	r.turned(r.clocksOf(process).setRate(ppb), process)
}

func (r *stage) clockRate(f *faults.ClockRate) {
	this := &rateInForce{f.Rate.PPB()}
	r.rates[f.Process] = append(r.rates[f.Process], this)
	r.setRate(f.Process)
	rate, how := f.Rate, "fast"
	if rate.PPB() < 0 {
		rate, how = faults.RateOf(rate.Ratio().Neg()), "slow"
	}
	if rate.Ratio().GreaterThan(r.spent.ClockRate.Ratio()) {
		r.spent.ClockRate = rate
	}
	r.notePoint("clock-rate", f.Process, f.For, "the clocks of %s run %s %s", f.Process, rate, how)
	r.lasts(f.For, func() {
		r.rates[f.Process] = slices.DeleteFunc(r.rates[f.Process], func(x *rateInForce) bool { return x == this })
		r.setRate(f.Process)
		r.notePoint("clock-rate-ends", f.Process, 0, "the clocks of %s run as before", f.Process)
	})
}

func (r *stage) partition(f *faults.Partition) {
	r.each(&f.Links, func(w *wrong) { w.lost++ })
	cutsOff := f.Direction.Direction != sim.Replies && len(f.Peers) == 0
	for _, s := range r.servers {
		cutsOff = cutsOff && (len(f.Nodes) == 0 || slices.Contains(f.Nodes, s.name) || r.isReplica(s.name))
	}
	clients := f.Clients
	if len(clients) == 0 {
		for _, c := range r.clients {
			clients = append(clients, c.name)
		}
	}
	switch {
	case cutsOff && len(f.Clients) == 1:
		r.note(faults.CutOff, one(f.Clients), "", f.For, "messages %v are lost", &f.Links)
	default:
		r.note("partition", one(f.Clients), "", f.For, "messages %v are lost", &f.Links)
		if cutsOff {
			for _, c := range clients {
				r.note(faults.CutOff, c, "", f.For, "")
			}
		}
	}
	r.lasts(f.For, func() {
		r.each(&f.Links, func(w *wrong) { w.lost-- })
		r.note("partition-heals", one(f.Clients), "", 0, "messages %v get through again", &f.Links)
	})
}

// darken takes the links of a server that is without power away, or gives them back.
func (r *stage) darken(s *server, by int) {
	r.each(&faults.Links{Nodes: []string{s.name}}, func(w *wrong) { w.lost += by })
}

// stop takes a node down by one of the three ways.
func (r *stage) stop(o *faults.Outage, name string, how outage, text string) error {
	s := r.server(o.Node)
	if s.process == nil {
		return fmt.Errorf("live: %s: %s is down already", name, s.name)
	}
	this := down{number: r.down[s.name].number + 1, dark: how == withoutPower, comesBack: o.RestartAfter != nil}
	if s.paused {
		s.process.signal(syscall.SIGCONT) // it is asked what it knows
	}
	var err error
	if this.knew, err = s.dump(); err != nil {
		return err
	}
	if this.dark {
		r.spent.Unpowered = append(r.spent.Unpowered, s.name)
		r.darken(s, +1)
	}
	r.muffle(s, +1)
	this.at = trueTime()
	if err := s.stop(how); err != nil {
		r.failed = err
		return err
	}
	r.muffle(s, -1)
	r.down[s.name] = this
	var after time.Duration
	if o.RestartAfter != nil {
		after = *o.RestartAfter
	}
	r.note(name, "", s.name, after, text, s.name)
	if o.RestartAfter == nil {
		return nil
	}
	again := func() {
		// The timeline may have restarted it earlier, and stopped it again.
		if s.process == nil && r.down[s.name].number == this.number {
			r.failed = r.restart(s.name)
		}
	}
	switch {
	case after == 0:
		again()
	case o.ByWallClock:
		this.byWall = r.byWallClock(s, int64(after)/r.speed, again)
		r.down[s.name] = this
	default:
		r.after(this.at, after, again)
	}
	return nil
}

// byWallClock has f happen, once, when the wall clock of a server that is down reads d more than it does: what supervises
// it looks at that clock. The function returned must be called whenever that clock was changed.
func (r *stage) byWallClock(s *server, d int64, f func()) (look func()) {
	at := s.shared.wall() + d
	var next *moment
	look = func() {
		r.drop(next)
		if s.shared.wall() >= at {
			f()
			return
		}
		next = r.when(s.shared.whenWall(at), look)
	}
	look()
	return look
}

// restart starts a node that is down, with what is on its disk. It is over when the node answers; nothing else happens
// until then, so that what is to come after the restart cannot come before.
func (r *stage) restart(node string) error {
	s := r.server(node)
	if s.process != nil {
		return fmt.Errorf("live: restart: %s is up", node)
	}
	was := r.down[node]
	if err := s.start(context.Background()); err != nil {
		r.failed = err
		return err
	}
	now, err := s.dump()
	if err != nil {
		r.failed = err
		return err
	}
	was.byWall = nil
	r.down[node] = was
	if was.dark {
		r.darken(s, -1)
	}
	after := time.Duration((trueTime() - was.at) * r.speed)
	with := "all it knew"
	if lost := forgot(was.knew, now, s.wall()); lost.any {
		r.spent.Restarts = append(r.spent.Restarts, faults.Amnesia{Node: node, After: after, Counters: lost.counters})
		with = "what was on its disk"
		if len(now) == 0 {
			with = "an empty memory"
		}
	}
	r.note("restart", "", node, after, "%s restarts with %s, %v after it stopped", node, with, after.Round(time.Millisecond))
	return nil
}

func (r *stage) pause(f *faults.Pause) error {
	c, s := r.client(f.Process), r.server(f.Process)
	if c != nil && c.process == nil {
		return fmt.Errorf("live: pause: %s has crashed", f.Process)
	}
	if s != nil && s.process == nil {
		return fmt.Errorf("live: pause: %s is down", f.Process)
	}
	before, end := r.spell(f.Process, c != nil && c.stopped || s != nil && s.paused)
	r.spent.Pause = max(r.spent.Pause, before+f.For)
	if c != nil {
		c.stopped = true
		c.process.stop()
	} else {
		if r.groupOf(s.name) != nil && !s.paused {
			var err error
			if s.knew, err = s.dump(); err != nil {
				return err
			}
		}
		s.paused = true
		s.process.stop()
	}
	if f.For == 0 {
		r.spent.Pause = 1<<63 - 1
		r.notePoint("pause", f.Process, 0, "%s is paused", f.Process)
	} else {
		r.notePoint("pause", f.Process, f.For, "%s is paused for %v", f.Process, f.For)
	}
	r.lasts(f.For, end)
	return nil
}

// spell is a stretch of time in which a process is paused, by one pause or by several that overlap.
type spell struct {
	since   int64
	inForce int // pauses that have not ended
}

// spell begins a pause of a process. It returns for how long the process was stopped already, and how the pause ends: the process
// goes on if it is the last of its spell. Where the process was resumed or ended meanwhile nothing is left to end.
func (r *stage) spell(process string, isPaused bool) (before time.Duration, end func()) {
	if isPaused {
		before = time.Duration((trueTime() - r.spells[process].since) * r.speed)
	} else {
		r.spells[process] = &spell{since: trueTime()}
	}
	now := r.spells[process]
	now.inForce++
	return before, func() {
		if now.inForce--; now.inForce == 0 && r.spells[process] == now {
			_ = r.resume(process)
		}
	}
}

// suspend stops a client with its machine: its monotonic clock stands still until it goes on.
func (r *stage) suspend(f *faults.Suspend) error {
	c := r.client(f.Client)
	if c.process == nil {
		return fmt.Errorf("live: suspend: %s has crashed", c.name)
	}
	before, end := r.spell(c.name, c.stopped)
	r.spent.Suspend = max(r.spent.Suspend, before+f.For)
	c.stopped = true
	c.process.stop()
	r.turned(c.clocks.suspend(), c.name)
	r.note("suspend", c.name, "", f.For, "the machine of %s is suspended for %v", c.name, f.For)
	r.lasts(f.For, end)
	return nil
}

func (r *stage) resume(process string) error {
	if c := r.client(process); c != nil {
		if c.process == nil || !c.stopped {
			return fmt.Errorf("live: resume: %s is not paused", process)
		}
		r.notePoint("resume", process, 0, "%s goes on", process)
		c.stopped = false
		if c.clocks != nil && c.clocks.suspended != nil {
			r.turned(c.clocks.wake(), c.name)
		}
		c.process.signal(syscall.SIGCONT)
		return nil
	}
	s := r.server(process)
	if s.process == nil || !s.paused {
		return fmt.Errorf("live: resume: %s is not paused", process)
	}
	r.notePoint("resume", process, 0, "%s goes on", process)
	if err := s.goOn(); err != nil {
		r.failed = err // also where nobody waits for this error
		return err
	}
	return nil
}

// heal undoes all faults that are in force and lets none strike any more; see faults.Field.Heal.
func (r *stage) heal() {
	r.isHealed = true
	r.note(faults.Healed, "", "", 0, "all faults are healed")
	for _, m := range r.inForce {
		m.apply()
	}
	r.inForce = nil
	for _, s := range r.servers {
		if s.process == nil && !r.down[s.name].comesBack && !r.isReplaced(s.name) {
			if err := r.restart(s.name); err != nil {
				return
			}
		}
	}
}
