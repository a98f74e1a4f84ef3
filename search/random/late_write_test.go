package random

import (
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/search/experiment"
)

// TestLateWrite: a program on redsync does not stop early, so that a pause of a quarter of the TTL makes its write late, and a
// search with that budget finds it: a budget describes the world, and no client stops because of it. One that has the pause in
// reserve is not found writing late.
func TestLateWrite(t *testing.T) {
	for _, c := range []struct {
		lock string
		want bool
	}{
		{"preset: redsync", true},
		{"ttl: 8s", true},
		{"preset: redsync, guard-time: 2100ms", false},
	} {
		base, err := scenarios.ParseSettings("settings", []byte("lock: {"+c.lock+"}\nnodes: {persistence: always}\nbudget: {pause: 2s}\n"))
		if err != nil {
			t.Fatal(err)
		}
		hit, err := First(t.Context(), experiment.NewSpace(base), 3, 200)
		if err != nil {
			t.Fatal(err)
		}
		if found := slices.Contains(hit.Kinds, checker.StaleWrite); found != c.want || c.want != (hit.Run > 0) {
			t.Errorf("%s: run %d has %v, want a stale write: %t", c.lock, hit.Run, hit.Kinds, c.want)
		}
		t.Logf("%s: run %d has %v", c.lock, hit.Run, hit.Kinds)
	}
}
