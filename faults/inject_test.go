package faults

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/history"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/storage"
)

const ms = time.Millisecond

// replicated is names with a replica.
var replicated = Names{Clients: names.Clients, Nodes: names.Nodes, Replicas: map[string][]string{"A": {"A2", "A3"}}}

// testField is a field with its world.
type testField struct {
	*Field
	World *sim.World
}

func newField(t *testing.T, p redis.Persistence) *testField {
	cfg := sim.Config{Nodes: names.Nodes, Replicas: replicated.Replicas, Persistence: p, Latency: network.Constant(5 * ms)}
	for _, c := range names.Clients {
		cfg.Clients = append(cfg.Clients, sim.ClientConfig{Name: c})
	}
	w := sim.NewWorld(cfg, model.New())
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return &testField{NewField(In(w)), w}
}

// set has client c1 set a key on a node at a true time; reply, if not nil, is told how long that took.
func set(f *testField, at time.Duration, node int, key string, op driver.Op, reply func(time.Duration)) {
	f.World.Kernel.After(at, func() {
		start := f.World.Kernel.Now()
		c := &driver.Command{Op: op, Keys: []string{key}, Value: fmt.Sprint("v", at), TTL: time.Hour, Deadline: time.Unix(1e6, 0)}
		c.Done = func(*driver.Command, driver.Reply) {
			if reply != nil {
				reply(f.World.Kernel.Now().Sub(start))
			}
		}
		f.World.Nodes(f.World.Client("c1"))[node].Do([]*driver.Command{c})
	})
}

// inject runs the faults, each at its true time, up to a minute.
func inject(t *testing.T, f *testField, plan ...*Placed) {
	t.Helper()
	for _, p := range plan {
		if problems := Check(p.Fault, replicated); len(problems) > 0 {
			t.Fatalf("%T: %v", p.Fault, problems)
		}
		p.Arm(f.Field)
	}
	f.World.Kernel.Run(kernel.True(time.Minute))
}

func at(seconds float64, f Fault) *Placed {
	return &Placed{When: Trigger{At: time.Duration(seconds * 1e9)}, Fault: f}
}

// told is the faults of a history: time, name, whom it happens to, size, and the words.
func told(f *testField) string {
	var lines []string
	for _, e := range f.World.History() {
		if e.Kind == history.Crash {
			e.Name = "crash"
		}
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%v %s %s %s %v: %s", time.Duration(e.Time), e.Name, e.Process, e.Node, time.Duration(e.Span), e.Detail)), " "))
	}
	return strings.Join(lines, "\n")
}

