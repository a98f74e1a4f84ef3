package rules

import (
	"testing"
	"time"

	"redlocksim/sim/kernel"
)

// Nothing is wrong with a client from its restart on, and something is while it has crashed.
func TestCalmAfterARestart(t *testing.T) {
	r := newRig(t)
	c := watchCalm(r.Run, false, func() {}, func() {})
	since := func() kernel.True { return c.of("c1").since }
	r.Kernel.After(time.Second, func() {
		if err := r.Crash(r.Client("c1")); err != nil {
			t.Error(err)
		}
		if since() != kernel.Forever {
			t.Errorf("calm since %v, and it has crashed", since())
		}
	})
	r.Kernel.After(2*time.Second, func() {
		if err := r.RestartClient("c1"); err != nil {
			t.Error(err)
		}
	})
	r.Kernel.Run(kernel.True(3 * time.Second))
	if since() != kernel.True(2*time.Second) {
		t.Errorf("calm since %v, want since the restart", since())
	}
}
