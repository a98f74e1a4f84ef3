package faults

import (
	"slices"
	"time"

	"redlocksim/redlock"
	"redlocksim/sim"
)

// Outage is what the faults that stop a Redis node share.
type Outage struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required"`
	// RestartAfter is how long after it stopped the node starts again, in true time; 0s restarts it at once. Default: stays
	// down until a restart. Example: 1s
	RestartAfter *time.Duration `yaml:"restart-after"`
	// ByWallClock measures that time with the node's wall clock instead, which may be stepped meanwhile. Default: false.
	// Example: true
	ByWallClock bool `yaml:"by-wall-clock"`
}

func (o *Outage) check(n Names) []Problem {
	problems := among("node", o.Node, n.Nodes, "node")
	if o.RestartAfter != nil {
		problems = append(problems, notNegative("restart-after", *o.RestartAfter)...)
	}
	return problems
}

// stop takes the node down by one of its three ways.
func (o *Outage) stop(f *Field, name string, how func(*sim.Server) error, text string) error {
	s := f.World.Server(o.Node)
	before := s.Dump()
	if err := how(s); err != nil {
		return err
	}
	this := outage{at: f.World.Kernel.Now(), number: f.down[o.Node].number + 1, lost: lost(before, s.OnDisk()), comesBack: o.RestartAfter != nil}
	f.down[o.Node] = this
	var after time.Duration
	if o.RestartAfter != nil {
		after = *o.RestartAfter
	}
	f.note(name, "", o.Node, after, text, o.Node)
	if o.RestartAfter == nil {
		return nil
	}
	restart := &Restart{Node: o.Node}
	again := func() {
		// The timeline may have restarted it earlier, and stopped it again.
		if !s.Up() && f.down[o.Node].number == this.number {
			_ = restart.Apply(f) // it is down
		}
	}
	switch {
	case after == 0:
		return restart.Apply(f)
	case o.ByWallClock:
		f.World.WhenWall(s.Process, s.Clock().Wall()+sim.Wall(after), again)
	default:
		f.World.Kernel.After(after, again)
	}
	return nil
}

// loss is what a node that starts again no longer knows.
type loss struct {
	// any: it lacks a key, has another value for it, or thinks that it expires earlier.
	any bool
	// counters: one of the fencing counters is gone, or is what it was before.
	counters bool
}

// lost compares what a node knew with what it knows now.
func lost(before, now []sim.Record) loss {
	var l loss
	for _, r := range before {
		at := slices.IndexFunc(now, func(d sim.Record) bool { return d.Key == r.Key && d.Value == r.Value })
		if at >= 0 && (now[at].ExpiresAt == 0 || r.ExpiresAt != 0 && now[at].ExpiresAt >= r.ExpiresAt) {
			continue
		}
		l.any = true
		l.counters = l.counters || at < 0 && redlock.IsTokenKey(r.Key)
	}
	return l
}

// Kill ends the process of a node, as kill −9 does. It loses what it had not handed to the operating system.
type Kill struct {
	Outage `yaml:",inline"`
}

// Check implements Fault.
func (k *Kill) Check(n Names) []Problem { return k.check(n) }

// Apply implements Fault.
func (k *Kill) Apply(f *Field) error { return k.stop(f, "kill", (*sim.Server).Kill, "%s is killed") }

// PowerLoss turns a node's machine off. It loses what was not fsynced, and clients get no answer, not even a refusal.
type PowerLoss struct {
	Outage `yaml:",inline"`
}

// Check implements Fault.
func (p *PowerLoss) Check(n Names) []Problem { return p.check(n) }

// Apply implements Fault.
func (p *PowerLoss) Apply(f *Field) error {
	err := p.stop(f, "power-loss", (*sim.Server).LosePower, "%s loses power")
	if err == nil {
		f.Spent.Unpowered = append(f.Spent.Unpowered, p.Node)
	}
	return err
}

// Shutdown stops a node cleanly, after it has written what it persists.
type Shutdown struct {
	Outage `yaml:",inline"`
}

// Check implements Fault.
func (s *Shutdown) Check(n Names) []Problem { return s.check(n) }

// Apply implements Fault.
func (s *Shutdown) Apply(f *Field) error {
	return s.stop(f, "shutdown", (*sim.Server).Shutdown, "%s is shut down")
}

// Restart starts a node that is down, with what is on its disk.
type Restart struct {
	// Node is the node. Example: C
	Node string `yaml:"node,required"`
}

// Check implements Fault.
func (r *Restart) Check(n Names) []Problem { return among("node", r.Node, n.Nodes, "node") }

// Apply implements Fault.
func (r *Restart) Apply(f *Field) error {
	s := f.World.Server(r.Node)
	if err := s.Restart(); err != nil {
		return err
	}
	was := f.down[r.Node]
	after := f.World.Kernel.Now().Sub(was.at)
	with := "all it knew"
	if was.lost.any {
		f.Spent.Restarts = append(f.Spent.Restarts, Amnesia{Node: r.Node, After: after, Counters: was.lost.counters})
		with = "what was on its disk"
		if len(s.OnDisk()) == 0 {
			with = "an empty memory"
		}
	}
	f.note("restart", "", r.Node, after, "%s restarts with %s, %v after it stopped", r.Node, with, after)
	return nil
}
