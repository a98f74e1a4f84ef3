package random

import (
	"testing"

	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

// Steps of the clocks of nodes in quarantine are searched within a budget that has none: a guard that trusts the nodes' clocks
// is found, and the library's is not.
func TestStepsInQuarantine(t *testing.T) {
	for guard, want := range map[string]bool{"max-ttl: 2s, trust-node-clock: true": true, "max-ttl: 2s": false} {
		base, err := scenarios.ParseSettings("settings", []byte("lock: {ttl: 2s, guard-time: 10ms, guard: {"+guard+"}}\nnodes: {names: [A, B, C]}\nbudget: {restart-delay: 0s}\n"))
		if err != nil {
			t.Fatal(err)
		}
		hit, err := First(t.Context(), experiment.NewSpace(base), 3, 150)
		if err != nil {
			t.Fatal(err)
		}
		if (hit.Run > 0) != want {
			t.Errorf("%s: run %d has %v", guard, hit.Run, hit.Kinds)
		}
	}
}