// TestInject: every fault of the vocabulary is in the history when it is injected and when it ends, and its cost is in the
// account.
func TestInject(t *testing.T) {
	injected := map[string]bool{"*faults.Promote": true} // see TestPromote
	for _, test := range []struct {
		plan []*Placed
		want string
		used string
	}{
		{[]*Placed{at(1, &ClockStep{Process: "A", By: -2 * time.Second}), at(2, &ClockStep{Process: "c1", By: time.Second})},
			"1s clock-step A -2s: the wall clock of A jumps back by 2s\n2s clock-step c1 1s: the wall clock of c1 jumps forward by 1s", "0% 2s 0s 0s 0s []"},
		{[]*Placed{at(1, &ClockRate{Process: "A", Rate: PPM(-2000), For: time.Second}), at(5, &ClockRate{Process: "c1", Rate: PPM(1000), For: 0})},
			"1s clock-rate A 1s: the clocks of A run 0.2% slow\n2s clock-rate-ends A 0s: the clocks of A run as before\n5s clock-rate c1 0s: the clocks of c1 run 0.1% fast", "0.2% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &ClockStall{Process: "A", For: time.Second})},
			"1s clock-stall A 1s: the clocks of A stand still for 1s\n2s clock-stall-ends A 0s: the clocks of A go on from where they stood", "100% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Partition{For: time.Second}), at(3, &Partition{Links: links("c1", "A storage", network.Replies)})},
			"1s partition 1s: messages every client ↔ every node are lost\n1s cut-off c1 1s:\n1s cut-off c2 1s:\n2s partition-heals 0s: messages every client ↔ every node get through again\n3s partition c1 0s: messages A, storage → c1 are lost", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Partition{Links: links("c1", "", network.Both), For: time.Second})},
			"1s cut-off c1 1s: messages c1 ↔ every node are lost\n2s partition-heals c1 0s: messages c1 ↔ every node get through again", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Hold{Links: links("c2", "A", network.Requests), For: time.Second})},
			"1s hold c2 1s: messages c2 → A are held back for 1s\n2s hold-ends c2 0s: messages c2 → A that were held back arrive", "0% 0s 1s 0s 0s []"},
		{[]*Placed{at(1, &Delay{By: ms, For: time.Second}), at(3, &Delay{By: 2 * ms})},
			"1s delay 1ms: messages every client ↔ every node take 1ms longer\n2s delay-ends 0s: messages every client ↔ every node are as fast as before\n3s delay 2ms: messages every client ↔ every node take 2ms longer", "0% 0s 2ms 0s 0s []"},
		{[]*Placed{at(1, &Reset{})}, "1s reset 0s: connections every client ↔ every node are reset", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Split{Links: links("c1", "A", network.Requests), Keep: 2, For: time.Second}), at(3, &Split{Keep: 1, Reset: true})},
			"1s split c1 1s: of batches c1 → A only the first 2 requests get through\n2s split-ends c1 0s: batches c1 → A get through whole again\n3s split 0s: of batches every client ↔ every node only the first request gets through, and then the connection is reset", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Kill{Outage: Outage{Node: "A", RestartAfter: ptr(2 * time.Second)}}), at(1, &Kill{Outage: Outage{Node: "B", RestartAfter: ptr(0)}}), at(1, &Kill{Outage: Outage{Node: "C"}})},
			"1s kill A 2s: A is killed\n1s kill B 0s: B is killed\n1s restart B 0s: B restarts with an empty memory, 0s after it stopped\n1s kill C 0s: C is killed\n3s restart A 2s: A restarts with an empty memory, 2s after it stopped", "0% 0s 0s 0s 0s [{B 0 0s false false} {A 0 2s false false}]"},
		{[]*Placed{at(1, &PowerLoss{Outage: Outage{Node: "A"}}), at(4, &Restart{Node: "A"})},
			"1s power-loss A 0s: A loses power\n4s restart A 3s: A restarts with an empty memory, 3s after it stopped", "0% 0s 0s 0s 0s [{A 0 3s false false}]"},
		{[]*Placed{at(0.1, &Shutdown{Outage: Outage{Node: "A", RestartAfter: ptr(time.Second)}})},
			"100ms shutdown A 1s: A is shut down\n1.1s restart A 1s: A restarts with all it knew, 1s after it stopped", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Pause{Process: "A", For: time.Second}), at(3, &Pause{Process: "c1", For: 0}), at(5, &Resume{Process: "c1"})},
			"1s pause A 1s: A is paused for 1s\n2s resume A 0s: A goes on\n3s pause c1 0s: c1 is paused\n5s resume c1 0s: c1 goes on", "0% 0s 0s 2562047h47m16.854775807s 0s []"},
		{[]*Placed{at(1, &Pause{Process: "c1", For: 5 * time.Second}), at(2, &Resume{Process: "c1"})},
			"1s pause c1 5s: c1 is paused for 5s\n2s resume c1 0s: c1 goes on", "0% 0s 0s 5s 0s []"},
		// Two pauses that overlap are one long one.
		{[]*Placed{at(1, &Pause{Process: "c1", For: 5 * time.Second}), at(3, &Pause{Process: "c1", For: 5 * time.Second})},
			"1s pause c1 5s: c1 is paused for 5s\n3s pause c1 5s: c1 is paused for 5s\n8s resume c1 0s: c1 goes on", "0% 0s 0s 7s 0s []"},
		{[]*Placed{at(1, &Suspend{Client: "c1", For: 2 * time.Second})},
			"1s suspend c1 2s: the machine of c1 is suspended for 2s\n3s resume c1 0s: c1 goes on", "0% 0s 0s 0s 2s []"},
		// Those of one client add up, less what they have in common.
		{[]*Placed{at(1, &Suspend{Client: "c1", For: 2 * time.Second}), at(5, &Suspend{Client: "c1", For: 3 * time.Second}), at(7, &Suspend{Client: "c1", For: 4 * time.Second}),
			at(20, &Suspend{Client: "c2", For: 5 * time.Second})},
			"1s suspend c1 2s: the machine of c1 is suspended for 2s\n3s resume c1 0s: c1 goes on\n5s suspend c1 3s: the machine of c1 is suspended for 3s\n" +
				"7s suspend c1 4s: the machine of c1 is suspended for 4s\n11s resume c1 0s: c1 goes on\n20s suspend c2 5s: the machine of c2 is suspended for 5s\n25s resume c2 0s: c2 goes on", "0% 0s 0s 0s 8s []"},
		{[]*Placed{at(1, &Kill{Outage: Outage{Node: "A", RestartAfter: ptr(5 * time.Second), ByWallClock: true}}), at(2, &ClockStep{Process: "A", By: 3 * time.Second})},
			"1s kill A 5s: A is killed\n2s clock-step A 3s: the wall clock of A jumps forward by 3s\n3s restart A 2s: A restarts with an empty memory, 2s after it stopped", "0% 3s 0s 0s 0s [{A 0 2s false false}]"},
		{[]*Placed{at(1, &Stuck{Client: "c1"})}, "1s stuck c1 0s: c1 hangs in its work", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Entropy{Client: "c1", For: time.Second}), at(3, &Entropy{Client: "c1"})},
			"1s entropy c1 1s: c1 has no random bytes for 1s\n2s entropy-ends c1 0s: c1 has random bytes again\n3s entropy c1 0s: c1 has no random bytes", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &SetCounters{Node: "A", To: 7})},
			"1s set-counters A 0s: the fencing counters on A are set to 7", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &SetGuard{Node: "A", MaxTTL: time.Second}), at(2, &SetGuard{Node: "A"})},
			"1s set-guard A 0s: the largest TTL in the record of the restart guard on A is set to 1s\n2s set-guard A 0s: the record of the restart guard on A is overwritten with something else", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Overwrite{Node: "A"})},
			"1s overwrite A 0s: every lock's key on A is overwritten with a list", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &WrongAnswers{Node: "A", With: Loading, For: time.Second}), at(3, &WrongAnswers{Node: "A", With: Queued})},
			"1s wrong-answers A 1s: A answers every command with LOADING for 1s\n2s right-answers A 0s: A no longer answers every command with LOADING\n3s wrong-answers A 0s: A answers every command with QUEUED", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Promote{Node: "A", Replica: "A2"})},
			"1s promote A2 0s: A2, the replica of A, is promoted with all that A knew; all clients talk to it now", "0% 0s 0s 0s 0s [{A 3 0s false false}]"},
		{[]*Placed{at(1, &Failover{Node: "A", Replica: "A2", After: time.Second, RestartAfter: ptr(2 * time.Second)}), at(5, &Failover{Node: "A", Replica: "A2"})},
			"1s failover A 1s: A dies, and A2, its replica, takes over after 1s\n2s promote A2 0s: A2, the replica of A, is promoted with all that A knew; all clients talk to it now\n3s restart A 2s: A restarts with an empty memory, 2s after it stopped\n5s failover A 0s: A dies, and A2, its replica, takes over after 0s", "0% 0s 0s 0s 0s []"},
		{[]*Placed{at(1, &Evict{Node: "A"}), at(2, &Evict{Node: "B", Keys: AllKeys})},
			"1s evict A 0s: all locks are evicted from A\n2s evict B 0s: all keys are evicted from B", "0% 0s 0s 0s 0s [{A 1 0s false false} {B 1 0s false false}]"},
		{[]*Placed{at(1, &Crash{Client: "c1"})}, "1s crash c1 0s:", "0% 0s 0s 0s 0s []"},
	} {
		f := newField(t, redis.NoPersistence)
		for node := range names.Nodes {
			set(f, 500*ms, node, "k", driver.OpAcquire, nil)
		}
		if _, is := test.plan[0].Fault.(*SetGuard); is {
			f.World.Kernel.After(0, func() { f.World.Server("A").Put(redis.Record{Key: driver.GuardKey, Value: "ab 0 10000"}) })
		}
		inject(t, f, test.plan...)
		for _, p := range test.plan {
			if !p.Injected || p.Err != nil {
				t.Errorf("%T: injected %v, %v", p.Fault, p.Injected, p.Err)
			}
			injected[fmt.Sprintf("%T", p.Fault)] = true
		}
		if got := told(f); got != test.want {
			t.Errorf("got\n%s\nwant\n%s", got, test.want)
		}
		s := f.Used
		got := fmt.Sprintf("%v %v %v %v %v %v", s.ClockRate, s.ClockStep, s.Delay, s.Pause, s.Suspend, s.Lost)
		if got != test.used {
			t.Errorf("used %s, want %s", got, test.used)
		}
		for _, e := range f.World.History() {
			if name := EventName(&e); !slices.Contains(EventNames(), name) {
				t.Errorf("%q is not among the names of events", name)
			}
		}
	}
	for _, w := range Vocabulary() {
		if !injected[fmt.Sprintf("%T", w.New())] {
			t.Errorf("no test injects %s", w.Name)
		}
	}
}

