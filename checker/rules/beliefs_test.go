package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
)

func TestABeliefRunsOutWithItsLease(t *testing.T) {
	expires := func(a *actor, l *lease, after time.Duration, why string) {
		a.sleeps(l.until.Add(after).Sub(a.reads()))
		a.Record(history.Event{Kind: history.Expire, Process: "c1", Resource: "r", Grant: 1, Detail: why})
	}
	for _, c := range []struct {
		name string
		does func(*actor, *lease)
		want string
	}{
		{"in time", func(a *actor, l *lease) { expires(a, l, 0, "") }, ""},
		{"early", func(a *actor, l *lease) { expires(a, l, -time.Second, "") }, "c1's belief in its lease runs out 1s before the lease does"},
		{"late", func(a *actor, l *lease) { expires(a, l, time.Second, "") }, "c1 believes in its lease for 1s after it has run out"},
		{"early, and it is told why", func(a *actor, l *lease) { expires(a, l, -time.Second, "it is told that its session is gone") }, ""},
		{"an extend that is not told of", func(a *actor, l *lease) {
			was := *l
			a.call(protocols.ExtendCall, l, nil, func() { l.until = l.until.Add(time.Second) })
			expires(a, &was, 0, "")
		}, "c1's belief in its lease runs out 1s before the lease does"},
		{"released", func(a *actor, l *lease) {
			a.call(protocols.ReleaseCall, l, redlock.ErrNoQuorum, nil)
			expires(a, l, -time.Second, "")
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("beliefs")
			r.goes("c1", 0, func(a *actor) { c.does(a, a.acquires("ABC", "v")) })
			r.finds(t, checker.Contract, c.want)
		})
	}
}
