package rules

import (
	"testing"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
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
