package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios/protocols"
)

func TestDelaysOfOthersAreDrawn(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name    string
		after   []time.Duration // between two commands of a call
		backoff bool
		waits   bool
		want    string
	}{
		{name: "drawn", after: []time.Duration{50 * ms, 150 * ms, 50 * ms}, waits: true},
		{name: "two that are the same", after: []time.Duration{70 * ms, 70 * ms, 71 * ms}, waits: true},
		{name: "all the same", after: []time.Duration{70 * ms, 70 * ms, 70 * ms}, waits: true, want: "the first 3 delays are all 70ms, and are to be drawn from 50ms to 150ms"},
		{name: "one attempt of several commands", after: []time.Duration{0, 0, 0, 0}, waits: true},
		{name: "long", after: []time.Duration{151 * ms}, waits: true, want: "c1 waits for 151ms before it asks again, and is to wait for 150ms at most"},
		{name: "a call that makes one attempt", after: []time.Duration{151 * ms}},
		{name: "a first delay that has grown", after: []time.Duration{101 * ms}, backoff: true, waits: true, want: "c1 waits for 101ms before it asks again, and is to wait for 100ms at most"},
		{name: "delays that have grown to their most", after: []time.Duration{60 * ms, 150 * ms, 150 * ms, 150 * ms}, backoff: true, waits: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := otherRig(t, func(own *protocols.RetrySettings) {
				if c.backoff {
					if err := own.Backoff.UnmarshalScalar("100%"); err != nil {
						t.Fatal(err)
					}
				}
			}, watchDrawn)
			r.goes("c1", 0, func(a *actor) {
				call := &protocols.Call{Client: "c1", Resources: []string{"r"}, Grants: []int{1}, TTL: ttl, Waits: c.waits}
				a.Called(call)
				a.sets("A", "v")
				for _, d := range c.after {
					a.sleeps(d)
					a.sets("A", "v")
				}
				a.Returned(call, nil)
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