// TestInjectionsAct: the faults do to the world what their notes say.
func TestInjectionsAct(t *testing.T) {
	f := newField(t, redis.Always)
	w := f.World
	took := func(at, want time.Duration) {
		got := time.Duration(-1)
		set(f, at, 0, fmt.Sprint(at), driver.OpAcquire, func(d time.Duration) { got = d })
		t.Cleanup(func() {
			if got != want {
				t.Errorf("what was sent at %v took %v, want %v", at, got, want)
			}
		})
	}
	for i, d := range []time.Duration{10 * ms, 8007 * ms, 10 * ms, 1005 * ms, 10 * ms, 30 * ms, 10 * ms, 10 * ms, 907 * ms, 7 * ms, 10 * ms} {
		took(time.Duration(i)*time.Second+98*ms, d)
	}
	took(30*time.Second+98*ms, -1)
	inject(t, f,
		at(1, &Partition{Links: links("c1", "A", network.Replies), For: time.Second}),
		at(30, &Partition{Links: links("c1", "A", network.Requests), For: time.Second}),
		at(3, &Hold{Links: links("", "A", network.Requests), For: 1098 * ms}),
		at(5, &Delay{Links: links("c1", "", network.Both), By: 10 * ms, For: time.Second}),
		at(7, &Pause{Process: "c2", For: time.Second}),
		at(8, &Pause{Process: "A", For: 1 * time.Second}),
		at(9.105, &Reset{}),
		at(15, &Suspend{Client: "c1", For: 2 * time.Second}),
		at(20, &ClockRate{Process: "A", Rate: PPM(100_000), For: 10 * time.Second}), at(40, &ClockStep{Process: "B", By: time.Second}))
	if c := w.Client("c1").Clock(); c.Mono() != kernel.Mono(58*time.Second) || c.Boot() != kernel.Mono(time.Minute) {
		t.Errorf("c1 reads %d, %d", c.Mono(), c.Boot())
	}
	if a, b := w.Server("A").Clock(), w.Server("B").Clock(); a.Mono() != kernel.Mono(61*time.Second) || b.Wall() != kernel.Epoch+kernel.Wall(61*time.Second) || b.Mono() != kernel.Mono(time.Minute) {
		t.Errorf("A reads %d, B reads %d", a.Mono(), b.Wall())
	}
}

