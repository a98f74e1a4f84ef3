package sim_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// observer writes the library's steps down, and does something after some of them.
type observer struct {
	world *sim.World
	name  string
	after func(observe.Event)
}

func (o *observer) Observe(_ context.Context, e observe.Event) {
	o.world.Record(history.Event{Kind: history.Step, Process: o.name, Name: e.Step.String(), Node: e.Node.Node, Detail: e.Node.Outcome.String()})
	if o.after != nil {
		o.after(e)
	}
}

// TestTracesAreStable pins one run, so that a trace hash in a report means the same on every machine and version of Go.
func TestTracesAreStable(t *testing.T) {
	w := sim.NewWorld(sim.Config{Seed: 11, Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Uniform(0, time.Second)}, model.New())
	defer w.Close()
	c := w.Client("c")
	c.Go(func() { c.Sleep(context.Background(), time.Second) })
	w.Nodes(c)[0].Do([]*driver.Command{{Op: driver.OpRelease, Keys: []string{"r"}, Value: "v", Deadline: time.Unix(60, 0), Done: func(*driver.Command, driver.Reply) {}}})
	w.Kernel.After(time.Second/2, func() { c.Clock().SetRate(-100_000_000) })
	w.Kernel.Run(kernel.True(time.Minute))
	const want = "297997096e4761948c0bfd4c79c96fe2 6"
	if got := fmt.Sprint(w.TraceHash(), " ", w.Kernel.Steps()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestTiersAgreeOnWhatFollowsARelease(t *testing.T) {
	run := func(backend redis.Tier) string {
		w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B", "C", "D", "E"}, Clients: []sim.ClientConfig{{Name: "c"}},
			Latency: network.Constant(time.Millisecond)}, backend)
		defer w.Close()
		c := w.Client("c")
		d, e := w.Network.Link("c", "D"), w.Network.Link("c", "E")
		o := &observer{world: w, name: "c", after: func(s observe.Event) {
			if s.Late && s.Node.Node == "D" {
				e.Reset()
			}
		}}
		client, err := redlock.New(w.Nodes(c), redlock.WithRuntime(c.Runtime()), redlock.WithObserver(o))
		if err != nil {
			t.Fatal(err)
		}
		c.Go(func() { _, _ = client.TryLock(context.Background(), "r", 5*time.Second) })
		d.Hold(network.Replies)
		e.Hold(network.Replies)
		w.Kernel.After(20*time.Millisecond, func() { d.Release(network.Replies); e.Release(network.Replies) })
		w.Kernel.Run(kernel.True(time.Second))
		text := ""
		for _, e := range w.History() {
			text += fmt.Sprintf("%s %s %s\n", e.Name, e.Node, e.Detail)
		}
		return text
	}
	if m, w := run(model.New()), run(wire.New()); m != w {
		t.Errorf("model:\n%s\nwire:\n%s", m, w)
	}
}
