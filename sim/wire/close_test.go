package wire_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redlocksim/redlock"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/wire"
)

// A run can be ended at any time, whatever its clients wait for, and leaves neither connections nor goroutines behind.
func TestCloseAnywhere(t *testing.T) {
	for n := range 20 {
		w := sim.NewWorld(sim.Config{Seed: uint64(n), Nodes: []string{"A", "B", "C"}, Latency: network.Uniform(0, 40*time.Millisecond),
			Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}, {Name: "c3"}}}, wire.New())
		for _, p := range w.Clients {
			client, err := redlock.New(w.Nodes(p), redlock.WithRuntime(p.Runtime()), redlock.WithBatching(1))
			if err != nil {
				t.Fatal(err)
			}
			for range 4 {
				p.Go(func() {
					for {
						if lease, err := client.Lock(context.Background(), "r", 200*time.Millisecond); err == nil {
							_ = lease.Unlock(context.Background())
						}
					}
				})
			}
		}
		w.Kernel.After(20*time.Millisecond, func() { w.Network.Link("c1", "A").Cut(network.Replies); w.Client("c2").Pause() })
		w.Kernel.After(60*time.Millisecond, func() { _ = w.Server("B").Kill(); _ = w.Crash(w.Client("c3")) })
		w.Kernel.Run(kernel.True(n * n * int(time.Millisecond)))
		if err := w.Close(); err != nil {
			t.Errorf("after %d ms: %v", n*n, err)
		}
		_ = w.Close() // is harmless
		goleak.VerifyNone(t)
	}
}
