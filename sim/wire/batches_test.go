package wire_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
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
	"redlocksim/sim/trace"
	"redlocksim/sim/wire"
)

// tapped is a node of a client that counts what is in the batches it is handed.
type tapped struct {
	driver.Node
	seen map[string]int
}

func (n tapped) Do(batch []*driver.Command) {
	if len(batch) > 1 {
		for what, is := range features(batch) {
			if is {
				n.seen[what]++
			}
		}
	}
	n.Node.Do(batch)
}

// features says what a batch of several commands has.
func features(batch []*driver.Command) map[string]bool {
	count := func(is func(c *driver.Command) bool) (n int) {
		for _, c := range batch {
			if is(c) {
				n++
			}
		}
		return n
	}
	acquires := count(func(c *driver.Command) bool { return c.Op == driver.OpAcquire })
	extends := count(func(c *driver.Command) bool { return c.Op == driver.OpExtend })
	releases := count(func(c *driver.Command) bool { return c.Op == driver.OpRelease })
	one := count(func(c *driver.Command) bool { return c.Op == driver.OpRelease && len(c.Keys) == 1 })
	plain := count(func(c *driver.Command) bool {
		return c.Op == driver.OpAcquire && c.Conditions == nil && len(c.Keys) == 1
	})
	several := count(func(c *driver.Command) bool { return len(c.Keys) > 1 })
	guarded := count(func(c *driver.Command) bool { return c.Conditions != nil && c.Conditions.MaxTTL != 0 })
	joint := count(func(c *driver.Command) bool {
		q := c.Conditions
		return q != nil && q.MaxTTL != 0 && q.Token == 0 && q.Watched == "" && len(c.Keys) == 1
	})
	tokens := count(func(c *driver.Command) bool { return c.Conditions != nil && c.Conditions.Token != 0 })
	sameKey := func() bool {
		for i, c := range batch {
			if slices.ContainsFunc(batch[:i], func(o *driver.Command) bool { return o.Keys[0] == c.Keys[0] }) {
				return true
			}
		}
		return false
	}
	return map[string]bool{
		"several commands":            true,
		"eight commands or more":      len(batch) >= 8,
		"joint releases":              one > 1,
		"joint votes":                 joint > 1,
		"plain acquires":              plain > 1,
		"tokens":                      tokens > 1,
		"the guard":                   guarded > 0,
		"acquire and release":         acquires > 0 && releases > 0,
		"acquire and extend":          acquires > 0 && extends > 0,
		"release and extend":          releases > 0 && extends > 0,
		"a command with several keys": several > 0,
		"two commands for a key":      sameKey(),
		"different deadlines":         slices.ContainsFunc(batch, func(c *driver.Command) bool { return !c.Deadline.Equal(batch[0].Deadline) }),
	}
}

// crowd is a world in which several goroutines of each client want the same few locks, and hand their commands to the
// nodes in batches.
func crowd(seed uint64, backend redis.Tier, seen map[string]int) *sim.World {
	rng := rand.New(rand.NewPCG(seed, 2))
	latency := []network.Latency{network.Uniform(time.Millisecond, 5*time.Millisecond), network.Uniform(0, 40*time.Millisecond), network.Constant(2 * time.Millisecond)}[rng.IntN(3)]
	w := sim.NewWorld(sim.Config{Seed: seed, Nodes: []string{"A", "B", "C"}, Persistence: redis.Persistence(rng.IntN(3)), Latency: latency,
		Clients: []sim.ClientConfig{{Name: "c1"}, {Name: "c2", LockClock: []kernel.ClockKind{kernel.Monotonic, kernel.WallClock}[rng.IntN(2)]}}}, backend)
	guard, fencing := rng.IntN(3) > 0, rng.IntN(3) == 0
	var recorders []*recorder
	for i, p := range w.Clients {
		r := &recorder{world: w, process: p}
		recorders = append(recorders, r)
		opts := []redlock.Option{redlock.WithRuntime(p.Runtime()), redlock.WithObserver(r),
			redlock.WithBatching(1 + rng.IntN(2))}
		if guard {
			opts = append(opts, redlock.WithRestartGuard(redlock.Guard{MaxTTL: 400 * time.Millisecond, TrustNodeClock: rng.IntN(2) == 0}))
		}
		if fencing {
			opts = append(opts, redlock.WithFencing(redlock.Fencing{CounterTTL: time.Second}))
		}
		var nodes []driver.Node
		for _, n := range w.Nodes(p) {
			nodes = append(nodes, tapped{n, seen})
		}
		client, err := redlock.New(nodes, opts...)
		if err != nil {
			panic(err)
		}
		p.Go(func() {
			if i == 0 && guard {
				p.Purpose(w.Kernel.Draw("prepare"))
				r.operation("prepare", func() error { return client.PrepareGuard(context.Background()) })
			}
			for number := range 12 {
				p.Go(func() { r.jostle(client, number, 12) })
			}
		})
	}
	faults(w, rng, recorders, 16, 2*time.Second)
	for range 6 {
		at, lasting := time.Duration(rng.Int64N(int64(2*time.Second))), time.Duration(rng.Int64N(int64(300*time.Millisecond)))
		link := w.Network.Link(w.Clients[rng.IntN(2)].Name(), w.Servers[rng.IntN(3)].Name())
		direction, keep, reset := network.Direction(rng.IntN(3)), 1+rng.IntN(3), rng.IntN(2) == 0
		w.Kernel.After(at, func() {
			w.Record(history.Event{Kind: history.Fault, Name: fmt.Sprintf("split %s %d %d %v", link.Server().Name(), direction, keep, reset)})
			mend := link.Split(direction, keep, reset)
			w.Kernel.After(lasting, mend)
		})
	}
	return w
}

