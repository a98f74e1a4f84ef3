package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

func TestDelaysOfOthers(t *testing.T) {
	const ms = time.Millisecond
	started := observe.AttemptStarted.String()
	for _, c := range []struct {
		name           string
		after          []time.Duration // between two attempts
		first          int             // the number of the first
		kind           checker.Kind
		want           string
		backoff, limit bool
	}{
		{name: "in time", after: []time.Duration{50 * ms, 50 * ms}, first: 1, kind: checker.Conduct},
		{name: "early", after: []time.Duration{40 * ms}, first: 1, kind: checker.Conduct, want: "c1 makes attempt 2 40ms after the one before, and is to wait for 50ms at least"},
		{name: "a delay that should have grown", after: []time.Duration{50 * ms, 60 * ms}, first: 1, kind: checker.Conduct, backoff: true,
			want: "c1 makes attempt 3 60ms after the one before, and is to wait for 100ms at least"},
		{name: "a delay that has grown to its most", after: []time.Duration{50 * ms, 100 * ms, 150 * ms}, first: 1, kind: checker.Conduct, backoff: true},
		{name: "too many", after: []time.Duration{50 * ms, 50 * ms}, first: 1, kind: checker.Conduct, limit: true, want: "c1 makes attempt 3, and may make 2"},
		{name: "a wrong number", first: 2, kind: checker.Contract, want: "c1 reports attempt 2, and it is its attempt 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := otherRig(t, func(own *protocols.RetrySettings) {
				if c.backoff {
					if err := own.Backoff.UnmarshalScalar("100%"); err != nil {
						t.Fatal(err)
					}
				}
				if c.limit {
					own.Attempts = 2
				}
			}, watchDelays)
			r.goes("c1", 0, func(a *actor) {
				a.tells(started, "", "", c.first)
				for i, d := range c.after {
					a.sleeps(d)
					a.tells(started, "", "", c.first+i+1)
				}
			})
			r.finds(t, c.kind, c.want)
		})
	}
}
