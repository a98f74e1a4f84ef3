package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

// A library listens for releases while a call waits for the lock, and no longer.
func TestListensWhileACallWaits(t *testing.T) {
	for _, c := range []struct {
		name   string
		stops  int  // on how many of the three nodes it does, when the call returns
		second bool // another call waits all the time
		want   string
	}{
		{"no longer", 3, false, ""},
		{"on one node, longer", 2, false, `c1 listens for releases of "r" on 1 nodes, and no call of it waits for that`},
		{"for another call", 0, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(own *protocols.RedlockSettings) { own.WakeUp = 10 * time.Millisecond })
			r.goes("c1", 0, func(a *actor) {
				call := func() *protocols.Call {
					return &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl, Waits: true}
				}
				first, second := call(), call()
				a.Called(first)
				if c.second {
					a.Called(second)
				}
				var stops []func()
				for _, n := range a.Nodes(a.client) {
					stops = append(stops, n.(driver.Listener).Listen(driver.WakeChannel("r"), func() {}))
				}
				for _, stop := range stops[:c.stops] {
					stop()
					stop() // which does no more
				}
				a.Returned(first, redlock.ErrClosed)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
