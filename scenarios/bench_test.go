package scenarios_test

import (
	"slices"
	"testing"
	"time"

	"redlocksim/history"
	"redlocksim/scenarios"
)

// BenchmarkCycle measures what one acquire and release on five nodes costs, with the history recorded and hashed, and
// reports it as cycles per second. One core does all of it.
func BenchmarkCycle(b *testing.B) {
	for _, tier := range scenarios.Tiers() {
		b.Run(string(tier), func(b *testing.B) {
			const perRun = 1000
			s := scenarios.Default()
			s.Name, s.Clients, s.Duration = "cycle", []string{"client-1"}, time.Hour
			s.Timeline = []scenarios.Item{{Client: "client-1", Repeat: perRun,
				Do: []scenarios.Step{{Kind: scenarios.TryLockStep}, {Kind: scenarios.UnlockStep}}}}
			b.ReportAllocs()
			cycles := 0
			var buffer history.History
			for b.Loop() {
				out, err := scenarios.Run(&s, scenarios.Options{Tier: tier, Buffer: buffer})
				if err != nil {
					b.Fatal(err)
				}
				if len(out.History) < 20*perRun {
					b.Fatalf("%d events for %d cycles", len(out.History), perRun)
				}
				buffer = out.History
				cycles += perRun
			}
			b.ReportMetric(float64(cycles)/b.Elapsed().Seconds(), "cycles/s")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkMonitors measures what a run of a contended lock costs with and without the monitors that watch it.
func BenchmarkMonitors(b *testing.B) {
	all := scenarios.Catalogue()
	s := all[slices.IndexFunc(all, func(s *scenarios.Scenario) bool { return s.Name == "09-contention" })]
	for _, unwatched := range []bool{false, true} {
		b.Run(map[bool]string{false: "watched", true: "unwatched"}[unwatched], func(b *testing.B) {
			b.ReportAllocs()
			var buffer history.History
			for b.Loop() {
				out, err := scenarios.Run(s, scenarios.Options{Unhashed: true, Unwatched: unwatched, Buffer: buffer})
				if err != nil {
					b.Fatal(err)
				}
				if (out.Windows == 0) != unwatched {
					b.Fatalf("%d windows watched", out.Windows)
				}
				buffer = out.History
			}
		})
	}
}
