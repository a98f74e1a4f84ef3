package sim_test

import (
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
	"redlocksim/sim/wire"
)

// A client waits for the answers to commands that it has sent together until it has all of them, or the connection is reset.
func TestAnswersInPart(t *testing.T) {
	for name, tier := range map[string]func() redis.Tier{"model": func() redis.Tier { return model.New() }, "wire": func() redis.Tier { return wire.New() }} {
		for _, c := range []struct {
			name    string
			keep    int // of the answers; 0 is all
			reset   bool
			settled []bool // at the answer to each command
		}{
			{"all", 0, false, []bool{true, true}},
			{"the first", 1, false, []bool{false, false}},
			{"the first, and a reset", 1, true, []bool{true, true}},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Constant(time.Millisecond)}, tier())
				defer w.Close()
				var settled []bool
				latest := name == "wire" // where only the connection's deadline is known
				trace.On(w.Events, func(a *redis.Asked) {
					if a.At == redis.Answered && a.Together == 2 {
						settled = append(settled, a.Settled)
					}
					if a.Latest != (latest && a.Together == 2) {
						t.Errorf("of %d commands: latest %t", a.Together, a.Latest)
					}
				})
				p := w.Client("c")
				p.Go(func() {
					if c.keep > 0 {
						w.Network.Link("c", "A").Split(network.Replies, c.keep, c.reset)
					}
					var together []*driver.Command
					for _, key := range []string{"r", "s"} {
						together = append(together, &driver.Command{Op: driver.OpAcquire, Keys: []string{key}, Value: "v", TTL: time.Second,
							Deadline: p.ProgramClock().Now().Add(100 * time.Millisecond), Done: func(*driver.Command, driver.Reply) {}})
					}
					w.Nodes(p)[0].Do(together)
				})
				w.Kernel.Run(kernel.True(50 * time.Millisecond))
				if len(settled) != len(c.settled) || settled[0] != c.settled[0] || settled[1] != c.settled[1] {
					t.Errorf("settled: %v, want %v", settled, c.settled)
				}
			})
		}
	}
}
