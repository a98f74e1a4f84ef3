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

// Of commands that are sent together tier wire knows only the connection's deadline, which is the latest of theirs.
func TestDeadlinesOfCommandsTogether(t *testing.T) {
	for name, tier := range map[string]redis.Tier{"model": model.New(), "wire": wire.New()} {
		w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Constant(time.Millisecond)}, tier)
		defer w.Close()
		answers := 0
		trace.On(w.Events, func(a *redis.Asked) {
			if a.Latest != (name == "wire" && a.Together == 2) {
				t.Errorf("%s, of %d commands: latest %t", name, a.Together, a.Latest)
			}
			if a.At == redis.Answered && a.Together == 2 {
				answers++
			}
		})
		p := w.Client("c")
		p.Go(func() {
			var together []*driver.Command
			for _, key := range []string{"r", "s"} {
				together = append(together, &driver.Command{Op: driver.OpAcquire, Keys: []string{key}, Value: "v", TTL: time.Second,
					Deadline: p.ProgramClock().Now().Add(100 * time.Millisecond), Done: func(*driver.Command, driver.Reply) {}})
			}
			w.Nodes(p)[0].Do(together)
		})
		w.Kernel.Run(kernel.True(50 * time.Millisecond))
		if answers != 2 {
			t.Errorf("%s: %d answers", name, answers)
		}
	}
}
