package faults

import (
	"fmt"
	"time"

	"redlocksim/sim"
)

// Split makes batches arrive only in part on some links, as when a connection breaks in the middle. Of several requests
// that a client sends a node in one message, only the first arrive, or only their answers. A message with a single request
// arrives.
type Split struct {
	Links `yaml:",inline"`
	// Keep is how many requests, or answers, arrive of each batch. Commands that share a script are one request. Example: 1
	Keep int `yaml:"keep,required"`
	// Reset resets the connection behind what arrives, so the client learns at once that the rest is lost. Otherwise it
	// waits for the rest until its node timeout. Default: false. Example: true
	Reset bool `yaml:"reset"`
	// For is the length in true time; 0s is for good. Default: 0s. Example: 5s
	For time.Duration `yaml:"for"`
}

// Check implements Fault.
func (s *Split) Check(n Names) []Problem {
	problems := append(s.check(n), notNegative("for", s.For)...)
	if s.Keep < 1 {
		problems = append(problems, Problem{Field: "keep", Word: fmt.Sprint(s.Keep), Text: "must be positive; a partition loses all"})
	}
	return problems
}

// Apply implements Fault.
func (s *Split) Apply(f *Field) error {
	var mend []func()
	s.each(f.World, func(l *sim.Link, d sim.Direction) { mend = append(mend, l.Split(d, s.Keep, s.Reset)) })
	kept, behind := "request gets", ""
	if s.Keep > 1 {
		kept = fmt.Sprintf("%d requests get", s.Keep)
	}
	if s.Reset {
		behind = ", and then the connection is reset"
	}
	f.note("split", s.client(), "", s.For, "of batches %v only the first %s through%s", &s.Links, kept, behind)
	f.lasts(s.For, func() {
		for _, m := range mend {
			m()
		}
		f.note("split-ends", s.client(), "", 0, "batches %v get through whole again", &s.Links)
	})
	return nil
}

func drawSplit(c Choices, l *Limits) Fault {
	s := &Split{Links: l.links(c), Keep: 1 + int(c.For("keep", 0).Below(3)), Reset: c.For("reset", 0).Below(2) == 1}
	if c.For("for good", 0).Below(8) != 7 {
		s.For = Length(c.For("for", 0), minOutage, 2*l.Scale)
	}
	return s
}
