//go:build linux

package testbed

import (
	"strings"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/redisproc"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
)

// Replicas have what their master has, unless a fault of the links between them keeps it from them.
func TestReplicas(t *testing.T) {
	t.Parallel()
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		r := replicated(t, redis.NoPersistence)
		r.mustAsk(t, "M", "SET", "a", "1")
		for _, name := range []string{"M2", "M3", "M4"} {
			r.soon(t, name, "a", "1")
			r.soon(t, name, "first", "1")
			if _, err := redisproc.Ask(r.ServerNamed(name).Addr, "SET", "b", "1"); err == nil || !strings.Contains(err.Error(), "READONLY") {
				t.Errorf("%s takes a write: %v", name, err)
			}
		}
		cut := &faults.Partition{Links: amongPeers("M", "M3", network.Requests)}
		mustInject(t, r, cut)
		mustInject(t, r, &faults.Delay{Links: amongPeers("M4", "M", network.Replies), By: 200 * time.Millisecond})
		begun := time.Now()
		r.mustAsk(t, "M", "SET", "a", "2")
		r.soon(t, "M2", "a", "2")
		r.soon(t, "M4", "a", "2")
		if took := time.Since(begun); took < 200*time.Millisecond {
			t.Errorf("M4 has it after %v", took)
		}
		if got := r.mustAsk(t, "M3", "GET", "a"); got != "1" {
			t.Errorf("M3 has %q behind a partition", got)
		}
		r.field.Heal()
		r.soon(t, "M3", "a", "2")
		// What a replica was brought up to date with is no persistence.
		at := time.Duration(0)
		mustInject(t, r, &faults.Kill{Outage: faults.Outage{Node: "M2", RestartAfter: &at}})
		r.soon(t, "M2", "a", "2")
		mustInject(t, r, &faults.Kill{Outage: faults.Outage{Node: "M", RestartAfter: &at}})
		for _, name := range []string{"M", "M2", "M3", "M4"} {
			r.soon(t, name, "a", "")
			r.soon(t, name, "first", "")
		}
	})
}
