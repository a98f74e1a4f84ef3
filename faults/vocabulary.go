package faults

// Word is one fault of the vocabulary.
type Word struct {
	// Name is what scenario files and histories call it.
	Name string
	// New makes a zero one, to be filled in.
	New func() Fault
	// Draw draws one; nil if the limits allow none.
	Draw func(Choices, *Limits) Fault
}

// Vocabulary lists all faults, in the order of the documentation.
func Vocabulary() []Word {
	return []Word{
		{"clock-step", func() Fault { return new(ClockStep) }, drawClockStep},
		{"clock-rate", func() Fault { return new(ClockRate) }, drawClockRate},
		{"partition", func() Fault { return new(Partition) }, drawPartition},
		{"hold", func() Fault { return new(Hold) }, drawHold},
		{"delay", func() Fault { return new(Delay) }, drawDelay},
		{"reset", func() Fault { return new(Reset) }, drawReset},
		{"split", func() Fault { return new(Split) }, drawSplit},
		{"kill", func() Fault { return new(Kill) }, drawKill},
		{"power-loss", func() Fault { return new(PowerLoss) }, drawPowerLoss},
		{"shutdown", func() Fault { return new(Shutdown) }, drawShutdown},
		{"restart", func() Fault { return new(Restart) }, drawRestart},
		{"promote", func() Fault { return new(Promote) }, drawPromote},
		{"pause", func() Fault { return new(Pause) }, drawPause},
		{"suspend", func() Fault { return new(Suspend) }, drawSuspend},
		{"resume", func() Fault { return new(Resume) }, drawResume},
		{"stuck", func() Fault { return new(Stuck) }, drawStuck},
		{"crash", func() Fault { return new(Crash) }, drawCrash},
	}
}
