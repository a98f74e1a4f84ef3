package sim_test

import (
	"context"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
)

// cycles has each client lock and unlock n times, and counts the locks granted.
func cycles(t *testing.T, w *sim.World, n int) *int {
	granted := new(int)
	for _, p := range w.Clients {
		client, err := redlock.New(w.Nodes(p), redlock.WithRuntime(p.Runtime()))
		if err != nil {
			t.Fatal(err)
		}
		p.Go(func() {
			for i := range n {
				p.Purpose(w.Kernel.Draw("acquire").WithString(p.Name()).With(uint64(i)))
				lease, err := client.Lock(context.Background(), "r", 10*time.Second)
				if err != nil {
					t.Error(err)
					return
				}
				*granted++
				if err := lease.Unlock(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	return granted
}

func TestWorldRunsTheLibrary(t *testing.T) {
	run := func(seed uint64) (int, string) {
		w := sim.NewWorld(sim.Config{Seed: seed, Nodes: []string{"A", "B", "C", "D", "E"},
			Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}, {Name: "c3"}},
			Latency: network.Uniform(time.Millisecond, 5*time.Millisecond)}, model.New())
		defer w.Close()
		granted := cycles(t, w, 10)
		w.Kernel.Run(kernel.True(60 * time.Second))
		return *granted, w.TraceHash()
	}
	n, hash := run(1)
	if n != 30 {
		t.Errorf("%d locks granted, want 30", n)
	}
	if _, again := run(1); again != hash {
		t.Errorf("the same seed gave the traces %s and %s", hash, again)
	}
	if _, other := run(2); other == hash {
		t.Errorf("two seeds gave the same trace")
	}
}
