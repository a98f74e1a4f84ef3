package experiment

import (
	"testing"
	"time"

	"redlocksim/scenarios"
)

// A program is asked only for what it can do: to extend a lease if it extends them, and to work up to the end of a lease if it
// does not say itself when that comes.
func TestWhatAProgramCanDo(t *testing.T) {
	for _, f := range []scenarios.Foreign{{}, {Extends: true}, {Extends: true, Warns: true}} {
		base := DefaultBase()
		base.Budget.Pause = time.Second
		s := NewSpace(base)
		s.Own, s.Foreign, s.Strays = true, &f, false
		steps := map[scenarios.StepKind]int{}
		for seed := range uint64(300) {
			for _, item := range (Candidate{Seed: seed}).Scenario(s).Timeline {
				for _, step := range item.Do {
					steps[step.Kind]++
				}
			}
		}
		extends, lingers := steps[scenarios.ExtendStep]+steps[scenarios.RenewStep], steps[scenarios.LingerStep]
		if f.Extends != (extends > 50) || !f.Extends && extends > 0 {
			t.Errorf("%+v: %d extends", f, extends)
		}
		if f.Warns == (lingers > 50) || f.Warns && lingers > 0 {
			t.Errorf("%+v: %d clients linger", f, lingers)
		}
	}
}
