//go:build linux

package speed

import (
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall"
	"redlocksim/scenarios"
)

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
