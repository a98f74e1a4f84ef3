package protocols

import (
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/redlock"
)

// What is as the library documents its default is left to the library, and everything else is set.
func TestDefaultsAreTheLibrarys(t *testing.T) {
	if n := len(Default().Options()); n != 0 {
		t.Errorf("the defaults set %d options", n)
	}
	if d := Default().NodeTimeout; d != redlock.DefaultNodeTimeout || documented.nodeTimeout != d {
		t.Errorf("the node timeout is %v by default, documented is %v", d, documented.nodeTimeout)
	}
	for name, change := range map[string]func(*Settings){
		"drift factor":   func(s *Settings) { Change(s, func(own *DriftSettings) { own.Drift.Factor = faults.PPM(20_000) }) },
		"drift constant": func(s *Settings) { Change(s, func(own *DriftSettings) { own.Drift.Constant++ }) },
		"node timeout":   func(s *Settings) { s.NodeTimeout++ },
		"retry delay":    func(s *Settings) { Change(s, func(own *DelaySettings) { own.RetryDelay.Max += time.Second }) },
	} {
		s := Default()
		if change(&s); len(s.Options()) != 1 {
			t.Errorf("with another %s %d options are set, want 1", name, len(s.Options()))
		}
	}
}
