//go:build linux

package live_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"redlocksim/internal/built"
	"redlocksim/live"
	"redlocksim/live/internal/livetest"
	"redlocksim/scenarios/verdict"
)

// A program that asks again as soon as it was refused has a grade that one with pauses has not, as in the simulator. What it
// has started in a session of its own, and whose parent has ended, ends with it.
func TestProgramsThatWait(t *testing.T) {
	livetest.NeedsServer(t)
	program := built.Program(t, "../scenarios/programs/testdata/lies")
	for how, want := range map[string]verdict.Grade{"waits": verdict.AsSound, "busy-waits": verdict.BusyWaits} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			s := small(t, "ttl: 10s", `
  - {at: 0s, client: client-1, do: [lock, hold: 3s, unlock]}
  - {at: 100ms, client: client-2, do: [lock, unlock]}`)
			o := options()
			dir := t.TempDir()
			daemon := fmt.Sprintf("(cd %s && touch began && setsid sleep 60 </dev/null >/dev/null 2>&1 &)", dir)
			o.Lock, o.OneNode = []string{"sh", "-c", fmt.Sprintf("%s; exec %s %s", daemon, program, how)}, true
			var r *verdict.Result
			for attempts := 5; ; attempts-- {
				var err error
				if r, err = live.Run(t.Context(), s, o); err != nil {
					t.Fatal(err)
				}
				g := r.Grades()
				if slices.Equal(g, []verdict.Grade{want}) {
					break
				}
				// On a busy machine each request may take as long as a pause, and then there is no busy wait to be seen.
				if want != verdict.BusyWaits || attempts == 1 {
					t.Errorf("%v, want %s; found %v, %v", g, want, r.Findings, r.NotTested)
					break
				}
			}
			if r.Report.Compared.Watched["pauses"] == 0 {
				t.Error("no request was looked at")
			}
			if _, err := os.Stat(filepath.Join(dir, "began")); err != nil {
				t.Error(err)
			}
			if !within(10*time.Second, func() bool { return len(processesIn(t, dir)) == 0 }) {
				t.Errorf("processes are left: %v", processesIn(t, dir))
			}
		})
	}
}
