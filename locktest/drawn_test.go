package locktest

import (
	"testing"
	"time"

	"redlocksim/scenarios"
)

// Nobody is asked for what a program cannot do.
func TestWhatIsDrawnForAProgram(t *testing.T) {
	experiments := Experiments(t, Setup{Program: "../locks/naive", Settings: "{lock: {ttl: 2s}, nodes: {names: [A]}, resources: [R, S]}",
		Assume: Assumptions{Pause: time.Second}})
	steps, attacks := 0, 0
	for seed := range 20 {
		e := experiments.Example(seed)
		if !e.random {
			attacks++
		}
		for i := range e.scenario.Timeline {
			item := &e.scenario.Timeline[i]
			for j := range item.Do {
				steps++
				step := &item.Do[j]
				if step.Kind == scenarios.ExtendStep || step.Kind == scenarios.RenewStep || len(item.Taken(step, e.scenario.Resources)) > 1 {
					t.Errorf("experiment %d, %#v: step %v", seed, e, step.Kind)
				}
			}
		}
	}
	if steps < 100 || attacks < 5 {
		t.Errorf("only %d steps were drawn, and %d attacks", steps, attacks)
	}
}
