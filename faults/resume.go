package faults

import "fmt"

// Resume continues a paused process.
type Resume struct {
	// Process is a client or a node. Example: client-1
	Process string `yaml:"process,required"`
}

var resume = Kind{
	Name: "resume", New: func() Fault { return new(Resume) },
	Target: AnyProcess,
	Draw:   func(c Choices, l *Limits) Fault { return &Resume{Process: l.process(c)} },
	Place: func(l *Limits) []Fault {
		return forEach(l.Names.all(), func(p string) Fault { return &Resume{Process: p} })
	},
}

func (r *Resume) String() string { return r.Process + " goes on" }

// Check implements Fault.
func (r *Resume) Check(n Names) []Problem {
	return among("process", r.Process, n.all(), "client or node")
}

// Inject implements Fault. It ends all pauses of the process.
func (r *Resume) Inject(f *Field) error {
	if !f.ground.Paused(r.Process) {
		return fmt.Errorf("faults: resume: %s is not paused", r.Process)
	}
	return f.resume(r.Process)
}

// Target implements Fault.
func (r *Resume) Target() string { return r.Process }

// Size implements Fault: it has no number.
func (r *Resume) Size() *Size { return nil }

// Live implements Fault.
func (r *Resume) Live(Deployment) Live { return Live{} }
