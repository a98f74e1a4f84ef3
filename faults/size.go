package faults

import "time"

// Sized is a fault with one knob that makes it worse. A search for the smallest fault that still breaks a lock turns it.
type Sized interface {
	Fault
	// Size is the knob; it is not negative.
	Size() time.Duration
	// WithSize is the same fault with another size, which is positive.
	WithSize(time.Duration) Fault
	// Knob names the size in words, "the step".
	Knob() string
	// Shrinks says that the fault is worse the smaller its size is, as a restart is after a shorter delay.
	Shrinks() bool
}

// Size implements Sized.
func (c *ClockStep) Size() time.Duration { return c.By.Abs() }

// WithSize implements Sized.
func (c *ClockStep) WithSize(d time.Duration) Fault {
	if c.By < 0 {
		d = -d
	}
	return &ClockStep{Process: c.Process, By: d}
}

// Knob implements Sized.
func (c *ClockStep) Knob() string { return "the step" }

// Shrinks implements Sized.
func (c *ClockStep) Shrinks() bool { return false }

// Size implements Sized.
func (p *Pause) Size() time.Duration { return p.For }

// WithSize implements Sized.
func (p *Pause) WithSize(d time.Duration) Fault { return &Pause{Process: p.Process, For: d} }

// Knob implements Sized.
func (p *Pause) Knob() string { return "the pause" }

// Shrinks implements Sized.
func (p *Pause) Shrinks() bool { return false }

// Size implements Sized.
func (s *Suspend) Size() time.Duration { return s.For }

// WithSize implements Sized.
func (s *Suspend) WithSize(d time.Duration) Fault { return &Suspend{Client: s.Client, For: d} }

// Knob implements Sized.
func (s *Suspend) Knob() string { return "the suspension" }

// Shrinks implements Sized.
func (s *Suspend) Shrinks() bool { return false }

// Size implements Sized.
func (h *Hold) Size() time.Duration { return h.For }

// WithSize implements Sized.
func (h *Hold) WithSize(d time.Duration) Fault { return &Hold{Links: h.Links, For: d} }

// Knob implements Sized.
func (h *Hold) Knob() string { return "the time for which messages are held back" }

// Shrinks implements Sized.
func (h *Hold) Shrinks() bool { return false }

// Size implements Sized; zero if the node stays down.
func (o *Outage) Size() time.Duration {
	if o.RestartAfter == nil {
		return 0
	}
	return *o.RestartAfter
}

// Knob implements Sized.
func (o *Outage) Knob() string { return "the delay of the restart" }

// Shrinks implements Sized.
func (o *Outage) Shrinks() bool { return true }

func (o Outage) after(d time.Duration) Outage {
	o.RestartAfter = &d
	return o
}

// WithSize implements Sized.
func (k *Kill) WithSize(d time.Duration) Fault { return &Kill{k.Outage.after(d)} }

// WithSize implements Sized.
func (p *PowerLoss) WithSize(d time.Duration) Fault { return &PowerLoss{p.Outage.after(d)} }

// WithSize implements Sized.
func (s *Shutdown) WithSize(d time.Duration) Fault { return &Shutdown{s.Outage.after(d)} }
