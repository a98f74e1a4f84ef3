package faults

import (
	"fmt"
	"time"
)

// Pause stops a process where it is: a long garbage collection, a page fault, SIGSTOP, a busy host. Its clocks go on, and
// it learns only later what happened meanwhile.
type Pause struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required"`
	// For is the length of the pause; 0s lasts until a resume. Default: 0s. Example: 12s
	For time.Duration `yaml:"for"`
}

var pause = Kind{
	Name: "pause", New: func() Fault { return new(Pause) },
	Target: AnyProcess, Local: true, Takes: []string{"pause"}, Stalls: 2, Stops: true,
	Draw: func(c Choices, l *Limits) Fault {
		length, ok := l.upTo(c.For("for", 0), minStill, l.Budget.Pause)
		if !ok {
			return nil
		}
		return &Pause{Process: l.process(c), For: length}
	},
	Place: func(l *Limits) (all []Fault) {
		for _, p := range l.Names.all() {
			all = append(all, forEach(l.allSizes(l.Budget.Pause), func(d time.Duration) Fault { return &Pause{Process: p, For: d} })...)
		}
		return all
	},
}

func (p *Pause) String() string {
	if p.For == 0 {
		return p.Process + " is paused"
	}
	return fmt.Sprintf("%s is paused for %v", p.Process, p.For)
}

// Check implements Fault.
func (p *Pause) Check(n Names) []Problem {
	return append(among("process", p.Process, n.all(), "client or node"), notNegative("for", p.For)...)
}

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
	f.notePoint("pause", p.Process, p.For, "%v", p)
	f.lasts(p.For, end)
	return nil
}

// Target implements Fault.
func (p *Pause) Target() string { return p.Process }

// Size implements Fault.
func (p *Pause) Size() *Size {
	return &Size{Value: p.For, Knob: "the pause", With: func(d time.Duration) Fault { return &Pause{Process: p.Process, For: d} }}
}

// Late implements Late.
func (p *Pause) Late() time.Duration { return p.For }

// Live implements Fault.
func (p *Pause) Live(Deployment) Live { return Live{} }
