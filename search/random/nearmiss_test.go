package random

import (
	"testing"
	"time"

	"redlocksim/search/experiment"
)

// What a generation draws comes half from near misses, and asks for the lock when it could be granted too early; a blind
// search draws all of it anew.
func TestCandidatesComeFromNearMisses(t *testing.T) {
	for _, blind := range []bool{false, true} {
		x := &explorer{space: experiment.NewSpace(experiment.DefaultBase()), options: Options{Blind: blind}, checkpoint: &checkpoint{Pool: []NearMiss{
			{Candidate: experiment.Candidate{Seed: 1}, Client: "client-1", Expiry: 2 * time.Second, Free: time.Second},
			{Candidate: experiment.Candidate{Seed: 2}, Client: "client-2", Expiry: 2 * time.Second, Free: 3 * time.Second},
		}}}
		changed, asked := 0, 0
		for _, c := range x.candidates(0, 1000) {
			if len(c.Mutations) > 0 {
				changed++
			}
			for _, m := range c.Mutations {
				if a := m.Acquire; a != nil {
					asked++
					if c.Seed != 1 || a.Client == "client-1" || a.At < time.Second || a.At >= 2*time.Second {
						t.Errorf("%+v asks %+v", c, a)
					}
				}
			}
		}
		if blind && changed > 0 || !blind && (changed < 400 || changed > 600 || asked < 100) {
			t.Errorf("blind %v: %d of 1000 are changed, %d ask", blind, changed, asked)
		}
	}
}