// jostle takes one of a few locks, or two, extends it and lets it go, without much of a pause.
func (r *recorder) jostle(client *redlock.Client, number, rounds int) {
	w, p := r.world, r.process
	for i := range rounds {
		key := w.Kernel.Draw("jostle").WithString(p.Name()).With(uint64(number)).With(uint64(i))
		below := func(purpose string, n int) int { return int(key.WithString(purpose).Below(uint64(n))) }
		p.Purpose(key.WithString("values"))
		first := below("resource", 6)
		resources := []string{fmt.Sprint("r", first)}
		if below("two", 4) == 0 {
			resources = append(resources, fmt.Sprint("r", (first+1)%6))
		}
		ttl := time.Duration(100+below("ttl", 300)) * time.Millisecond
		var lease *redlock.Lease
		r.operation(history.Acquire, func() (err error) {
			lease, err = client.TryLockAll(context.Background(), resources, ttl)
			return err
		})
		if lease != nil && below("extend", 2) == 0 {
			p.Sleep(context.Background(), time.Duration(below("hold", 30))*time.Millisecond)
			r.operation(history.Extend, func() error { return lease.Extend(context.Background(), ttl) })
		}
		if lease != nil {
			r.operation(history.Release, func() error { return lease.Unlock(context.Background()) })
		}
		p.Sleep(context.Background(), time.Duration(below("pause", 4))*5*time.Millisecond)
	}
}

// runCrowd is one of these worlds on a tier, with what was recorded.
func runCrowd(seed uint64, backend redis.Tier, seen map[string]int) (history.History, []message) {
	w := crowd(seed, backend, seen)
	defer w.Close()
	var messages []message
	sent := map[*network.Exchange]kernel.True{}
	trace.On(w.Events, func(e network.Sent) {
		if e.Kind == network.RequestMessage {
			sent[e.Exchange] = w.Kernel.Now()
		}
	})
	trace.On(w.Events, func(e network.Ended) {
		messages = append(messages, message{e, e.Client().(network.Purposeful).Purpose(), sent[e.Exchange], w.Kernel.Now()})
	})
	w.Kernel.Run(kernel.True(4 * time.Second))
	for _, s := range w.Servers {
		w.Record(history.Event{Kind: history.Step, Name: "dump", Detail: fmt.Sprint(s.Name(), " ", s.State(), len(s.OnDisk()), s.Dump())})
	}
	return w.History(), messages
}

// message is one that ended, with when its exchange began.
type message struct {
	network.Ended
	purpose     string
	sent, ended kernel.True
}

// countMessages counts what became of the messages with several requests, on tier wire: how many were torn, and how many
// were followed by another with the sources of scripts that the node had forgotten.
func countMessages(messages []message, seen map[string]int) {
	type place struct {
		*network.Link
		at kernel.True
	}
	answered := map[place]bool{}
	for _, m := range messages {
		isSeveral := strings.Contains(m.purpose, ",")
		if isSeveral && m.Kind == network.ReplyMessage && m.Fate == network.Arrived && strings.Contains(m.purpose, "EVALSHA") {
			answered[place{m.Link(), m.ended}] = true
		}
		switch {
		case isSeveral && m.Fate == network.Arrived && m.Why != "" && m.Kind == network.RequestMessage:
			seen["only the first requests arrived"]++
		case isSeveral && m.Fate == network.Arrived && m.Why != "" && m.Kind == network.ReplyMessage:
			seen["only the first answers arrived"]++
		}
	}
	for _, m := range messages {
		inFull := !strings.Contains(m.purpose, "SHA") && !strings.Contains(m.purpose, "SET") && strings.HasPrefix(m.purpose, "EVAL")
		if m.Kind == network.RequestMessage && inFull && answered[place{m.Link(), m.sent}] {
			seen["sent again with the sources"]++
			if strings.Contains(m.purpose, ",") {
				seen["several sent again with the sources"]++
			}
		}
	}
}

// What the library hands a node in one piece travels, arrives, is lost and is answered as one message on both tiers, and
// has the same history on both.
func TestTiersAgreeOnBatches(t *testing.T) {
	seen, steps := map[string]int{}, 0
	all := []uint64{127} // a wall clock jumps back, and the round of one of the commands that are sent again is over
	for seed := range seeds() {
		all = append(all, seed)
	}
	for _, seed := range all {
		want, _ := runCrowd(seed, model.New(), map[string]int{})
		got, messages := runCrowd(seed, wire.New(), seen)
		if history.Hash(want) != history.Hash(got) {
			t.Fatalf("seed %d: of %d events on model (-) and %d on wire (+) the first that differ:\n%s", seed, len(want), len(got), describe(want, got))
		}
		countMessages(messages, seen)
		steps += len(got)
		for _, e := range got {
			if e.Name == observe.Granted.String() {
				seen["grants"]++
			}
		}
	}
	t.Logf("%d events", steps)
	least := map[string]int{
		"grants": 20, "several commands": 100, "eight commands or more": 50, "joint releases": 50, "joint votes": 50, "plain acquires": 20, "tokens": 20,
		"the guard": 50, "acquire and release": 50, "acquire and extend": 20, "release and extend": 20, "a command with several keys": 50,
		"two commands for a key": 50, "different deadlines": 50, "only the first requests arrived": 5, "only the first answers arrived": 5,
		"sent again with the sources": 3, "several sent again with the sources": 1,
	}
	for _, what := range slices.Sorted(maps.Keys(least)) {
		t.Logf("%6d %s", seen[what], what)
		if seen[what] < least[what] {
			t.Errorf("%d batches with: %s; fewer than %d", seen[what], what, least[what])
		}
	}
}
