package faults

import (
	"fmt"
	"slices"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
)

// In is a world of the simulator as the ground of faults.
func In(w *sim.World) Ground {
	return &world{in: w, forgotten: map[string]Forgotten{}}
}

type world struct {
	in        *sim.World
	forgotten map[string]Forgotten // by the nodes that are down
}

func (w *world) Now() kernel.True            { return w.in.Kernel.Now() }
func (w *world) At(at kernel.True, f func()) { w.in.Kernel.After(at.Sub(w.Now()), f) }
func (w *world) Record(e history.Event)      { w.in.Record(e) }
func (w *world) Grain() time.Duration        { return 1 }

func (w *world) Hear(f func(kernel.True, *history.Event)) {
	trace.On(w.in.Events, func(e *history.Event) { f(w.Now(), e) })
}

func (w *world) Clients() []string  { return namesOf(w.in.Clients) }
func (w *world) Nodes() []string    { return namesOf(w.in.Servers) }
func (w *world) Replicas() []string { return namesOf(w.in.Replicas) }

func namesOf[T interface{ Name() string }](of []T) []string {
	all := make([]string, len(of))
	for i, x := range of {
		all[i] = x.Name()
	}
	return all
}

func (w *world) StepClock(process string, by time.Duration) (matters bool) {
	matters = true
	if s := w.in.Server(process); s != nil && s.Up() && !s.HasService() && len(s.Group()) == 1 {
		matters = slices.ContainsFunc(s.Dump(), func(r redis.Record) bool { return Moves(r, s.Clock().Wall(), by) })
	}
	w.in.Process(process).Clock().Step(by)
	return matters
}
func (w *world) SetClockRate(process string, ppb int64) { w.in.Process(process).Clock().SetRate(ppb) }

func (w *world) AfterWall(node string, d time.Duration, f func()) {
	s := w.in.Server(node)
	w.in.WhenWall(s.Process, s.Clock().Wall()+kernel.Wall(d), f)
}

func (w *world) each(l *Links, f func(*network.Link, network.Direction)) {
	l.Each(w, func(from, to string, d network.Direction) { f(w.in.Network.Link(from, to), d) })
}

func (w *world) Lose(l *Links) (undo func()) {
	w.each(l, func(link *network.Link, d network.Direction) { link.Cut(d) })
	return func() { w.each(l, func(link *network.Link, d network.Direction) { link.Mend(d) }) }
}

func (w *world) Hold(l *Links) (undo func() time.Duration) {
	w.each(l, func(link *network.Link, d network.Direction) { link.Hold(d) })
	return func() (longest time.Duration) {
		w.each(l, func(link *network.Link, d network.Direction) { longest = max(longest, link.Release(d)) })
		return longest
	}
}

func (w *world) Slow(l *Links, by time.Duration) (most time.Duration, undo func()) {
	w.each(l, func(link *network.Link, d network.Direction) { most = max(most, link.Delay(d, by)) })
	return most, func() { w.each(l, func(link *network.Link, d network.Direction) { link.Delay(d, -by) }) }
}

func (w *world) Reset(l *Links) {
	w.each(l, func(link *network.Link, _ network.Direction) { link.Reset() })
}

func (w *world) Met() bool { return w.in.Network.Met() }

func (w *world) Up(node string) bool { return w.in.Server(node).Up() }

func (w *world) Stop(node string, how Stop) (kernel.True, error) {
	s := w.in.Server(node)
	knew := s.Dump()
	var err error
	switch how {
	case Killed:
		err = s.Kill()
	case PoweredOff:
		err = s.LosePower()
	case ShutDown:
		err = s.Shutdown()
	}
	w.forgotten[node] = Forget(knew, s.OnDisk(), 0)
	return w.Now(), err
}

func (w *world) Start(node string) (Memory, error) {
	s := w.in.Server(node)
	if err := s.Restart(); err != nil {
		return Memory{}, err
	}
	return Memory{w.forgotten[node], len(s.OnDisk()) == 0}, nil
}

func (w *world) Evict(node string, goes func(key string) bool) (Forgotten, error) {
	s := w.in.Server(node)
	before := s.Dump()
	s.Evict(goes)
	return Forget(before, s.Dump(), 0), nil
}

func (w *world) IsReplica(name string) bool { return w.in.Server(name).IsReplica() }

func (w *world) Promote(node, replica string) (Forgotten, error) {
	from, to := w.in.Server(node), w.in.Server(replica)
	missing := to.Missing(from)
	if err := w.in.Promote(to); err != nil {
		return Forgotten{}, err
	}
	lacks := Forget(missing, to.Dump(), 0)
	lacks.Any = len(missing) > 0
	return lacks, nil
}

func (w *world) Lead(clients []string, node, replica string) {
	for _, name := range clients {
		w.in.Lead(w.in.Client(name), node, replica)
	}
}

func (w *world) Paused(process string) bool { return w.in.Process(process).Paused() }

func (w *world) Pause(process string) error  { return w.stopped(process, (*kernel.Process).Pause) }
func (w *world) Suspend(client string) error { return w.stopped(client, (*kernel.Process).Suspend) }

func (w *world) stopped(process string, how func(*kernel.Process)) error {
	p := w.in.Process(process)
	if p.Dead() {
		return fmt.Errorf("%s has crashed", process)
	}
	if s := w.in.Server(process); s != nil && !s.Up() {
		return fmt.Errorf("%s is down", process)
	}
	how(p)
	return nil
}

func (w *world) WakeClock(process string) { w.in.Process(process).WakeClock() }

func (w *world) Resume(process string) error {
	w.in.Process(process).Resume()
	return nil
}

func (w *world) Hang(client string) { w.in.Client(client).Hang() }

func (w *world) Crash(client string) error   { return w.in.Crash(w.in.Client(client)) }
func (w *world) Restart(client string) error { return w.in.RestartClient(client) }
