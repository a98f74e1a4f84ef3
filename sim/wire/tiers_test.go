package wire_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"redlocksim/redlock"
	"redlocksim/redlock/observe"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// recorder is a client's observer: it writes the library's steps into the history and injects a fault into the client
// inside one of them.
type recorder struct {
	world   *sim.World
	process *kernel.Process
	steps   int
	faults  map[int]func() // by the number of the step
}

func (r *recorder) Observe(_ context.Context, e observe.Event) {
	detail := ""
	if e.Err != nil {
		detail = e.Err.Error()
	}
	if e.Node.Node != "" {
		detail += fmt.Sprintf(" %v after %v late=%v", e.Node.Outcome, e.Node.Took, e.Late)
	}
	r.world.Record(history.Event{Kind: history.Step, Process: r.process.Name(), Resource: e.Resource, Name: e.Step.String(),
		Node: e.Node.Node, Number: int64(e.Attempt), Span: int64(e.Validity),
		Detail: fmt.Sprintf("%v %x %d %d/%d %v %v %s", e.Op, e.Value, e.Token, e.Accepted, e.Quorum, e.Until.UnixNano(), e.Delay, detail)})
	r.steps++
	if fault := r.faults[r.steps]; fault != nil {
		fault()
		r.process.Checkpoint()
	}
}

// operation calls f and records that.
func (r *recorder) operation(f history.Func, f2 func() error) {
	op := r.world.NewOp()
	r.world.Record(history.Event{Kind: history.Call, Process: r.process.Name(), Op: op, Func: f})
	err := f2()
	r.process.Checkpoint()
	e := history.Event{Kind: history.Return, Process: r.process.Name(), Op: op, Func: f, Outcome: history.OK}
	if err != nil {
		e.Outcome, e.Detail = history.Failed, err.Error()
	}
	r.world.Record(e)
}

// program locks, extends and unlocks again and again.
func (r *recorder) program(client *redlock.Client, number, rounds int) {
	w, p := r.world, r.process
	clock := p.ProgramClock()
	for i := range rounds {
		key := w.Kernel.Draw("program").WithString(p.Name()).With(uint64(number)).With(uint64(i))
		below := func(purpose string, n int) int { return int(key.WithString(purpose).Below(uint64(n))) }
		p.Purpose(key.WithString("values"))
		resource := fmt.Sprint("r", below("resource", 2))
		ttl := time.Duration(200+below("ttl", 800)) * time.Millisecond
		var lease *redlock.Lease
		r.operation(history.Acquire, func() (err error) {
			if below("try", 3) == 0 {
				lease, err = client.TryLock(context.Background(), resource, ttl)
				return err
			}
			ctx, cancel := clock.WithDeadline(context.Background(), clock.Now().Add(time.Duration(below("patience", 3000))*time.Millisecond))
			defer cancel()
			lease, err = client.Lock(ctx, resource, ttl)
			return err
		})
		for n := range below("extensions", 4) {
			if lease == nil {
				break
			}
			p.Sleep(context.Background(), time.Duration(key.WithString("hold").With(uint64(n)).Below(uint64(ttl))))
			if n > 0 {
				r.operation(history.Extend, func() error { return lease.Extend(context.Background(), ttl) })
			}
		}
		if lease != nil && below("forget", 5) > 0 {
			r.operation(history.Release, func() error {
				ctx, cancel := clock.WithDeadline(context.Background(), clock.Now().Add(time.Duration(below("hurry", 40))*time.Millisecond))
				defer cancel()
				return lease.Unlock(ctx)
			})
		}
		p.Sleep(context.Background(), time.Duration(below("pause", 100))*time.Millisecond)
	}
}

// crowd has goroutines lock and unlock what no other client wants, one after the other: grants in a row, after which the
// client gives way.
func (r *recorder) crowd(client *redlock.Client, goroutines, rounds int) {
	w, p := r.world, r.process
	for number := range goroutines {
		p.Go(func() {
			for i := range rounds {
				p.Purpose(w.Kernel.Draw("crowd").WithString(p.Name()).With(uint64(number)).With(uint64(i)))
				ctx, cancel := p.ProgramClock().WithDeadline(context.Background(), p.ProgramClock().Now().Add(2*time.Second))
				var lease *redlock.Lease
				r.operation(history.Acquire, func() (err error) {
					lease, err = client.Lock(ctx, "crowded", 500*time.Millisecond)
					return err
				})
				cancel()
				if lease != nil {
					r.operation(history.Release, func() error { return lease.Unlock(context.Background()) })
				}
			}
		})
	}
}

// chaos draws faults of everything that can happen to a world.
type chaos struct {
	w   *sim.World
	rng *rand.Rand
}

func (c *chaos) between(min, max time.Duration) time.Duration {
	return min + time.Duration(c.rng.Int64N(int64(max-min)))
}

