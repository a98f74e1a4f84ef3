package faults

// Word is one fault of the vocabulary.
type Word struct {
	// Name is what scenario files and histories call it.
	Name string
	// New makes a zero one, to be filled in.
	New func() Fault
}

// Vocabulary lists all faults, in the order of the documentation.
func Vocabulary() []Word {
	return []Word{
		{"clock-step", func() Fault { return new(ClockStep) }},
		{"clock-rate", func() Fault { return new(ClockRate) }},
		{"partition", func() Fault { return new(Partition) }},
		{"hold", func() Fault { return new(Hold) }},
		{"delay", func() Fault { return new(Delay) }},
		{"reset", func() Fault { return new(Reset) }},
		{"kill", func() Fault { return new(Kill) }},
		{"power-loss", func() Fault { return new(PowerLoss) }},
		{"shutdown", func() Fault { return new(Shutdown) }},
		{"restart", func() Fault { return new(Restart) }},
		{"promote", func() Fault { return new(Promote) }},
		{"pause", func() Fault { return new(Pause) }},
		{"suspend", func() Fault { return new(Suspend) }},
		{"resume", func() Fault { return new(Resume) }},
		{"stuck", func() Fault { return new(Stuck) }},
		{"crash", func() Fault { return new(Crash) }},
	}
}
