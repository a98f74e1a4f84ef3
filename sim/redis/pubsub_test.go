package redis_test

import (
	"testing"
	"time"

	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
)

// A client listens to a channel of a node from when the node knows of it until its connection ends, by whomever.
func TestListens(t *testing.T) {
	for name, ends := range map[string]func(*sim.World, *redis.Subscription){
		"unsubscribed": func(_ *sim.World, s *redis.Subscription) { s.Close() },
		"reset":        func(w *sim.World, _ *redis.Subscription) { w.Network.Link("c", "A").Reset() },
		"node killed":  func(w *sim.World, _ *redis.Subscription) { _ = w.Server("A").Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B"}, Clients: []sim.ClientConfig{{Name: "c"}, {Name: "d"}}}, model.New())
			c, a := w.Client("c"), w.Server("A")
			want := func(when string, want bool) {
				if a.Listens(c, "news") != want {
					t.Errorf("%s: listens: %v", when, !want)
				}
			}
			s := w.Subscribe(c, "A", w.Kernel.Draw("test"), "news")
			want("before the node knows", false)
			w.Kernel.Run(kernel.True(time.Second))
			want("subscribed", true)
			if a.Listens(c, "other") || a.Listens(w.Client("d"), "news") || w.Server("B").Listens(c, "news") {
				t.Error("listens to what it did not ask for")
			}
			ends(w, s)
			w.Kernel.Run(kernel.True(2 * time.Second))
			want(name, false)
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