func (c *chaos) record(format string, args ...any) {
	c.w.Record(history.Event{Kind: history.Fault, Name: fmt.Sprintf(format, args...)})
}

// inject schedules a fault. What it can use is drawn whether it does or not.
func (c *chaos) inject(until time.Duration) {
	w, k := c.w, c.w.Kernel
	at, lasting := c.between(0, until), c.between(0, 600*time.Millisecond)
	server, client := w.Servers[c.rng.IntN(len(w.Servers))], w.Clients[c.rng.IntN(len(w.Clients))]
	link, direction := w.Network.Link(client.Name(), server.Name()), network.Direction(c.rng.IntN(3))
	name := client.Name() + "-" + server.Name()
	clock := client.Clock()
	if c.rng.IntN(2) == 0 {
		clock = server.Clock()
	}
	step, rate, extra := c.between(-time.Second, time.Second), c.rng.Int64N(400_000_000)-200_000_000, c.between(0, 80*time.Millisecond)
	dark := c.rng.IntN(2) == 0
	switch c.rng.IntN(8) {
	case 0:
		k.After(at, func() { c.record("cut %s %d", name, direction); link.Cut(direction) })
		k.After(at+lasting, func() { c.record("mend %s %d", name, direction); link.Mend(direction) })
	case 1:
		k.After(at, func() { c.record("hold %s %d", name, direction); link.Hold(direction) })
		k.After(at+lasting/4, func() { c.record("release %s %d", name, direction); link.Release(direction) })
	case 2:
		k.After(at, func() { c.record("delay %s %d %v", name, direction, extra); link.Delay(direction, extra) })
		k.After(at+lasting, func() { link.Delay(direction, -extra) })
	case 3:
		k.After(at, func() { c.record("reset %s", name); link.Reset() })
	case 4:
		k.After(at, func() {
			var err error
			if dark {
				err = server.LosePower()
			} else {
				err = server.Kill()
			}
			c.record("stop %s %v %v", server.Name(), dark, err)
		})
		k.After(at+lasting, func() {
			if !server.Up() {
				if err := server.Restart(); err != nil {
					panic(err)
				}
				c.record("restart %s %v", server.Name(), server.Dump())
			}
		})
	case 5:
		k.After(at, func() { c.record("step %v", step); clock.Step(step) })
		k.After(at+lasting, func() { c.record("dump %v", server.Dump()) })
	case 6:
		k.After(at, func() { c.record("rate %d", rate); clock.SetRate(rate) })
	case 7:
		k.After(at, func() { c.record("pause %s", client.Name()); client.Pause() })
		k.After(at+lasting/4, func() { c.record("resume %s", client.Name()); client.Resume() })
	}
}

// injectInside has a client paused, or crash, in the middle of some steps of the library.
func (c *chaos) injectInside(r *recorder, mayCrash bool) {
	r.faults = map[int]func(){}
	for range 5 {
		length := c.between(0, 300*time.Millisecond)
		r.faults[1+c.rng.IntN(300)] = func() {
			c.record("pause %s", r.process.Name())
			r.process.Pause()
			c.w.Kernel.After(length, r.process.Resume)
		}
	}
	if mayCrash && c.rng.IntN(2) == 0 {
		r.faults[200+c.rng.IntN(400)] = func() { _ = c.w.Crash(r.process) }
	}
}

// faults schedules a number of faults, and some inside of the library's steps.
func faults(w *sim.World, rng *rand.Rand, recorders []*recorder, number int, until time.Duration) {
	c := &chaos{w, rng}
	for range number {
		c.inject(until)
	}
	for i, r := range recorders {
		c.injectInside(r, i == 0)
	}
}

const faultsEnd, runEnd = 12 * time.Second, 15 * time.Second

// run is one world on a tier.
func run(seed uint64, backend redis.Tier) (history.History, string) {
	w := build(seed, backend)
	defer w.Close()
	w.Kernel.Run(kernel.True(runEnd))
	for _, s := range w.Servers {
		w.Record(history.Event{Kind: history.Step, Name: "dump", Detail: fmt.Sprint(s.Name(), " ", s.State(), len(s.OnDisk()), s.Dump())})
	}
	return w.History(), w.HistoryHash()
}

