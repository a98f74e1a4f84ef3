package sim_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
	"redlocksim/sim/wire"
)

// What a crashed client has sent still arrives, as its own. No answer reaches the client that was started again in its place,
// and that one's library works, over the same links.
func TestRestartClient(t *testing.T) {
	for name, tier := range map[string]redis.Tier{"model": model.New(), "wire": wire.New()} {
		t.Run(name, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Nodes: []string{"A", "B", "C"}, Clients: []sim.ClientConfig{{Name: "c"}},
				Latency: network.Constant(10 * time.Millisecond)}, tier)
			defer w.Close()
			// tryLock has the client that there is try to get the lock, and gives its error when it has one.
			tryLock := func() *error {
				p, result := w.Client("c"), new(error)
				*result = errors.New("it has not returned")
				client, err := redlock.New(w.Nodes(p), redlock.WithRuntime(p.Runtime()))
				if err != nil {
					t.Fatal(err)
				}
				p.Go(func() { _, *result = client.TryLock(context.Background(), "r", time.Second) })
				return result
			}
			at := func(moment time.Duration, f func() error) {
				w.Kernel.After(moment*time.Millisecond, func() {
					if err := f(); err != nil {
						t.Error(err)
					}
				})
			}
			before := w.Client("c")
			arrived := map[*kernel.Process]int{}
			trace.On(w.Events, func(a *redis.Asked) {
				if a.At == redis.Arrived {
					arrived[a.Client]++
				}
			})
			if w.RestartClient("c") == nil {
				t.Error("a client that runs is started again")
			}
			first, second, third := tryLock(), new(error), new(error)
			at(5, func() error { return w.Crash(before) })
			at(6, func() error { return w.RestartClient("c") })
			at(7, func() error {
				if arrived[before] != 0 {
					t.Error("the commands have arrived too early")
				}
				second = tryLock()
				return nil
			})
			at(1500, func() error { third = tryLock(); return nil })
			w.Kernel.Run(kernel.True(2 * time.Second))
			if *first == nil || !errors.Is(*second, redlock.ErrTaken) || *third != nil {
				t.Errorf("the crashed client got %v, the next one %v, and when the lock was over %v", *first, *second, *third)
			}
			// The second attempt's SETs, of which none is carried out, so that nothing is released, and the third's.
			if arrived[before] != 3 || arrived[w.Client("c")] != 6 {
				t.Errorf("%d commands of the crashed client arrived and %d of the next", arrived[before], arrived[w.Client("c")])
			}
		})
	}
}

// What is published reaches those of a client's processes that have subscribed.
func TestNoNewsForACrashedClient(t *testing.T) {
	w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Constant(10 * time.Millisecond)}, model.New())
	defer w.Close()
	listen := func() *int {
		heard := new(int)
		w.Nodes(w.Client("c"))[0].(driver.Listener).Listen("news", func(string) { *heard++ })
		return heard
	}
	first, second := listen(), new(int)
	w.Kernel.After(time.Second, func() {
		if err := errors.Join(w.Crash(w.Client("c")), w.RestartClient("c")); err != nil {
			t.Error(err)
		}
		second = listen()
	})
	for _, at := range []time.Duration{500 * time.Millisecond, 2 * time.Second} {
		w.Kernel.After(at, func() { w.Server("A").Publish("news", "x") })
	}
	w.Kernel.Run(kernel.True(3 * time.Second))
	if *first != 1 || *second != 1 {
		t.Errorf("heard %d times before and %d times after the restart, want once each", *first, *second)
	}
}
