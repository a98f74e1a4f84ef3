package faults

import (
	"errors"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// TestHeal: what is in force is undone at the healing, and only then if it had no end; what is over, under way by itself or
// beyond repair is left alone.
func TestHeal(t *testing.T) {
	for name, test := range map[string]struct {
		persistence redis.Persistence
		plan        []*Placed
		want        string
	}{
		"links": {redis.NoPersistence, []*Placed{at(1, &Partition{Links: links("c1", "", network.Both)}), at(2, &Delay{Links: links("c2", "A", network.Both), By: ms}),
			at(3, &Hold{Links: links("c2", "B", network.Requests), For: 20 * time.Second}), at(4, &Partition{Links: links("c2", "C", network.Both), For: time.Second})},
			"1s cut-off c1 0s: messages c1 ↔ every node are lost\n2s delay c2 1ms: messages c2 ↔ A take 1ms longer\n3s hold c2 20s: messages c2 → B are held back for 20s\n" +
				"4s partition c2 1s: messages c2 ↔ C are lost\n5s partition-heals c2 0s: messages c2 ↔ C get through again\n" +
				"10s heal 0s: all faults are healed\n10s partition-heals c1 0s: messages c1 ↔ every node get through again\n" +
				"10s delay-ends c2 0s: messages c2 ↔ A are as fast as before\n10s hold-ends c2 0s: messages c2 → B that were held back arrive"},
		"processes": {redis.NoPersistence, []*Placed{at(1, &Pause{Process: "c1"}), at(2, &Pause{Process: "A", For: 20 * time.Second}), at(3, &Suspend{Client: "c2", For: time.Hour}),
			at(4, &Suspend{Client: "c2", For: time.Hour}), at(5, &Pause{Process: "B"}), at(6, &Resume{Process: "B"})},
			"1s pause c1 0s: c1 is paused\n2s pause A 20s: A is paused for 20s\n3s suspend c2 1h0m0s: the machine of c2 is suspended for 1h0m0s\n4s suspend c2 1h0m0s: the machine of c2 is suspended for 1h0m0s\n" +
				"5s pause B 0s: B is paused\n6s resume B 0s: B goes on\n10s heal 0s: all faults are healed\n10s resume c1 0s: c1 goes on\n10s resume A 0s: A goes on\n10s resume c2 0s: c2 goes on"},
		"clocks": {redis.NoPersistence, []*Placed{at(1, &ClockRate{Process: "A", Rate: PPM(1000)}), at(2, &ClockStep{Process: "A", By: time.Second})},
			"1s clock-rate A 0s: the clocks of A run 0.1% fast\n2s clock-step A 1s: the wall clock of A jumps forward by 1s\n10s heal 0s: all faults are healed\n10s clock-rate-ends A 0s: the clocks of A run as before"},
		"nodes that forget": {redis.NoPersistence, []*Placed{at(1, &Kill{Outage: Outage{Node: "A"}})},
			"1s kill A 0s: A is killed\n10s heal 0s: all faults are healed\n10s restart A 9s: A restarts with an empty memory, 9s after it stopped"},
		"nodes that do not": {redis.Always, []*Placed{at(1, &PowerLoss{Outage: Outage{Node: "A"}})},
			"1s power-loss A 0s: A loses power\n10s heal 0s: all faults are healed\n10s restart A 9s: A restarts with all it knew, 9s after it stopped"},
		"a restart on its way": {redis.Always, []*Placed{at(1, &Kill{Outage: Outage{Node: "A", RestartAfter: ptr(15 * time.Second)}})},
			"1s kill A 15s: A is killed\n10s heal 0s: all faults are healed\n16s restart A 15s: A restarts with all it knew, 15s after it stopped"},
		"a place that is taken": {redis.Always, []*Placed{at(1, &Kill{Outage: Outage{Node: "A"}}), at(2, &Promote{Node: "A", Replica: "A2"})},
			"1s kill A 0s: A is killed\n2s promote A2 0s: A2, the replica of A, is promoted with all that A knew; all clients talk to it now\n10s heal 0s: all faults are healed"},
		"beyond repair": {redis.Always, []*Placed{at(1, &Crash{Client: "c1"}), at(2, &Stuck{Client: "c2"})},
			"1s crash c1 0s:\n2s stuck c2 0s: c2 hangs in its work\n10s heal 0s: all faults are healed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newField(t, test.persistence)
			set(f, 500*ms, 0, "k", driver.OpAcquire, nil)
			f.World.Kernel.After(10*time.Second, f.Heal)
			inject(t, f, test.plan...)
			if got := told(f); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// After the healing messages pass at their own pace, and clocks run right.
func TestHealingActs(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	took := map[time.Duration]time.Duration{}
	for _, when := range []time.Duration{5 * time.Second, 20 * time.Second} {
		for node := range 3 {
			set(f, when+time.Duration(node), node, "k"+when.String(), driver.OpAcquire, func(d time.Duration) { took[when+time.Duration(node)] = d })
		}
	}
	f.World.Kernel.After(10*time.Second, f.Heal)
	inject(t, f, at(1, &Partition{Links: links("c1", "A", network.Both)}), at(1, &Delay{Links: links("c1", "B", network.Both), By: ms}),
		at(1, &Hold{Links: links("c1", "C", network.Requests), For: time.Hour}), at(0, &ClockRate{Process: "A", Rate: PPM(100_000)}))
	for when, want := range map[time.Duration]time.Duration{5*time.Second + 1: 12 * ms, 5*time.Second + 2: 5*time.Second + 5*ms - 2,
		20 * time.Second: 10 * ms, 20*time.Second + 1: 10 * ms, 20*time.Second + 2: 10 * ms} {
		if took[when] != want {
			t.Errorf("what was sent at %v took %v, want %v", when, took[when], want)
		}
	}
	if _, ok := took[5*time.Second]; ok {
		t.Error("a message that was lost arrived after the healing")
	}
	if got, want := f.World.Server("A").Clock().Mono(), kernel.Mono(61*time.Second); got != want {
		t.Errorf("A reads %d, want %d", got, want)
	}
}

// Nothing is injected after healing, whatever it waits for.
func TestNothingIsInjectedAfterHealing(t *testing.T) {
	f := newField(t, redis.NoPersistence)
	f.World.Kernel.After(10*time.Second, f.Heal)
	after := func(m Moment, plus time.Duration, every bool) *Placed {
		return &Placed{When: Trigger{After: &m, Plus: plus, Every: every}, Fault: &Partition{Links: links("c2", "A", network.Both), For: ms}}
	}
	first := &Placed{When: Trigger{At: time.Second}, Fault: &Partition{Links: links("c1", "A", network.Both)}}
	onHealing, late, every := after(Moment{Event: "partition-heals", Client: "c1"}, 0, false), after(Moment{Event: "partition", Client: "c1"}, 20*time.Second, false), after(Moment{Event: "partition", Client: "c1"}, 0, true)
	inject(t, f, first, onHealing, late, every)
	for name, p := range map[string]*Placed{"at the healing": onHealing, "long after its event": late} {
		if p.Injected || !errors.Is(p.Err, errHealed) {
			t.Errorf("%s: injected %v, %v", name, p.Injected, p.Err)
		}
	}
	if !every.Injected || every.Err != nil {
		t.Errorf("before the healing: injected %v, %v", every.Injected, every.Err)
	}
}
