//go:build linux

package speed

import (
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Where nothing fails, an answer that a busy machine holds up is waited for; where something does, the node timeout is part of
// what happens.
func TestNodeTimeoutWhereNothingFails(t *testing.T) {
	s := scenarios.Default()
	s.Lock.NodeTimeout, s.Lock.TTL = 50*time.Millisecond, 30*time.Second
	if got := Scenario(&s, 5).Lock.NodeTimeout; got != time.Second {
		t.Errorf("nothing fails: %v", got)
	}
	s.Lock.TTL = 2 * time.Second
	if got := Scenario(&s, 5).Lock.NodeTimeout; got != 100*time.Millisecond {
		t.Errorf("nothing fails, with a short TTL: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Partition{}}}
	if got := Scenario(&s, 5).Lock.NodeTimeout; got != 50*time.Millisecond {
		t.Errorf("with a fault: %v", got)
	}
}

// Redis' own milliseconds take no part in the speed; an allowance beyond them does.
func TestAllowanceAtSpeed(t *testing.T) {
	for _, test := range []struct{ given, want time.Duration }{
		{0, 0}, {time.Millisecond, time.Millisecond}, {2 * time.Millisecond, 2 * time.Millisecond}, {8 * time.Millisecond, 2 * time.Millisecond}, {time.Second, 200 * time.Millisecond},
	} {
		s := scenarios.Default()
		protocols.Change(&s.Lock, func(own *protocols.DriftSettings) { own.Drift.Constant = test.given })
		if got := protocols.Of[protocols.DriftSettings](Scenario(&s, 5).Lock).Drift.Constant; got != test.want {
			t.Errorf("%v: %v, want %v", test.given, got, test.want)
		}
	}
}

// A replica that is slow is as slow as its scenario says, and so is the run.
func TestSlowReplicasAreNotHurried(t *testing.T) {
	speeds := map[string]int{"51-implementations/node-redlock": 1, "06-failover-to-a-replica": 1, "07-failover-with-wait/both-sides-serve": Default, "08-redlock-over-replicated-nodes": 1}
	for _, s := range scenarios.Catalogue() {
		if want, ok := speeds[s.Name]; ok && Of(s) != want {
			t.Errorf("%s is run at the speed %d, want %d", s.Name, Of(s), want)
		}
	}
}

func TestDisturbing(t *testing.T) {
	s := scenarios.Default()
	s.Lock.NodeTimeout = 50 * time.Millisecond
	if got, want := Disturbing(&s, 5), 25*time.Millisecond; got != want {
		t.Errorf("without faults: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Partition{For: 60 * time.Millisecond}}, {Fault: &faults.Delay{By: time.Second}}}
	if got, want := Disturbing(&s, 1), 10*time.Millisecond; got != want {
		t.Errorf("with a partition that lasts for 10 ms more than the node timeout: %v", got)
	}
	s.Lock.NodeTimeout, s.Timeline = 15*time.Minute, nil
	if got, want := Disturbing(&s, 5), 25*time.Millisecond; got != want {
		t.Errorf("with clients that wait for ever: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Delay{By: 50 * time.Millisecond}}}
	if got, want := Disturbing(&s, 5), 10*time.Millisecond; got != want {
		t.Errorf("with messages that are later by 50 ms: %v", got)
	}
	s.Timeline = []scenarios.Item{{Fault: &faults.Delay{By: 10 * time.Millisecond}}}
	if got, want := Disturbing(&s, 5), stall.Resolution; got != want {
		t.Errorf("with messages that are later by less than can be told: %v", got)
	}
}
