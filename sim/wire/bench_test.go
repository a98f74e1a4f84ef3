package wire_test

import (
	"context"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/wire"
)

// BenchmarkCycle is one acquire and release over five nodes.
func BenchmarkCycle(b *testing.B) {
	w := sim.NewWorld(sim.Config{Seed: 1, Nodes: []string{"A", "B", "C", "D", "E"},
		Clients: []sim.ClientConfig{{Name: "c1"}}, Latency: network.Uniform(time.Millisecond, 5*time.Millisecond)}, wire.New())
	defer w.Close()
	p := w.Clients[0]
	client, err := redlock.New(w.Nodes(p), redlock.WithRuntime(p.Runtime()))
	if err != nil {
		b.Fatal(err)
	}
	p.Go(func() {
		for i := range b.N {
			p.Purpose(w.Kernel.Draw("acquire").With(uint64(i)))
			lease, err := client.Lock(context.Background(), "r", 10*time.Second)
			if err != nil {
				b.Error(err)
				return
			}
			if err := lease.Unlock(context.Background()); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	w.Kernel.Run(kernel.Forever)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "cycles/s")
}

// BenchmarkWorld is what a run costs before it begins.
func BenchmarkWorld(b *testing.B) {
	for b.Loop() {
		sim.NewWorld(sim.Config{Seed: 1, Nodes: []string{"A", "B", "C", "D", "E"},
			Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}, {Name: "c3"}}}, wire.New()).Close()
	}
}
