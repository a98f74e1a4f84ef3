package random_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"redlocksim/internal/wasmtest"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/search/experiment"
	"redlocksim/search/random"
)

// BenchmarkExploreProgram measures what explore --lock does on one core and by one worker, with this library as a program: runs
// of some ten grants, of two or three clients.
func BenchmarkExploreProgram(b *testing.B) {
	base, err := scenarios.ParseSettings("x.yaml", []byte(`
lock: {ttl: 2s}
nodes: {persistence: none}
budget: {restart-delay: 2s}
`))
	if err != nil {
		b.Fatal(err)
	}
	p, err := programs.Load(wasmtest.Build(b, filepath.Join("..", "..", "locks", "redlock")), nil, wasmtest.Cache(b))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	space := experiment.NewSpace(base)
	space.Own, space.Foreign, space.Duration = true, p.Foreign(), 3*time.Second
	b.Run("here-1", func(b *testing.B) { exploreProgram(b, space, random.Options{Jobs: 1}) })
	b.Run("workers-1", func(b *testing.B) {
		loader := programs.Loader{Cache: wasmtest.Cache(b)}
		byWorkers(b, 1, random.Jobs(loader.Load), func(o random.Options) int { return exploreProgram(b, space, o) })
	})
}

func exploreProgram(b *testing.B, space experiment.Space, o random.Options) (runs int) {
	grants := 0
	o.Runs, o.Blind = random.ForeignGeneration, true
	for b.Loop() {
		s, err := random.Explore(context.Background(), space, o)
		if err != nil {
			b.Fatal(err)
		}
		if len(s.Findings) > 0 {
			b.Fatalf("%+v", s.Findings)
		}
		runs += s.Runs
		grants += s.Grants
		o.Seed++
	}
	b.ReportMetric(float64(runs)/b.Elapsed().Seconds(), "runs/s")
	b.ReportMetric(float64(grants)/float64(runs), "grants/run")
	b.ReportMetric(0, "ns/op")
	return runs
}
