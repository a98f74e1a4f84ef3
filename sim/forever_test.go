package sim_test

import (
	"context"
	"math"
	"testing"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
)

// A timer that never fires does not fire after the machine was suspended either.
func TestForeverIsNeverOver(t *testing.T) {
	w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}}, model.New())
	defer w.Close()
	c := w.Client("c")
	c.Suspend()
	w.Kernel.Run(kernel.True(time.Second))
	c.Resume()
	woke := false
	c.Go(func() {
		c.Sleep(context.Background(), math.MaxInt64)
		woke = true
	})
	w.Kernel.Run(kernel.True(24 * time.Hour))
	if woke {
		t.Error("the sleep without an end ended")
	}
}
