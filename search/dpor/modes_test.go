package dpor

import (
	"testing"

	"redlocksim/search/searchtest"
)

// The orders of small worlds of any protocol on any arrangement of nodes are explored without a run that fails.
func TestEveryModeRuns(t *testing.T) {
	t.Parallel()
	for _, settings := range searchtest.Settings(t) {
		worlds := Worlds(settings)
		if err := Search(t.Context(), worlds, 1, 8, 0); err != nil {
			t.Error(err)
		}
		for _, w := range worlds {
			if w.Failed != nil {
				t.Errorf("%s: %s, %s: %v", settings.Name, w.Name, w.Fault, w.Failed)
			}
		}
	}
}

// A run that panics ends the exploration of its world, and no other's.
func TestARunThatFails(t *testing.T) {
	worlds := Worlds(base(""))[:2]
	runs := 0
	worlds[0].setup.Each = func(*Run) {
		if runs++; runs == 3 {
			panic("at sea")
		}
	}
	if err := Search(t.Context(), worlds, 1, 50, 1); err != nil {
		t.Fatal(err)
	}
	if w := worlds[0]; w.Failed == nil || w.Last().Complete || w.Last().Runs != 3 {
		t.Errorf("%v after %d runs, want the panic in the third", w.Failed, w.Last().Runs)
	}
	if w := worlds[1]; w.Failed != nil || w.Last().Runs < 10 {
		t.Errorf("the other world: %v after %d runs", w.Failed, w.Last().Runs)
	}
}
