package faults

import (
	"slices"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// An eviction takes the keys that it names and leaves the others; one that finds none did not take place.
func TestEvict(t *testing.T) {
	f := newField(t, redis.Always)
	for _, key := range []string{"k", driver.TokenKey("k"), driver.GuardKey} {
		set(f, 500*ms, 0, key, driver.OpAcquire, nil)
	}
	a := f.World.Servers[0]
	steps := []struct {
		keys Evicted
		left int
		err  bool
	}{{Counters, 2, false}, {Counters, 2, true}, {GuardRecord, 1, false}, {AllKeys, 0, false}, {Locks, 0, true}}
	f.World.Kernel.After(time.Second, func() {
		for _, s := range steps {
			if err := (&Evict{Node: "A", Keys: s.keys}).Inject(f.Field); (err != nil) != s.err || len(a.Dump()) != s.left {
				t.Errorf("%v: %v, and %d keys are left, want %d", s.keys, err, len(a.Dump()), s.left)
			}
		}
		if err := (&Evict{Node: "B"}).Inject(f.Field); err == nil {
			t.Error("a node without keys loses some")
		}
	})
	f.World.Kernel.Run(2 * 1e9)
	if want := []Loss{{"A", EvictedFrom, 0, true, true}, {"A", EvictedFrom, 0, false, true}, {"A", EvictedFrom, 0, false, false}}; !slices.Equal(f.Used.Lost, want) {
		t.Errorf("used %v, want %v", f.Used.Lost, want)
	}
	if err := Check(&Evict{Node: "A"}, Names{Nodes: []string{"A"}, Service: "consensus service"}); err == nil {
		t.Error("a service in the place of Redis evicts keys")
	}
}

// An eviction of one resource's keys leaves those of the others.
func TestEvictOneResource(t *testing.T) {
	f := newField(t, redis.Always)
	f.World.LockOf = func(key string) (string, bool) { return key, driver.IsLockKey(key) }
	for _, key := range []string{"a", "b", driver.TokenKey("a"), driver.TokenKey("b"), driver.GuardKey} {
		set(f, 500*ms, 0, key, driver.OpAcquire, nil)
	}
	f.World.Kernel.After(time.Second, func() {
		for i, keys := range []Evicted{Locks, Counters, AllKeys} {
			if err := (&Evict{Node: "A", Keys: keys, Resource: "b"}).Inject(f.Field); (err != nil) != (i == 2) {
				t.Errorf("%v: %v", keys, err)
			}
		}
		if left := f.World.Servers[0].Dump(); len(left) != 3 || slices.ContainsFunc(left, func(r redis.Record) bool {
			return r.Key != "a" && r.Key != driver.TokenKey("a") && r.Key != driver.GuardKey
		}) {
			t.Errorf("left: %v", left)
		}
		if err := (&Overwrite{Node: "A", Resource: "b"}).Inject(f.Field); err == nil {
			t.Error("a lock that is gone is overwritten")
		}
	})
	f.World.Kernel.Run(2 * 1e9)
	names := Names{Nodes: []string{"A"}, Resources: []string{"a", "b"}}
	for _, wrong := range []Fault{&Evict{Node: "A", Resource: "c"}, &Evict{Node: "A", Keys: GuardRecord, Resource: "a"}, &Overwrite{Node: "A", Resource: "c"}} {
		if Check(wrong, names) == nil {
			t.Errorf("%v is accepted", wrong)
		}
	}
}

// Only steps that have a lock expire at another time count, and all of a clock's together.
func TestStepsCount(t *testing.T) {
	f := newField(t, redis.Always)
	set(f, 500*ms, 1, "k", driver.OpAcquire, nil)
	inject(t, f, at(0.1, &ClockStep{Process: "B", By: time.Hour}), at(1, &ClockStep{Process: "C", By: time.Hour}),
		at(1, &ClockStep{Process: "B", By: time.Second}), at(2, &ClockStep{Process: "B", By: -3 * time.Second}), at(3, &ClockStep{Process: "B", By: 4 * time.Second}))
	if f.Used.ClockStep != 4*time.Second {
		t.Errorf("used %v", f.Used.ClockStep)
	}
}

// The deadlines of keys that a node sends to its replicas later are of its clock.
func TestStepsOfReplicatedNodesCount(t *testing.T) {
	f := newField(t, redis.Always)
	inject(t, f, at(0.1, &ClockStep{Process: "A", By: time.Hour}))
	if f.Used.ClockStep != time.Hour {
		t.Errorf("used %v", f.Used.ClockStep)
	}
}
