//go:build linux

package live

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"redlocksim/faults"
	"redlocksim/internal/stall/retry"
	"redlocksim/live/internal/livetest"
	"redlocksim/sim/network"
)

// What a master has not told its replicas when it stops is lost, although the links would have carried it by and by. A
// replica is a master when it is promoted, the others follow it, and so does the master of before when it comes back.
func TestPromote(t *testing.T) {
	t.Parallel()
	for _, stop := range []faults.Fault{&faults.Kill{Outage: faults.Outage{Node: "M"}}, &faults.PowerLoss{Outage: faults.Outage{Node: "M"}}, &faults.Shutdown{Outage: faults.Outage{Node: "M"}}} {
		t.Run(fmt.Sprintf("%T", stop), func(t *testing.T) {
			t.Parallel()
			retry.Test(t, livetest.Disturbing, func(t *retry.T) {
				r := replicated(t)
				r.mustAsk(t, "M", "SET", "a", "1")
				for _, name := range []string{"M2", "M3", "M4"} {
					r.soon(t, name, "a", "1")
				}
				mustInject(t, r, &faults.Delay{Links: amongPeers("M", "M2 M3", network.Both), By: 200 * time.Millisecond * t.Slower})
				mustInject(t, r, &faults.Partition{Links: amongPeers("M2", "M4", network.Both)})
				r.mustAsk(t, "M", "SET", "a", "2")
				r.mustAsk(t, "M", "SET", "b", "2")
				r.soon(t, "M4", "b", "2")
				mustInject(t, r, stop)
				r.staysWithout(t, "M2", "b")
				mustInject(t, r, &faults.Promote{Node: "M", Replica: "M2"})
				if got := r.mustAsk(t, "M2", "GET", "a"); got != "1" {
					t.Errorf("M2 has %q as a, which it was never told", got)
				}
				if lost := r.field.Used.Lost; len(lost) != 1 || lost[0].Node != "M" {
					t.Errorf("memory is lost: %v", lost)
				}
				r.mustAsk(t, "M2", "SET", "c", "3")
				r.soon(t, "M3", "c", "3")
				r.field.Heal()
				time.Sleep(time.Second)      // after which one that follows tries again
				r.staysWithout(t, "M4", "c") // which a partition kept from following it
				if r.serverNamed("M").IsUp() {
					t.Error("M, in whose place M2 is, comes back when the faults are healed")
				}
				mustInject(t, r, &faults.Restart{Node: "M"})
				r.soon(t, "M", "c", "3")
				if err := (&faults.Promote{Node: "M", Replica: "M2"}).Inject(r.field); err == nil {
					t.Error("it is promoted twice")
				}
				// What a replica was brought up to date with is no persistence.
				at := time.Duration(0)
				mustInject(t, r, &faults.Kill{Outage: faults.Outage{Node: "M2", RestartAfter: &at}})
				r.soon(t, "M", "first", "")
			})
		})
	}
}

// A master that stands still when a replica is promoted goes on, and a replica that does follows who was promoted. What a
// master knows that stands still is what it knew.
func TestBothSidesServe(t *testing.T) {
	t.Parallel()
	retry.Test(t, livetest.Disturbing, func(t *retry.T) {
		r := replicated(t)
		r.mustAsk(t, "M", "SET", "a", "1")
		r.soon(t, "M2", "a", "1")
		r.soon(t, "M3", "a", "1")
		mustInject(t, r, &faults.Delay{Links: amongPeers("M", "M2", network.Both), By: time.Second * t.Slower})
		r.mustAsk(t, "M", "SET", "b", "1")
		mustInject(t, r, &faults.Pause{Process: "M"})
		mustInject(t, r, &faults.Pause{Process: "M3"})
		mustInject(t, r, &faults.Promote{Node: "M", Replica: "M2"})
		if lost := r.field.Used.Lost; !slices.Equal(lost, []faults.Loss{{Node: "M", By: faults.Replaced}}) {
			t.Errorf("memory is lost: %v", lost)
		}
		if err := (&faults.Promote{Node: "M", Replica: "M3"}).Inject(r.field); err == nil {
			t.Error("a server that stands still is promoted")
		}
		mustInject(t, r, &faults.Resume{Process: "M"})
		mustInject(t, r, &faults.Resume{Process: "M3"})
		r.mustAsk(t, "M", "SET", "a", "M")
		r.mustAsk(t, "M2", "SET", "a", "M2")
		r.soon(t, "M3", "a", "M2")
		if got := r.mustAsk(t, "M", "GET", "a"); got != "M" {
			t.Errorf("M has %q", got)
		}
	})
}
