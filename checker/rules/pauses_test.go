package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
)

func TestBusyWaits(t *testing.T) {
	const ms, many = time.Millisecond, "c1 has sent 101 requests to A without a pause of 1ms, while it waits for the lock"
	type client struct {
		requests  int
		pause     time.Duration
		tries     bool   // only once
		meanwhile bool   // another call of the client is under way
		nodes     string // A if empty
	}
	for _, c := range []struct {
		name string
		client
		down, foreign, library bool
		want                   string
	}{
		{name: "at once", client: client{requests: 101}, want: many},
		{name: "after too little", client: client{requests: 101, pause: ms - 1}, want: many},
		{name: "not for long", client: client{requests: 100}},
		{name: "pauses", client: client{requests: 300, pause: ms}},
		{name: "several nodes", client: client{requests: 60, nodes: "AB"}},
		{name: "several nodes, one after the other", client: client{requests: 101, nodes: "ABC"}, want: many},
		{name: "a call that does not wait", client: client{requests: 200, tries: true}},
		{name: "beside another call", client: client{requests: 200, meanwhile: true}},
		{name: "a node that refuses connections", client: client{requests: 200}, down: true},
		{name: "a program at a node that refuses connections", client: client{requests: 101}, down: true, foreign: true, want: many},
		{name: "the library, which goes by its settings", client: client{requests: 200}, library: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			if !c.library {
				r.Lock = r.Lock.With("redlock-plain")
			}
			r = r.only("pauses", func(r *Run) { r.Foreign = c.foreign })
			if c.down {
				if err := r.Servers[0].Kill(); err != nil {
					t.Fatal(err)
				}
			}
			r.goes("c1", 0, func(a *actor) {
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl, Waits: !c.tries}
				a.Called(call)
				if c.meanwhile {
					a.Called(&protocols.Call{Func: protocols.ReleaseCall, Client: "c1", Resources: []string{"s"}, Grants: []int{2}})
				}
				nodes := c.nodes
				if nodes == "" {
					nodes = "A"
				}
				for range c.requests {
					a.sleeps(c.pause)
					a.sets(nodes, "v")
				}
				a.Returned(call, nil)
			})
			r.finds(t, checker.BusyWait, c.want)
			if looked := r.Watched["pauses"] > 0; looked != (!c.tries && !c.meanwhile && !c.library) {
				t.Errorf("looked at %d requests", r.Watched["pauses"])
			}
		})
	}
}

// A client that asks whenever it is told of a release has waited for that, however often others release the lock.
func TestWhoIsToldDoesNotBusyWait(t *testing.T) {
	r := rigOf(t, "redlock-plain", "pauses")
	r.goes("c1", 0, func(a *actor) {
		call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl, Waits: true}
		a.Called(call)
		a.Nodes(a.client)[0].(driver.Listener).Listen(driver.WakeChannel("r"), func(string) { a.client.Go(func() { a.sets("A", "v") }) })
		a.sleeps(time.Second)
		a.Returned(call, nil)
	})
	for i := range 150 {
		r.Kernel.After(time.Duration(i)*5*time.Millisecond, func() { r.Server("A").Publish(driver.WakeChannel("r"), "") })
	}
	r.finds(t, checker.BusyWait, "")
	if r.Watched["pauses"] < 140 {
		t.Errorf("looked at %d requests", r.Watched["pauses"])
	}
}
