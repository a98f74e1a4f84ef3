package faults

import (
	"fmt"
	"time"

	"redlocksim/sim"
)

// Split has batches arrive in part on some links: of several requests that a client sends a node in one message only the
// first arrive, or only the answers to the first, as when a connection breaks in the middle. A message with one request is
// none, and arrives.
type Split struct {
	Links `yaml:",inline"`
	// Keep is how many requests, or answers, arrive of each batch. Several commands that share a script are one request.
	Keep int `yaml:"keep,required"`
	// Reset has the connection reset behind what arrives, so that the client hears at once that the rest is lost. Without it
	// the client waits for the rest until its node timeout.
	Reset bool `yaml:"reset"`
	// For is how long; zero is for good.
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
