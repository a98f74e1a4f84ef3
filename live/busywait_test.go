//go:build linux

package live_test

import (
	"slices"
	"testing"

	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/scenarios"
)

// A program that asks again as soon as it was refused has a grade that one with pauses has not, as in the simulator.
func TestProgramsThatWait(t *testing.T) {
	livetest.NeedsServer(t)
	program := builtIn(t, "../scenarios/programs/testdata/lies")
	for how, want := range map[string]scenarios.Grade{"waits": scenarios.AsSound, "busy-waits": scenarios.BusyWaits} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Lock, o.OneNode = []string{program, how}, true
			r, err := live.Run(t.Context(), byName("64-polling"), o)
			if err != nil {
				t.Fatal(err)
			}
			if g := r.Grades(); !slices.Equal(g, []scenarios.Grade{want}) {
				t.Errorf("%v, want %s; found %v, %v", g, want, r.Findings, r.NotTested)
			}
			if r.Report.Compared.Watched["pauses"] == 0 {
				t.Error("no request was looked at")
			}
		})
	}
}
