package dpor

import (
	"testing"
	"time"
)

// BenchmarkExplore measures how many runs an exploration makes in a second, on one core.
func BenchmarkExplore(b *testing.B) {
	past := once(try, hold(12*time.Second))
	s := newSetup(base(""), 3, []program{past, past}, nil, 20*time.Second)
	s.Late, s.Executions = 1, 1000
	runs := 0
	for b.Loop() {
		r, err := explore(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		runs += r.Runs + r.Cut
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(0, "ns/op")
}
