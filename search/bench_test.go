package search_test

import (
	"context"
	"runtime/debug"
	"testing"

	"redlocksim/search"
)

// BenchmarkExplore measures runs of 30 virtual seconds on the default settings, on one core, and how many locks are
// granted in a run.
func BenchmarkExplore(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	space := search.NewSpace(search.DefaultBase())
	runs, grants := 0, 0
	b.ReportAllocs()
	for seed := uint64(0); b.Loop(); seed++ {
		s, err := search.Explore(context.Background(), space, search.Options{Seed: seed, Runs: 200, Generation: 200, Jobs: 1})
		if err != nil {
			b.Fatal(err)
		}
		if s.Violations > 0 {
			b.Fatal("a violation")
		}
		runs += s.Runs
		grants += s.Grants
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(grants)/float64(runs), "grants/run")
	b.ReportMetric(0, "ns/op")
}
