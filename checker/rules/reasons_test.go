package rules

import (
	"context"
	"errors"
	"testing"

	"redlocksim/checker"
	"redlocksim/internal/rediscmd"
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
		{"taken, and free", "", acquire, redlock.ErrTaken, asks("ABC"), `c1's acquire ends with "held by another", and no node had a key`},
		{"no quorum", "A", acquire, redlock.ErrNoQuorum, asks("ABC"), ""},
		{"no quorum, and free", "", acquire, redlock.ErrNoQuorum, asks("ABC"), `c1's acquire ends with "no quorum of nodes", and no node had a key`},
		{"too late", "", acquire, redlock.ErrTooLate, func(a *actor) { a.sleeps(ttl) }, ""},
		{"too late, and early", "", acquire, redlock.ErrTooLate, asks("ABC"), `c1's acquire ends with "quorum came too late, no validity left", and it has taken 6ms`},
		{"lost", "A", extend, redlock.ErrLost, nothing, ""},
		{"lost, and there", "AB", extend, redlock.ErrLost, nothing, `c1's extend ends with "lease lost", and as many nodes still have it as it takes`},
		{"lost, and over", "AB", extend, redlock.ErrLost, func(a *actor) { a.sleeps(ttl) }, ""},
		{"a release of what is lost", "A", release, redlock.ErrLost, func(a *actor) { a.asks("AB", "DEL", "r") }, ""},
		{"a release that says lost", "AB", release, redlock.ErrLost, func(a *actor) { a.asks("AB", "DEL", "r") }, `c1's release ends with "lease lost", and the lock was taken off for it`},
		{"a release that says taken", "A", release, redlock.ErrTaken, nothing, `c1's release ends with "held by another", and callers take that for a refused acquire`},
		{"a release", "AB", release, nil, func(a *actor) { a.asks("AB", "DEL", "r") }, ""},
		{"a release of one node's", "C", release, nil, func(a *actor) { a.asks("ABC", "DEL", "r") }, ""},
		{"a release of nothing", "", release, nil, func(a *actor) { a.asks("ABC", "DEL", "r") }, "c1's release succeeds, and no node had it any more"},
		{"an extend without a quorum", "AB", extend, redlock.ErrNoQuorum, nothing, `c1's extend ends with "no quorum of nodes", and all nodes that it asked have answered`},
		{"no answer", "AB", extend, rediscmd.ErrTimeout, nothing, `c1's extend ends with "no reply before the deadline", and all of its messages were answered`},
		{"reset", "AB", extend, rediscmd.ErrReset, nothing, `c1's extend ends with "read tcp: read: connection reset by peer", and no connection broke`},
		{"an extend of a quorum", "ABC", extend, nil, func(a *actor) { a.asks("AB", "SET", "r", "v", "PX", "10000") }, ""},
		{"an extend of too few", "ABC", extend, nil, func(a *actor) { a.asks("A", "SET", "r", "v", "PX", "10000") }, "c1's extend succeeds, and only 1 of the 2 nodes that it takes have set its time anew"},
		{"an extend of another's", "C", extend, nil, func(a *actor) { a.asks("AB", "SET", "r", "w", "PX", "10000") }, "c1's extend succeeds, and only 0 of the 2 nodes"},
		{"cancelled", "AB", extend, context.Canceled, nothing, ""}, // the test's calls have no context
		{"a server's error", "AB", extend, rediscmd.ServerError("ERR"), nothing, ""},
		{"an error without a reason", "AB", extend, errors.New("x"), nothing, `c1's extend ends with "x", and that is none of the errors that say why`},
		{"one without random bytes", "", acquire, errors.New("x"), func(a *actor) { a.client.Starve()() }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rigOf(t, "redlock-plain", watchReasons)
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
