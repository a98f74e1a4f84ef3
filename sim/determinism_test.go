package sim_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

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

// stormy is a run with contention and some of every fault.
func stormy(t *testing.T, seed uint64, backend redis.Tier) (historyHash, traceHash string) {
	w := sim.NewWorld(sim.Config{Seed: seed, Nodes: []string{"A", "B", "C"}, Persistence: redis.EverySecond,
		Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2"}, {Name: "c3", LockClock: kernel.WallClock}},
		Latency: network.Uniform(0, 20*time.Millisecond)}, backend)
	defer w.Close()
	for _, p := range w.Clients {
		client, err := redlock.New(w.Nodes(p), redlock.WithRuntime(p.Runtime()),
			redlock.WithObserver(&observer{world: w, name: p.Name()}))
		if err != nil {
			t.Fatal(err)
		}
		p.Go(func() {
			for i := range 30 {
				p.Purpose(w.Kernel.Draw("acquire").WithString(p.Name()).With(uint64(i)))
				ctx, cancel := p.ProgramClock().WithDeadline(context.Background(), p.ProgramClock().Now().Add(3*time.Second))
				if lease, err := client.Lock(ctx, "r", 500*time.Millisecond); err == nil {
					w.Storage.Do(p, w.Kernel.Draw("write").WithString(p.Name()).With(uint64(i)), history.Event{Func: history.Write, Op: w.NewOp(), Grant: i, Resource: "r", Number: int64(i)})
					_ = lease.Unlock(context.Background())
				}
				cancel()
			}
		})
	}
	at := func(d time.Duration, f func()) { w.Kernel.After(d, f) }
	a, b, c1, c2 := w.Server("A"), w.Server("B"), w.Client("c1"), w.Client("c2")
	link := w.Network.Link("c2", "C")
	for i := range 5 {
		base := time.Duration(i) * 2 * time.Second
		at(base+300*time.Millisecond, func() { _ = a.LosePower() })
		at(base+500*time.Millisecond, func() { _ = a.Restart(); c1.Pause(); b.Clock().Step(-time.Second) })
		at(base+900*time.Millisecond, func() { c1.Resume(); link.Cut(network.Both); b.Clock().SetRate(int64(i) * 10_000_000) })
		at(base+1100*time.Millisecond, func() { link.Mend(network.Both); link.Hold(network.Replies); _ = b.Kill() })
		at(base+1300*time.Millisecond, func() { link.Release(network.Replies); link.Reset(); _ = b.Restart(); c2.Clock().SetRate(-20_000_000) })
	}
	at(9*time.Second, c2.Crash)
	w.Kernel.Run(kernel.True(20 * time.Second))
	if n := len(w.History()); n < 200 {
		t.Errorf("only %d events", n)
	}
	return w.HistoryHash(), w.TraceHash()
}

// TestRunsRepeat: in the same process, one after the other and beside each other; and both tiers have one history.
func TestRunsRepeat(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var group sync.WaitGroup
	for seed := range uint64(4) {
		wantHistory, wantTrace := stormy(t, seed, model.New())
		for range 3 {
			group.Go(func() {
				if h, tr := stormy(t, seed, model.New()); h != wantHistory || tr != wantTrace {
					t.Errorf("seed %d: the run does not repeat", seed)
				}
			})
		}
		group.Go(func() {
			if h, _ := stormy(t, seed, wire.New()); h != wantHistory {
				t.Errorf("seed %d: tier wire has another history", seed)
			}
		})
	}
	group.Wait()
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