// build makes a world with programs and faults of the seed.
func build(seed uint64, backend redis.Tier) *sim.World {
	rng := rand.New(rand.NewPCG(seed, 0))
	nodes := []string{"A", "B", "C", "D", "E"}
	if rng.IntN(3) == 0 {
		nodes = nodes[:3]
	}
	latency := []network.Latency{network.Uniform(time.Millisecond, 5*time.Millisecond), network.Uniform(0, 40*time.Millisecond),
		network.Constant(time.Millisecond), {}}[rng.IntN(4)]
	w := sim.NewWorld(sim.Config{Seed: seed, Nodes: nodes, Persistence: redis.Persistence(rng.IntN(3)), Latency: latency,
		Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2", LockClock: []kernel.ClockKind{kernel.Monotonic, kernel.WallClock}[rng.IntN(2)]}, {Name: "c3"}}}, backend)
	more := rand.New(rand.NewPCG(seed, 1))
	guard, fencing, prepared := more.IntN(2) == 0, more.IntN(2) == 0, more.IntN(2) == 0
	var recorders []*recorder
	for i, p := range w.Clients {
		r := &recorder{world: w, process: p}
		recorders = append(recorders, r)
		opts := []redlock.Option{redlock.WithRuntime(p.Runtime()), redlock.WithObserver(r)}
		if guard && more.IntN(6) > 0 {
			opts = append(opts, redlock.WithRestartGuard(redlock.Guard{MaxTTL: time.Second, TrustNodeClock: more.IntN(4) == 0}))
		}
		if fencing && more.IntN(6) > 0 {
			opts = append(opts, redlock.WithFencing(redlock.Fencing{CounterTTL: time.Duration(1+more.IntN(9)) * time.Second}))
		}
		client, err := redlock.New(w.Nodes(p), opts...)
		if err != nil {
			panic(err)
		}
		p.Go(func() {
			if i == 0 && prepared {
				p.Purpose(w.Kernel.Draw("prepare"))
				r.operation("prepare", func() error { return client.PrepareGuard(context.Background()) })
			}
			r.program(client, 0, 30)
		})
		p.Go(func() { r.program(client, 1, 30) })
		if i == 2 {
			r.crowd(client, 3, 8)
		}
	}
	faults(w, rng, recorders, 40, faultsEnd)
	return w
}

var moreSeeds = flag.Uint64("seeds", 0, "how many seeds the tiers are compared for, instead of a few")

func seeds() uint64 {
	switch {
	case *moreSeeds > 0:
		return *moreSeeds
	case testing.Short():
		return 8
	}
	return 30
}

// describe shows where two histories part.
func describe(a, b history.History) string {
	for i := range max(len(a), len(b)) {
		if i < len(a) && i < len(b) && a[i] == b[i] {
			continue
		}
		var s strings.Builder
		for j := max(0, i-8); j < i; j++ {
			fmt.Fprintf(&s, "   %+v\n", a[j])
		}
		for j := i; j < i+2; j++ {
			if j < len(a) {
				fmt.Fprintf(&s, "-  %+v\n", a[j])
			}
			if j < len(b) {
				fmt.Fprintf(&s, "+  %+v\n", b[j])
			}
		}
		return s.String()
	}
	return "the same"
}

// TestTiersAgree: the same seed gives the same history on both tiers, every time and in parallel.
func TestTiersAgree(t *testing.T) {
	steps, granted, outcomes := 0, 0, map[string]int{}
	var mu sync.Mutex
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds() {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				want, wantHash := run(seed, model.New())
				other := make(chan history.History)
				go func() { // at the same time
					h, _ := run(seed, wire.New())
					other <- h
				}()
				got, gotHash := run(seed, wire.New())
				again := <-other
				if history.Hash(again) != gotHash {
					t.Fatalf("wire differs from itself:\n%s", describe(got, again))
				}
				if wantHash != gotHash {
					t.Fatalf("of %d events on model (-) and %d on wire (+) the first that differ:\n%s", len(want), len(got), describe(want, got))
				}
				mu.Lock()
				defer mu.Unlock()
				steps += len(got)
				for _, e := range got {
					if e.Name == observe.Granted.String() {
						granted++
					}
					outcomes[e.Name]++
					for _, word := range []string{"accepted", "declined", "timed out", "refused", "failed", "in quarantine", "behind"} {
						if e.Kind == history.Step && strings.Contains(e.Detail, " "+word+" after") {
							outcomes[word]++
						}
					}
				}
			})
		}
	})
	t.Logf("%d events, %d grants", steps, granted)
	for _, step := range observe.Steps() {
		t.Logf("%6d %v", outcomes[step.String()], step)
		if outcomes[step.String()] == 0 {
			t.Errorf("no run had the step %v", step)
		}
	}
	for _, word := range []string{"accepted", "declined", "timed out", "refused", "in quarantine", "behind"} {
		t.Logf("%6d %v", outcomes[word], word)
		if outcomes[word] == 0 {
			t.Errorf("no node's outcome was %s", word)
		}
	}
	if outcomes["failed"] != 0 {
		t.Errorf("%d nodes failed", outcomes["failed"])
	}
}

// TestCloseAnywhere: a run can be ended at any time, whatever its clients wait for.
func TestCloseAnywhere(t *testing.T) {
	for seed := range uint64(20) {
		w := build(seed, wire.New())
		w.Kernel.Run(kernel.True(seed * seed * uint64(7*time.Millisecond)))
		w.Close()
		w.Close() // is harmless
		goleak.VerifyNone(t)
	}
}
