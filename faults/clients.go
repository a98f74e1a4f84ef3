package faults

import (
	"fmt"
	"time"

	"redlocksim/sim"
)

// Pause stops a process where it is: a long garbage collection, a page fault, SIGSTOP, a busy host. Its clocks go on, and
// it learns only later what happened meanwhile.
type Pause struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required"`
	// For is the length of the pause; 0s lasts until a resume. Default: 0s. Example: 12s
	For time.Duration `yaml:"for"`
}

// Check implements Fault.
func (p *Pause) Check(n Names) []Problem {
	return append(among("process", p.Process, n.all(), "client or node"), notNegative("for", p.For)...)
}

// Apply implements Fault.
func (p *Pause) Apply(f *Field) error {
	before, end, err := f.pause("pause", p.Process, (*sim.Process).Pause)
	if err != nil {
		return err
	}
	f.Spent.Pause = max(f.Spent.Pause, before+p.For)
	if p.For == 0 {
		f.Spent.Pause = unbounded
		f.notePoint("pause", p.Process, 0, "%s is paused", p.Process)
	} else {
		f.notePoint("pause", p.Process, p.For, "%s is paused for %v", p.Process, p.For)
	}
	f.lasts(p.For, end)
	return nil
}

// spell is a stretch of time in which a process is paused, by one pause or by several that overlap.
type spell struct {
	since   sim.True
	inForce int // pauses that have not ended
}

// pause stops a process, and returns for how long it was stopped already, and how this pause ends: the process goes on if
// it is the last of its spell. A spell is also over when the process was resumed, or its server killed; then there is
// nothing left to end.
func (f *Field) pause(name, process string, how func(*sim.Process)) (before time.Duration, end func(), err error) {
	p := f.World.Process(process)
	if p.Dead() {
		return 0, nil, fmt.Errorf("faults: %s: %s has crashed", name, process)
	}
	if !p.Paused() {
		f.spells[process] = &spell{since: f.World.Kernel.Now()}
	}
	now := f.spells[process]
	now.inForce++
	how(p)
	return f.World.Kernel.Now().Sub(now.since), func() {
		if now.inForce--; now.inForce == 0 && f.spells[process] == now {
			f.resume(process)
		}
	}, nil
}

// Suspend stops a client together with its machine: a closed laptop, a frozen virtual machine. The monotonic clock stands
// still meanwhile.
type Suspend struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
	// For is the length in true time. Example: 1m
	For time.Duration `yaml:"for,required"`
}

// Check implements Fault.
func (s *Suspend) Check(n Names) []Problem {
	return append(among("client", s.Client, n.Clients, "client"), positive("for", s.For)...)
}

// Apply implements Fault.
func (s *Suspend) Apply(f *Field) error {
	before, end, err := f.pause("suspend", s.Client, (*sim.Process).Suspend)
	if err != nil {
		return err
	}
	f.Spent.Suspend = max(f.Spent.Suspend, before+s.For)
	f.note("suspend", s.Client, "", s.For, "the machine of %s is suspended for %v", s.Client, s.For)
	f.lasts(s.For, end)
	return nil
}

// Resume continues a paused process.
type Resume struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required"`
}

// Check implements Fault.
func (r *Resume) Check(n Names) []Problem {
	return among("process", r.Process, n.all(), "client or node")
}

// Apply implements Fault. It ends all pauses of the process.
func (r *Resume) Apply(f *Field) error {
	if p := f.World.Process(r.Process); !p.Paused() || p.Dead() {
		return fmt.Errorf("faults: resume: %s is not paused", r.Process)
	}
	f.resume(r.Process)
	return nil
}

// resume has a process go on, unless it crashed, or was killed or resumed meanwhile.
func (f *Field) resume(process string) {
	p := f.World.Process(process)
	if !p.Paused() {
		return
	}
	f.notePoint("resume", process, 0, "%s goes on", process)
	p.Resume()
}

// Stuck makes a client's work under its lock go on forever, in a loop or waiting for something that never comes, while it
// keeps renewing the lock.
type Stuck struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
}

// Check implements Fault.
func (s *Stuck) Check(n Names) []Problem { return among("client", s.Client, n.Clients, "client") }

// Apply implements Fault.
func (s *Stuck) Apply(f *Field) error {
	f.World.Client(s.Client).GetStuck()
	f.note("stuck", s.Client, "", 0, "%s hangs in its work", s.Client)
	return nil
}

// Crash ends a client process for good.
type Crash struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required"`
}

// Check implements Fault.
func (c *Crash) Check(n Names) []Problem { return among("client", c.Client, n.Clients, "client") }

// Apply implements Fault.
func (c *Crash) Apply(f *Field) error { return f.World.Crash(f.World.Client(c.Client)) }
