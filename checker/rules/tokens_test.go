package rules

import (
	"context"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
)

func TestFencingCountersRise(t *testing.T) {
	counter := driver.TokenKey("r")
	for _, c := range []struct {
		name string
		does func(*actor)
		want string
	}{
		{"a quorum", func(a *actor) { a.asks("AB", "SET", counter, "7") }, ""},
		{"one node", func(a *actor) { a.asks("A", "SET", counter, "7") }, "c1 is granted the lock with the token 7, which only 1 of the 2 nodes"},
		{"another token", func(a *actor) { a.asks("A", "SET", counter, "7"); a.asks("B", "SET", counter, "8") }, "c1 is granted the lock with the token 7, which only 1"},
		{"back", func(a *actor) { a.asks("A", "SET", counter, "8"); a.asks("AB", "SET", counter, "7") }, "c1 changes the fencing counter of A from \"8\" to \"7\""},
		{"too far", func(a *actor) {
			a.asks("AB", "SET", counter, "7")
			a.asks("A", "SET", counter, "9007199254740991")
			a.asks("A", "SET", counter, "9007199254740992")
		}, "c1 sets the fencing counter of A to 9007199254740992"},
		{"deleted", func(a *actor) { a.asks("AB", "SET", counter, "7"); a.asks("B", "DEL", counter) }, "c1 changes the fencing counter of B from \"7\" to \"\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(s *protocols.RedlockSettings) { s.Fencing = true })
			r.goes("c1", 0, func(a *actor) {
				a.sets("AB", "v")
				c.does(a)
				l := a.lease("v", a.reads().Add(ttl/2))
				l.token = 7
				a.call(protocols.AcquireCall, l, nil, nil)
				l.ends(a, redlock.ErrLost)
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

func TestAGrantHasAToken(t *testing.T) {
	const granted = "acquire; SET r v PX 10000 on AB; granted v"
	for isFenced, want := range map[bool]string{false: "", true: "c1 is granted the lock without a fencing token"} {
		r := newRig(t, func(s *protocols.RedlockSettings) { s.Fencing = isFenced }).only("tokens")
		r.does("c1", granted)
		r.finds(t, checker.Contract, want)
	}
}

// The token of a sequence is one that it gave once a quorum had voted for the attempt, and not for one before.
func TestTokenOfASequenceIsDrawnOnceAQuorumHasVoted(t *testing.T) {
	for name, c := range map[string]struct {
		draws func(draw, vote func() int64) (token int64)
		want  string
	}{
		"after": {func(draw, vote func() int64) int64 { vote(); return draw() }, ""},
		"before": {func(draw, vote func() int64) int64 { token := draw(); vote(); return token },
			"c1 is granted the lock with the token 1, which the sequence had given before a quorum voted for it"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.Lock = protocols.Settings{TTL: ttl, NodeTimeout: 50 * time.Millisecond}.With("one-redis")
			protocols.Change(&r.Lock, func(s *protocols.OneRedisSettings) { s.Sequence = true })
			r = r.only("tokens")
			r.goes("c1", 0, func(a *actor) {
				step := func(s observe.Step, token int64) {
					a.Observed("c1", observe.Event{Step: s, Op: driver.OpAcquire, Resource: "r", Value: "v", Token: token})
				}
				draw := func() int64 {
					token, err := a.World.Storage.Draw(context.Background(), a.client, a.Kernel.Draw("token"))
					if err != nil {
						t.Error(err)
					}
					return token
				}
				step(observe.Granted, c.draws(draw, func() int64 { step(observe.QuorumReached, 0); return 0 }))
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
