package rules

import (
	"context"
	"testing"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/scenarios/protocols"
)

func TestErrorsOfOthersAreTrue(t *testing.T) {
	acquire, extend, release := protocols.AcquireCall, protocols.ExtendCall, protocols.ReleaseCall
	asks := func(nodes string) func(*actor) { return func(a *actor) { a.sets(nodes, "other") } }
	nothing := func(*actor) {}
	for _, c := range []struct {
		name string
		held string // nodes with the lease's key; two of three are a quorum
		call protocols.CallFunc
		err  error
		does func(*actor)
		want string
	}{
		{"taken", "ABC", acquire, redlock.ErrTaken, asks("ABC"), ""},
		{"lost", "A", extend, redlock.ErrLost, nothing, ""},
		{"lost, and there", "AB", extend, redlock.ErrLost, nothing, `c1's extend ends with "lease lost", and as many nodes still have it as it takes`},
		{"lost, and over", "AB", extend, redlock.ErrLost, func(a *actor) { a.sleeps(ttl) }, ""},
		{"a release of what is lost", "A", release, redlock.ErrLost, func(a *actor) { a.asks("AB", "DEL", "r") }, ""},
		{"a release that says lost", "AB", release, redlock.ErrLost, func(a *actor) { a.asks("AB", "DEL", "r") }, `c1's release ends with "lease lost", and the lock was taken off for it`},
		{"a release that says taken", "A", release, redlock.ErrTaken, nothing, `c1's release ends with "held by another", and callers take that for a refused acquire`},
		{"a release", "AB", release, nil, func(a *actor) { a.asks("AB", "DEL", "r") }, ""},
		{"a release of one node's", "C", release, nil, func(a *actor) { a.asks("ABC", "DEL", "r") }, ""},
		{"a release of nothing", "", release, nil, func(a *actor) { a.asks("ABC", "DEL", "r") }, "c1's release succeeds, and no node had it any more"},
		{"an extend of a quorum", "ABC", extend, nil, func(a *actor) { a.asks("AB", "SET", "r", "v", "PX", "10000") }, ""},
		{"an extend of too few", "ABC", extend, nil, func(a *actor) { a.asks("A", "SET", "r", "v", "PX", "10000") }, "c1's extend succeeds, and only 1 of the 2 nodes that it takes have set its time anew"},
		{"an extend of another's", "C", extend, nil, func(a *actor) { a.asks("AB", "SET", "r", "w", "PX", "10000") }, "c1's extend succeeds, and only 0 of the 2 nodes"},
		{"cancelled", "AB", extend, context.Canceled, nothing, ""}, // the test's calls have no context
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rigOf(t, "redlock-plain", "other-calls")
			r.goes("c1", 0, func(a *actor) {
				l := a.acquires(c.held, "v")
				if c.call == acquire {
					l = nil
				}
				a.call(c.call, l, c.err, func() { c.does(a) })
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