// A client without random bytes has them again when the last fault ends that took them, and one that hangs in its work stays
// so.
func TestClientsWithoutBytesAndStuck(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	var states []string
	for _, seconds := range []float64{0.5, 1.5, 2.5, 3.5, 5} {
		f.World.Kernel.After(time.Duration(seconds*1e9), func() {
			state := ""
			for _, name := range names.Clients {
				c := f.World.Client(name)
				state += fmt.Sprintf("%s starved %v stuck %v ", name, c.Starved(), c.Stuck())
			}
			states = append(states, state)
		})
	}
	inject(t, f, at(1, &Entropy{Client: "c1", For: time.Second}), at(1.7, &Entropy{Client: "c1", For: 2 * time.Second}), at(3, &Stuck{Client: "c2"}))
	state := func(starved, stuck bool) string {
		return fmt.Sprintf("c1 starved %v stuck false c2 starved false stuck %v ", starved, stuck)
	}
	want := []string{state(false, false), state(true, false), state(true, false), state(true, true), state(false, true)}
	if !slices.Equal(states, want) {
		t.Errorf("%q, want %q", states, want)
	}
}

func TestWhatCannotHappen(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	plan := []*Placed{at(1, &Kill{Outage: Outage{Node: "A"}}), at(2, &PowerLoss{Outage: Outage{Node: "A"}}), at(3, &Restart{Node: "B"}), at(4, &Crash{Client: "c1"}), at(5, &Crash{Client: "c1"})}
	inject(t, f, plan...)
	for i, want := range []string{"", "faults: power-loss: A is down already", "faults: restart: B is up", "", "sim: crash: c1 has crashed already"} {
		if p := plan[i]; p.Injected != (want == "") || p.Err != nil && p.Err.Error() != want {
			t.Errorf("%T: injected %v, %v", p.Fault, p.Injected, p.Err)
		}
	}
	if n := len(f.World.History()); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestClockRatesOverlap(t *testing.T) {
	for _, test := range []struct {
		name string
		plan []*Placed
		want int64
	}{
		{"both end", []*Placed{at(0, &ClockRate{Process: "A", Rate: PPM(100_000), For: 10 * time.Second}), at(5, &ClockRate{Process: "A", Rate: PPM(200_000), For: 10 * time.Second})}, 0},
		{"a stall within", []*Placed{at(0, &ClockRate{Process: "A", Rate: PPM(100_000)}), at(5, &ClockStall{Process: "A", For: time.Second})}, 100_000_000},
		{"a stall that lasts", []*Placed{at(0, &ClockRate{Process: "A", Rate: PPM(100_000), For: 10 * time.Second}), at(5, &ClockStall{Process: "A", For: time.Hour})}, kernel.Still},
		{"the second stays", []*Placed{at(0, &ClockRate{Process: "A", Rate: PPM(100_000), For: 10 * time.Second}), at(5, &ClockRate{Process: "A", Rate: PPM(200_000), For: 0})}, 200_000_000},
	} {
		f := newField(t, redis.NoPersistence)
		inject(t, f, test.plan...)
		if got := f.World.Server("A").Clock().Rate(); got != test.want {
			t.Errorf("%s: the clock is left %d parts per billion fast, want %d", test.name, got, test.want)
		}
	}
}

// All clocks of a process stand still, the process runs, and afterwards the clocks are behind by as long.
func TestClocksStandStill(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	c := f.World.Client("c1").Clock()
	var wall []kernel.Wall
	for _, when := range []time.Duration{10 * time.Second, 15 * time.Second, 20 * time.Second} {
		f.World.Kernel.After(when, func() { wall = append(wall, c.Wall()-kernel.Epoch) })
	}
	answered := time.Duration(0)
	set(f, 15*time.Second, 0, "k", driver.OpAcquire, func(took time.Duration) { answered = took })
	inject(t, f, at(10, &ClockStall{Process: "c1", For: 10 * time.Second}))
	if want := kernel.Wall(10 * time.Second); !slices.Equal(wall, []kernel.Wall{want, want, want}) {
		t.Errorf("the wall clock reads %v, want %v each time", wall, want)
	}
	if want := kernel.Mono(50 * time.Second); c.Mono() != want || c.Boot() != want {
		t.Errorf("after a minute the clocks read %d and %d, want %d", c.Mono(), c.Boot(), want)
	}
	if answered != 10*ms {
		t.Errorf("a request took %v", answered)
	}
}

func TestDelaysAreUsedAsTheyAddUp(t *testing.T) {
	for _, test := range []struct {
		name string
		plan []*Placed
		want time.Duration
	}{
		{"two delays", []*Placed{at(0, &Delay{By: 50 * ms}), at(1, &Delay{By: 50 * ms})}, 100 * ms},
		{"two holds", []*Placed{at(1, &Hold{For: 5 * time.Second}), at(5, &Hold{For: 5 * time.Second})}, 9 * time.Second},
		{"a hold of what a delay has slowed", []*Placed{at(0, &Delay{By: 2 * time.Second, For: 1500 * ms}), at(3, &Hold{For: 5 * time.Second})}, 6995 * ms},
	} {
		f := newField(t, redis.NoPersistence)
		var took time.Duration
		set(f, time.Second, 0, "k", driver.OpAcquire, func(d time.Duration) { took = d - 10*ms })
		inject(t, f, test.plan...)
		if f.Used.Delay != test.want || took < test.want-10*ms {
			t.Errorf("%s: used %v, a request and its reply took %v longer", test.name, f.Used.Delay, took)
		}
	}
}

// The account says from when on the faults exceeded the budget: of what only the end of a fault shows, from its beginning.
func TestFromWhenTheBudgetIsExceeded(t *testing.T) {
	for _, test := range []struct {
		name   string
		budget Budget
		plan   []*Placed
		want   time.Duration // negative: never
	}{
		{"nothing", Budget{}, nil, -1},
		{"all of it", Budget{Pause: time.Second}, []*Placed{at(1, &Pause{Process: "c1", For: time.Second})}, -1},
		{"the second pause", Budget{Pause: time.Second}, []*Placed{at(1, &Pause{Process: "c1", For: time.Second}), at(5, &Pause{Process: "c1", For: 2 * time.Second})}, 5 * time.Second},
		{"the first of two", Budget{}, []*Placed{at(1, &ClockStep{Process: "c1", By: time.Second}), at(5, &ClockRate{Process: "A", Rate: PPM(1)})}, time.Second},
		{"holds that overlap", Budget{Delay: 5 * time.Second}, []*Placed{at(1, &Hold{For: 5 * time.Second}), at(5, &Hold{For: 5 * time.Second})}, 5 * time.Second},
		{"a node that was back early", Budget{RestartDelay: ptr(10 * time.Second)}, []*Placed{at(1, &Kill{Outage: Outage{Node: "A", RestartAfter: ptr(2 * time.Second)}})}, 3 * time.Second},
	} {
		f := newField(t, redis.NoPersistence)
		f.Budget = test.budget
		set(f, 500*ms, 0, "k", driver.OpAcquire, nil)
		set(f, 4500*ms, 1, "l", driver.OpAcquire, nil)
		inject(t, f, test.plan...)
		want := kernel.True(test.want)
		if test.want < 0 {
			want = kernel.Forever
		}
		if f.Exceeded != want || (f.Budget.Beyond(f.Used) != nil) != (test.want >= 0) {
			t.Errorf("%s: from %v, %v", test.name, f.Exceeded, f.Budget.Beyond(f.Used))
		}
	}
}

// A run in which no message went where and when faults were shows nothing. A fault of another kind has always happened.
func TestFaultsThatMeetNothing(t *testing.T) {
	toA, toB := Links{Clients: []string{"c1"}, Nodes: []string{"A"}}, Links{Nodes: []string{"B"}}
	for _, c := range []struct {
		name   string
		faults []*Placed
		want   []Fault
	}{
		{"none", nil, nil},
		{"a partition", []*Placed{at(0.9, &Partition{Links: toA, For: time.Second})}, nil},
		{"a partition that a message is under way to", []*Placed{at(1.003, &Partition{Links: toA, For: time.Second})}, nil},
		{"a hold", []*Placed{at(1.003, &Hold{Links: toA, For: time.Second})}, nil},
		{"a delay", []*Placed{at(0.9, &Delay{Links: toA, By: ms, For: time.Second})}, nil},
		{"a reset", []*Placed{at(1.003, &Reset{toA})}, nil},
		{"elsewhere", []*Placed{at(0.9, &Partition{Links: toB, For: time.Second})}, []Fault{&Partition{Links: toB, For: time.Second}}},
		{"too early", []*Placed{at(0.5, &Delay{Links: toA, By: ms, For: 100 * ms})}, []Fault{&Delay{Links: toA, By: ms, For: 100 * ms}}},
		{"too late", []*Placed{at(1.5, &Hold{Links: toA, For: time.Second})}, []Fault{&Hold{Links: toA, For: time.Second}}},
		{"nothing to reset", []*Placed{at(0.5, &Reset{toA})}, []Fault{&Reset{toA}}},
		{"no batch to split", []*Placed{at(0.9, &Split{Links: toA, Keep: 1, For: time.Second})}, []Fault{&Split{Links: toA, Keep: 1, For: time.Second}}},
		{"one of two meets something", []*Placed{at(0.9, &Partition{Links: toB, For: time.Second}), at(0.9, &Partition{Links: toA, For: time.Second})}, nil},
		{"at the storage", []*Placed{at(0.9, &Partition{Links: Links{Nodes: []string{storage.Name}}, For: time.Second})}, nil},
		{"beside one of another kind", []*Placed{at(0.9, &Partition{Links: toB, For: time.Second}), at(2, &Kill{Outage{Node: "B"}})}, nil},
	} {
		f := newField(t, redis.NoPersistence)
		set(f, time.Second, 0, "k", driver.OpAcquire, nil)
		inject(t, f, c.faults...)
		if got := f.Unmet(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestMemoryLossIsMoreThanTheNumberOfKeys(t *testing.T) {
	for _, second := range []string{"k", "other"} {
		f := newField(t, redis.EverySecond)
		set(f, 500*ms, 0, "k", driver.OpAcquire, nil)
		f.World.Kernel.After(1200*ms, func() {
			f.World.Nodes(f.World.Client("c1"))[0].Do([]*driver.Command{{Op: driver.OpRelease, Keys: []string{"k"}, Value: "v500ms", Deadline: time.Unix(1e6, 0), Done: func(*driver.Command, driver.Reply) {}}})
		})
		set(f, 1300*ms, 0, second, driver.OpAcquire, nil)
		inject(t, f, at(1.5, &PowerLoss{Outage: Outage{Node: "A", RestartAfter: ptr(time.Second)}}))
		if len(f.Used.Lost) != 1 {
			t.Errorf("%s was lost: %s", second, told(f))
		}
	}
}

func TestRestartBelongsToItsOutage(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	inject(t, f, at(1, &Kill{Outage: Outage{Node: "A", RestartAfter: ptr(10 * time.Second)}}), at(2, &Restart{Node: "A"}), at(5, &Kill{Outage: Outage{Node: "A"}}))
	if f.World.Server("A").Up() {
		t.Errorf("A is up:\n%s", told(f))
	}
}

// A pause at the moment at which the process goes on is in force for its own length, and one stretch with those before.
func TestPausesAtTheEndOfPauses(t *testing.T) {
	for _, test := range []struct {
		name       string
		plan       []*Placed
		want, used time.Duration // when it goes on, and for how long it was paused
	}{
		{"of a pause", []*Placed{at(1, &Pause{Process: "c1", For: 2 * time.Second})}, 6 * time.Second, 5 * time.Second},
		{"of a suspension", []*Placed{at(1, &Suspend{Client: "c1", For: 2 * time.Second})}, 6 * time.Second, 3 * time.Second},
		{"by hand", []*Placed{at(1, &Pause{Process: "c1", For: 10 * time.Second}), at(2, &Resume{Process: "c1"})}, 5 * time.Second, 10 * time.Second},
	} {
		f := newField(t, redis.NoPersistence)
		again := &Placed{When: Trigger{After: &Moment{Event: "resume", Client: "c1"}}, Fault: &Pause{Process: "c1", For: 3 * time.Second}}
		goesOn := time.Duration(0)
		for seconds := range 20 {
			f.World.Kernel.After(time.Duration(seconds)*time.Second+500*ms, func() {
				if f.World.Client("c1").Paused() {
					goesOn = time.Duration(seconds+1) * time.Second
				}
			})
		}
		inject(t, f, append(test.plan, again)...)
		if goesOn != test.want || f.Used.Pause < test.used {
			t.Errorf("at the end %s: it goes on at %v, want %v; %v used, want %v", test.name, goesOn, test.want, f.Used.Pause, test.used)
		}
	}
}

// The clock of a machine stands still while it is suspended, however long its client is paused, and a pause is as long as
// pauses last.
func TestSuspensionsAndPausesOverlap(t *testing.T) {
	const s = time.Second
	suspend := func(seconds float64, length time.Duration) *Placed {
		return at(seconds, &Suspend{Client: "c1", For: length})
	}
	pause := func(seconds float64, length time.Duration) *Placed {
		return at(seconds, &Pause{Process: "c1", For: length})
	}
	for _, test := range []struct {
		name                     string
		plan                     []*Placed
		suspended, paused, until time.Duration
	}{
		{"a suspension within a pause", []*Placed{pause(1, 20*s), suspend(2, s)}, s, 20 * s, 21 * s},
		{"two of them", []*Placed{pause(1, 20*s), suspend(2, 3*s), suspend(3, 4*s)}, 5 * s, 20 * s, 21 * s},
		{"a pause within a suspension", []*Placed{suspend(1, 20*s), pause(15, s), pause(17, s)}, 20 * s, 2 * s, 21 * s},
		{"a pause that outlasts a suspension", []*Placed{suspend(1, 10*s), pause(5, 10*s)}, 10 * s, 10 * s, 15 * s},
		{"resumed within both", []*Placed{suspend(1, 10*s), pause(2, 20*s), at(4, &Resume{Process: "c1"}), suspend(9, 4*s)}, 7 * s, 20 * s, 13 * s},
		{"a pause as it is resumed", []*Placed{suspend(1, 10*s), pause(2, 3*s), at(4, &Resume{Process: "c1"}),
			{When: Trigger{After: &Moment{Event: "resume"}}, Fault: &Pause{Process: "c1", For: 6 * s}}}, 3 * s, 8 * s, 10 * s},
		{"the next pause", []*Placed{pause(1, 10*s), at(2, &Resume{Process: "c1"}), pause(5, 10*s)}, 0, 10 * s, 15 * s},
		{"after its server was killed", []*Placed{at(1, &Pause{Process: "A", For: 10 * s}),
			at(2, &Kill{Outage: Outage{Node: "A", RestartAfter: ptr(0)}}), at(5, &Pause{Process: "A", For: 3 * s})}, 0, 10 * s, 8 * s},
		{"the longer pause", []*Placed{pause(1, 5*s), pause(2, 10*s)}, 0, 11 * s, 12 * s},
	} {
		f := newField(t, redis.NoPersistence)
		inject(t, f, test.plan...)
		until := time.Duration(0)
		for _, e := range f.World.History() {
			if e.Name == "resume" {
				until = time.Duration(e.Time)
			}
		}
		suspended := time.Minute - time.Duration(f.World.Client("c1").Clock().Mono())
		if suspended != test.suspended || f.Used.Pause != test.paused || until != test.until {
			t.Errorf("%s: suspended for %v, paused for %v used, until %v; want %v, %v, %v", test.name, suspended, f.Used.Pause, until, test.suspended, test.paused, test.until)
		}
	}
}

func TestTheDeadAreNotPaused(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	pause := at(3, &Pause{Process: "c2", For: time.Second})
	inject(t, f, at(1, &Pause{Process: "c1", For: 5 * time.Second}), at(2, &Crash{Client: "c1"}), at(2, &Crash{Client: "c2"}), pause)
	for _, e := range f.World.History() {
		if e.Name == "resume" || e.Name == "pause" && e.Process == "c2" {
			t.Errorf("%v: %s", time.Duration(e.Time), e.Detail)
		}
	}
	if pause.Injected {
		t.Error("the pause of a dead process counts as a fault that was injected")
	}
}

// A node that is down is not paused, and the one that is started later runs.
func TestNodesThatAreDownAreNotPaused(t *testing.T) {
	for _, node := range []string{"A", "B"} {
		f := newField(t, redis.NoPersistence)
		pause := at(2, &Pause{Process: node, For: time.Hour})
		inject(t, f, at(1, &Kill{Outage: Outage{Node: node, RestartAfter: ptr(5 * time.Second)}}), pause)
		if pause.Injected || pause.Err == nil || pause.Err.Error() != "faults: pause: "+node+" is down" || f.Used.Pause != 0 {
			t.Errorf("injected %v, %v, %v used", pause.Injected, pause.Err, f.Used.Pause)
		}
		if s := f.World.Server(node); !s.Up() || s.Paused() {
			t.Errorf("%s is up %v, paused %v", node, s.Up(), s.Paused())
		}
	}
}

func TestWhatIsACutOff(t *testing.T) {
	for want, all := range map[string][]Links{
		CutOff: {links("c1", "", network.Both), links("c1", "", network.Requests), links("c1", "C A B", network.Both)},
		// It can release where replies are lost, or where a node hears of it.
		"partition": {links("c1", "", network.Replies), links("c1", "A B", network.Both)},
	} {
		for _, l := range all {
			f := newField(t, redis.NoPersistence)
			inject(t, f, at(1, &Partition{Links: l}))
			if name := f.World.History()[0].Name; name != want {
				t.Errorf("%v: %s, want %s", &l, name, want)
			}
		}
	}
}

// A fencing counter is lost when it is gone or smaller than it was, however long the node stayed away; a lock's key is none.
func TestCountersAreLost(t *testing.T) {
	for _, test := range []struct {
		name        string
		persistence redis.Persistence
		token       int64
		want        bool
	}{
		{"all memory", redis.NoPersistence, 7, true},
		{"the latest of it", redis.EverySecond, 7, true},
		{"nothing", redis.Always, 7, false},
		{"a lock without a counter", redis.NoPersistence, 0, false},
	} {
		f := newField(t, test.persistence)
		vote := func(at time.Duration, token int64) {
			c := &driver.Command{Op: driver.OpAcquire, Keys: []string{"k"}, Value: at.String(), TTL: ms, Deadline: time.Unix(1e6, 0), Done: func(*driver.Command, driver.Reply) {}}
			if token > 0 {
				c.Conditions = &driver.Conditions{Token: token, CounterTTL: time.Hour}
			}
			f.World.Kernel.After(at, func() { f.World.Nodes(f.World.Client("c1"))[0].Do([]*driver.Command{c}) })
		}
		vote(100*ms, test.token)
		vote(1300*ms, 2*test.token)
		if test.token == 0 {
			set(f, 1400*ms, 0, "other", driver.OpAcquire, nil)
		}
		inject(t, f, at(1.5, &PowerLoss{Outage: Outage{Node: "A", RestartAfter: ptr(40 * time.Second)}}))
		got := false
		for _, r := range f.Used.Lost {
			got = got || r.Counters
		}
		if got != test.want {
			t.Errorf("%s: counters are lost: %v, want %v: %s", test.name, got, test.want, told(f))
		}
	}
}

// A promoted replica that was not told of a token has lost a counter.
func TestPromotionLosesCounters(t *testing.T) {
	for i := range 4 {
		lag, up := i%2 > 0, i/2 > 0
		f := newField(t, redis.Always)
		f.Fenced = true
		if lag {
			at(0.1, &Partition{Links: Links{Nodes: []string{"A"}, Peers: []string{"A2"}}}).Arm(f.Field)
		}
		f.World.Kernel.After(500*ms, func() {
			f.World.Nodes(f.World.Client("c1"))[0].Do([]*driver.Command{{Op: driver.OpAcquire, Keys: []string{"k"}, Value: "v", TTL: time.Hour,
				Deadline: time.Unix(1e6, 0), Conditions: &driver.Conditions{Token: 7, CounterTTL: time.Hour}, Done: func(*driver.Command, driver.Reply) {}}})
		})
		if !up { // one that is up goes on counting for itself
			at(0.9, &Kill{Outage{Node: "A"}}).Arm(f.Field)
		}
		inject(t, f, at(1, &Promote{Node: "A", Replica: "A2"}))
		if got := len(f.Used.Lost) == 1 && f.Used.Lost[0].Counters; got != (lag || up) {
			t.Errorf("cut off %v, up %v: %+v", lag, up, f.Used.Lost)
		}
	}
}

// Of a replica that goes on beside its node each lacks counters of the other sooner or later, though there are none yet.
func TestNodesThatGoOnApartLoseCounters(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		for _, clients := range [][]string{nil, {"c1"}} { // A is up, or is asked by others when it comes back
			f := newField(t, redis.Always)
			f.Fenced = fenced
			if clients != nil {
				at(0.9, &Kill{Outage{Node: "A"}}).Arm(f.Field)
			}
			inject(t, f, at(1, &Promote{Node: "A", Replica: "A2", Clients: clients}))
			if got := f.Used.Lost; len(got) != 1 || got[0].Counters != fenced {
				t.Errorf("fenced %v, clients %v: %+v", fenced, clients, got)
			}
		}
	}
	f := newField(t, redis.Always)
	f.Fenced = true
	at(0.9, &Kill{Outage{Node: "A"}}).Arm(f.Field)
	inject(t, f, at(1, &Promote{Node: "A", Replica: "A2"}))
	if len(f.Used.Lost) != 0 {
		t.Errorf("a replica that knows all its node did, and that all clients talk to: %+v", f.Used.Lost)
	}
}

// What votes have raised a counter to stays where it is set lower by hand, and a number set by hand is no vote.
func TestCountersSetByHand(t *testing.T) {
	for _, test := range []struct {
		to   []int64
		want string
	}{
		{[]int64{9}, "9"},
		{[]int64{9, 7}, "7"},
		{[]int64{9, 4}, "5"},
		{[]int64{4, 9, 0}, "5"},
	} {
		f := newField(t, redis.NoPersistence)
		key := driver.TokenKey("k")
		f.World.Kernel.After(0, func() {
			f.World.Server("A").Put(redis.Record{Key: key, Value: "5", ExpiresAt: 1e15})
			f.World.Server("A").Put(redis.Record{Key: "k", Value: "5"})
		})
		for i, to := range test.to {
			(at(float64(i+1), &SetCounters{Node: "A", To: to})).Arm(f.Field)
		}
		inject(t, f)
		if r, _, _ := f.World.Server("A").Memory().Peek(key); r.Value != test.want || r.ExpiresAt != 1e15 {
			t.Errorf("%v: %+v", test.to, r)
		}
		if r, _, _ := f.World.Server("A").Memory().Peek("k"); r.Value != "5" {
			t.Errorf("%v: another key is %+v", test.to, r)
		}
	}
}

// The largest TTL in the guard's record is set, and nothing else in it. What cannot be read stays so, and no node gets a
// record.
func TestTheGuardsRecordSetByHand(t *testing.T) {
	for _, test := range []struct {
		was  string
		to   []time.Duration
		want string
	}{
		{"ab 17 10000", []time.Duration{20 * time.Second}, "ab 17 20000"},
		{"ab 0 10000", []time.Duration{time.Millisecond, 10 * time.Second}, "ab 0 10000"},
		{"ab 0 10000", []time.Duration{0, 10 * time.Second}, "overwritten"},
		{"", []time.Duration{10 * time.Second}, ""},
	} {
		f := newField(t, redis.NoPersistence)
		f.World.Kernel.After(0, func() {
			if test.was != "" {
				f.World.Server("A").Put(redis.Record{Key: driver.GuardKey, Value: test.was})
			}
			f.World.Server("A").Put(redis.Record{Key: "k", Value: "1 2 3"})
		})
		for i, to := range test.to {
			(at(float64(i+1), &SetGuard{Node: "A", MaxTTL: to})).Arm(f.Field)
		}
		inject(t, f)
		record, _, there := f.World.Server("A").Memory().Peek(driver.GuardKey)
		other, _, _ := f.World.Server("A").Memory().Peek("k")
		if record.Value != test.want || there != (test.want != "") || other.Value != "1 2 3" {
			t.Errorf("%q, set to %v: %+v, %+v", test.was, test.to, record, other)
		}
	}
}

// Overwrite leaves what is no lock's as it is, and a node without a lock's key alone.
func TestOverwrite(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	list, far := redis.ListValue([]string{"overwritten"}), int64(1)<<42
	f.World.Kernel.After(0, func() {
		for key, value := range map[string]string{"k": "v", driver.GuardKey: "ab 0 10000", driver.TokenKey("k"): "7"} {
			f.World.Server("A").Put(redis.Record{Key: key, Value: value, ExpiresAt: far})
		}
		f.World.Server("B").Put(redis.Record{Key: driver.GuardKey, Value: "ab 0 10000"})
	})
	onA, onB := at(1, &Overwrite{Node: "A"}), at(2, &Overwrite{Node: "B"})
	inject(t, f, onA, onB)
	if !onA.Injected || onB.Injected || onB.Err == nil {
		t.Errorf("on A: %v; on B: %v, %v", onA.Injected, onB.Injected, onB.Err)
	}
	for key, want := range map[string]redis.Record{"k": {Value: list}, driver.GuardKey: {Value: "ab 0 10000", ExpiresAt: far}, driver.TokenKey("k"): {Value: "7", ExpiresAt: far}} {
		got, _, _ := f.World.Server("A").Memory().Peek(key)
		if got.Value != want.Value || got.ExpiresAt != want.ExpiresAt {
			t.Errorf("%s: %+v, want %+v", key, got, want)
		}
	}
}
