package faults

import "time"

// Pause stops a process where it is: a long garbage collection, a page fault, SIGSTOP, a busy host. Its clocks go on, and
// what happens to it meanwhile it finds out later.
type Pause struct {
	// Process is a client or node.
	Process string `yaml:"process,required"`
	// For is how long; zero is until a resume.
	For time.Duration `yaml:"for"`
}

// Check implements Fault.
func (p *Pause) Check(n Names) []Problem {
	return append(among("process", p.Process, n.all(), "client or node"), notNegative("for", p.For)...)
}

// Apply implements Fault.
func (p *Pause) Apply(f *Field) error {
	f.World.Process(p.Process).Pause()
	f.Spent.Pause = max(f.Spent.Pause, p.For)
	if p.For == 0 {
		f.Spent.Pause = unbounded
		f.notePoint("pause", p.Process, 0, "%s is paused", p.Process)
		return nil
	}
	f.notePoint("pause", p.Process, p.For, "%s is paused for %v", p.Process, p.For)
	f.after(p.For, func() { _ = (&Resume{Process: p.Process}).Apply(f) })
	return nil
}

// Suspend stops a client together with its machine, whose monotonic clock stands still meanwhile: a laptop that is
// closed, a virtual machine that is frozen.
type Suspend struct {
	// Client is which.
	Client string `yaml:"client,required"`
	// For is how long, in true time.
	For time.Duration `yaml:"for,required"`
}

// Check implements Fault.
func (s *Suspend) Check(n Names) []Problem {
	return append(among("client", s.Client, n.Clients, "client"), positive("for", s.For)...)
}

// Apply implements Fault.
func (s *Suspend) Apply(f *Field) error {
	f.World.Client(s.Client).Suspend()
	f.Spent.Pause = max(f.Spent.Pause, s.For)
	f.note("suspend", s.Client, "", s.For, "the machine of %s is suspended for %v", s.Client, s.For)
	f.after(s.For, func() { _ = (&Resume{Process: s.Client}).Apply(f) })
	return nil
}

// Resume lets a paused process go on.
type Resume struct {
	// Process is a client or node.
	Process string `yaml:"process,required"`
}

// Check implements Fault.
func (r *Resume) Check(n Names) []Problem {
	return among("process", r.Process, n.all(), "client or node")
}

// Apply implements Fault.
func (r *Resume) Apply(f *Field) error {
	p := f.World.Process(r.Process)
	if !p.Paused() {
		return nil
	}
	f.notePoint("resume", r.Process, 0, "%s goes on", r.Process)
	p.Resume()
	return nil
}

// Stuck makes what a client does under its lock go on without an end, in a loop or waiting for something that does not
// come, while its renewal goes on.
type Stuck struct {
	// Client is which.
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
	// Client is which.
	Client string `yaml:"client,required"`
}

// Check implements Fault.
func (c *Crash) Check(n Names) []Problem { return among("client", c.Client, n.Clients, "client") }

// Apply implements Fault.
func (c *Crash) Apply(f *Field) error { return f.World.Crash(f.World.Client(c.Client)) }
