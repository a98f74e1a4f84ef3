package random

import (
	"path/filepath"
	"testing"
	"time"

	"redlocksim/internal/built"
	"redlocksim/scenarios/programs"
	"redlocksim/search/experiment"
	"redlocksim/search/searchtest"
)

// A search of any protocol on any arrangement of nodes, within the budget and beyond it, ends without a run that fails: what it
// finds is no alarm, but a panic, a run that differs on tier wire and a finding that is not confirmed are.
func TestEveryModeRuns(t *testing.T) {
	t.Parallel()
	for i, base := range searchtest.Settings(t) { // those of a protocol follow each other
		space := experiment.NewSpace(base)
		space.Beyond = i%2 == 0
		explored(t, space, Options{Seed: 51, Runs: 3, shrinkRuns: 8})
	}
}

// Nor do searches with a lock program in the place of the protocol, of whose settings little is left then: two for each
// arrangement of nodes.
func TestEveryModeRunsWithALockProgram(t *testing.T) {
	t.Parallel()
	p, err := programs.Load(built.Wasm(t, filepath.Join("..", "..", "locks", "naive")), nil, built.Cache(t))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	violations, of := 0, map[int]int{}
	for i, base := range searchtest.Settings(t) {
		nodes := 10*len(base.Nodes.Names) + len(base.Nodes.Replicas)
		if of[nodes]++; of[nodes] > 2 {
			continue
		}
		short := *base
		short.Lock.TTL = time.Second
		space := experiment.NewSpace(&short)
		space.Own, space.Foreign, space.Beyond, space.Duration = true, p.Foreign(), of[nodes] == 2, 5*time.Second
		violations += explored(t, space, Options{Seed: uint64(i), Runs: 3, shrinkRuns: 2}).Violations
	}
	if violations == 0 {
		t.Error("nothing is found that could be shrunk")
	}
}

// Nor do searches whose settings are drawn.
func TestEveryModeRunsWithDrawnSettings(t *testing.T) {
	t.Parallel()
	for _, beyond := range []bool{false, true} {
		space := experiment.NewSpace(experiment.DefaultBase())
		space.Swarm, space.Beyond = true, beyond
		explored(t, space, Options{Seed: 51, Runs: 30, shrinkRuns: 20})
	}
}

func explored(t *testing.T, space experiment.Space, o Options) *Summary {
	t.Helper()
	s, err := Explore(t.Context(), space, o)
	if err != nil || s.Runs != o.Runs {
		t.Errorf("%s, beyond the budget: %v: %v", space.Base.Name, space.Beyond, err)
	}
	return s
}
