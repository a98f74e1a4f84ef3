package faults

import (
	"fmt"
	"time"
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

var split = Kind{
	Name: "split", New: func() Fault { return new(Split) },
	Target: SomeLinks, Ends: "split-ends",
	Applies: func(l *Limits) bool { return l.Batches },
	Draw: func(c Choices, l *Limits) Fault {
		s := &Split{Links: l.links(c), Keep: 1 + int(c.For("keep", 0).Below(3)), Reset: c.For("reset", 0).Below(2) == 1}
		if c.For("for good", 0).Below(8) != 7 {
			s.For = l.Times.Length(c.For("for", 0), minOutage, 2*l.Scale)
		}
		return s
	},
	Place: func(l *Limits) (all []Fault) {
		for _, links := range l.allLinks() {
			for _, reset := range []bool{false, true} {
				all = append(all, &Split{Links: links, Keep: 1, Reset: reset, For: l.Scale})
			}
		}
		return all
	},
}

func (s *Split) String() string {
	kept, behind := "request gets", ""
	if s.Keep > 1 {
		kept = fmt.Sprintf("%d requests get", s.Keep)
	}
	if s.Reset {
		behind = ", and then the connection is reset"
	}
	return fmt.Sprintf("of batches %v only the first %s through%s", &s.Links, kept, behind)
}

// Check implements Fault.
func (s *Split) Check(n Names) []Problem {
	problems := append(s.check(n), notNegative("for", s.For)...)
	if s.Keep < 1 {
		problems = append(problems, Problem{Field: "keep", Word: fmt.Sprint(s.Keep), Text: "must be positive; a partition loses all"})
	}
	return problems
}

// Inject implements Fault.
func (s *Split) Inject(f *Field) error {
	undo, err := f.ground.Split(&s.Links, s.Keep, s.Reset)
	if err != nil {
		return err
	}
	f.note("split", s.client(), "", s.For, "%v", s)
	f.lasts(s.For, func() {
		undo()
		f.note("split-ends", s.client(), "", 0, "batches %v get through whole again", &s.Links)
	})
	return nil
}

// Size implements Fault: its lists are shortened, and how long it lasts.
func (s *Split) Size() *Size { return nil }

// Live implements Fault.
func (s *Split) Live(Deployment) Live {
	return Live{Not: "a proxy does not know where in a batch one command ends and the next begins"}
}
