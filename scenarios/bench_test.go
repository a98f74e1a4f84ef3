package scenarios_test

import (
	"syscall"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/experiment"
	"redlocksim/sim/history"
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

// BenchmarkMonitors measures what runs of default searches cost, judged, with the monitors that watch them, as a multiple of
// what the same runs cost without. Both are made in turn in one process, and it is the processor's time that counts.
func BenchmarkMonitors(b *testing.B) {
	space := experiment.NewSpace(experiment.DefaultBase())
	ways := []scenarios.Options{{Unwatched: true}, {Unrefined: true}, {}}
	spent := make([]time.Duration, len(ways))
	var buffer history.History
	for seed := uint64(0); b.Loop(); seed++ {
		s := space.Draw(experiment.Choices(seed, "benchmark", 0))
		for i, o := range ways {
			o.Seed, o.Unhashed, o.Buffer = seed, true, buffer
			before := user()
			r, err := verdict.Judge(s, o)
			if err != nil {
				b.Fatal(err)
			}
			spent[i] += user() - before
			buffer = r.History
		}
	}
	ratio := func(d time.Duration) float64 { return float64(d) / float64(spent[0]) }
	b.ReportMetric(ratio(spent[2]), "x-all")
	b.ReportMetric(ratio(spent[1]), "x-unrefined")
	b.ReportMetric(ratio((2*spent[1]+spent[2])/3), "x-search")
	b.ReportMetric(float64(spent[0].Microseconds())/float64(b.N), "us-unwatched/run")
}

// user is the processor's time that this process has taken.
func user() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano())
}
