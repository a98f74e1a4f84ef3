package faults

import (
	"fmt"
	"time"
)

// Pause stops a process where it is: a long garbage collection, a page fault, SIGSTOP, a busy host. Its clocks go on, and
// it learns only later what happened meanwhile.
type Pause struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required" of:"process"`
	// For is the length of the pause; 0s lasts until a resume. Default: 0s. Example: 12s
	For time.Duration `yaml:"for" range:"0s.." budget:"pause" from:"10ms" size:"the pause"`
}

func (p *Pause) String() string { return p.Process + " is paused" + lasting(p.For) }

// Inject implements Fault.
func (p *Pause) Inject(f *Field) error {
	all, end, err := f.pause(p.Process, p.For)
	if err != nil {
		return err
	}
	if p.For == 0 {
		all = unbounded
	}
	f.uses(f.ground.Now(), func(u *Used) { u.Pause = max(u.Pause, all) })
	f.happens(p, p.For)
	f.lasts(p.For, end)
	return nil
}

// Suspend stops a client together with its machine: a closed laptop, a frozen virtual machine. The monotonic clock stands
// still meanwhile.
type Suspend struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required" of:"client"`
	// For is the length in true time. Example: 1m
	For time.Duration `yaml:"for,required" range:"1ns.." budget:"suspend" from:"10ms" size:"the suspension"`
}

func (s *Suspend) String() string {
	return fmt.Sprintf("the machine of %s is suspended for %v", s.Client, s.For)
}

// Inject implements Fault. All suspensions of a machine add up.
func (s *Suspend) Inject(f *Field) error {
	end, err := f.suspend(s.Client)
	if err != nil {
		return err
	}
	f.uses(f.ground.Now(), func(u *Used) {
		u.Suspend = max(u.Suspend, f.of(s.Client).suspended.add(f.ground.Now(), s.For))
	})
	f.happens(s, s.For)
	f.lasts(s.For, end)
	return nil
}

// Resume continues a paused process.
type Resume struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required" of:"process"`
}

func (r *Resume) String() string { return r.Process + " goes on" }

// Inject implements Fault. It ends all pauses of the process.
func (r *Resume) Inject(f *Field) error {
	if !f.ground.Paused(r.Process) {
		return fmt.Errorf("faults: resume: %s is not paused", r.Process)
	}
	return f.resume(r.Process)
}

// Stuck makes a client's work under its lock go on forever, in a loop or waiting for something that never comes, while it
// keeps renewing the lock.
type Stuck struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required" of:"client"`
}

func (s *Stuck) String() string { return s.Client + " hangs in its work" }

// Inject implements Fault.
func (s *Stuck) Inject(f *Field) error {
	f.ground.Hang(s.Client)
	f.happens(s, 0)
	return nil
}

// Entropy takes a client's source of random bytes away for a while, as a sandbox does that forbids getrandom. A library that
// needs random bytes then gets an error. Only protocol redlock reads its random bytes from a source that can fail.
type Entropy struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required" of:"client"`
	// For is the length in true time. Default: for good. Example: 5s
	For time.Duration `yaml:"for" range:"0s.." from:"10ms" size:"the time without random bytes"`
}

func (e *Entropy) String() string { return e.Client + " has no random bytes" + lasting(e.For) }

// Inject implements Fault.
func (e *Entropy) Inject(f *Field) error {
	f.during(e, e.For, f.simulated().Client(e.Client).Starve(), "%s has random bytes again", e.Client)
	return nil
}

// Crash ends a client process, as kill −9 does. Started again it knows nothing of what it did before.
type Crash struct {
	// Client is the client. Example: client-1
	Client string `yaml:"client,required" of:"client"`
	// RestartAfter is how long after the crash the client is started again, in true time, under its old name and on the same
	// machine. What its programs were doing is over; items of the timeline that begin later run in it. Default: never.
	// Example: 2s
	RestartAfter *time.Duration `yaml:"restart-after" range:"0s.." size:"the delay of the restart,less"`
}

func (c *Crash) String() string { return c.Client + " crashes" }

func (c *Crash) drawn(from Choices, l *Limits) bool {
	if from.For("for good", 0).Below(4) != 3 {
		after := l.Times.Length(from.For("restart", 0), 0, l.Scale)
		c.RestartAfter = &after
	}
	return true
}

// Inject implements Fault.
func (c *Crash) Inject(f *Field) error {
	if err := f.ground.Crash(c.Client); err != nil || c.RestartAfter == nil {
		return err
	}
	after := *c.RestartAfter
	f.after(after, func() {
		if f.ground.Restart(c.Client) == nil { // the ground says elsewhere that it failed
			f.note(kindOf(c).Ends, c.Client, after, "%s is started again %v after its crash", c.Client, after)
		}
	})
	return nil
}
