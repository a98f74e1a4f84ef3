package rules

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock"
	"redlocksim/redlock/driver"
	"redlocksim/redlock/observe"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/history"
	"redlocksim/sim/redis"
	"redlocksim/sim/trace"
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
		{"back", func(a *actor) { a.asks("A", "SET", counter, "8"); a.asks("AB", "SET", counter, "7") }, "c1 changes the fencing counter of A from 8 to 7"},
		{"too far", func(a *actor) {
			a.asks("AB", "SET", counter, "7")
			a.counts("BC", 9007199254740990)
			a.asks("A", "SET", counter, "9007199254740991")
			a.asks("A", "SET", counter, "9007199254740992")
		}, "c1 sets the fencing counter of A to 9007199254740992"},
		{"deleted", func(a *actor) { a.asks("AB", "SET", counter, "7"); a.asks("B", "DEL", counter) }, "c1 changes the fencing counter of B from 7 to none"},
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

// counts sets the fencing counters of nodes by hand.
func (a *actor) counts(nodes string, to int64) {
	for _, name := range strings.Split(nodes, "") {
		a.Server(name).Put(redis.Record{Key: driver.TokenKey("r"), Value: strconv.FormatInt(to, 10)})
	}
	trace.Tell(a.Events, &history.Event{Kind: history.Fault, Name: "set-counters"})
}

// thirdAfter has three attempts begin, and then a vote for a token.
func thirdAfter(token int64) func(*actor) {
	return func(a *actor) {
		for range 3 {
			for _, tell := range a.steps.of(observe.AttemptStarted) {
				tell("c1", &observe.Event{Step: observe.AttemptStarted, Resource: "r"})
			}
		}
		a.asks("A", "SET", driver.TokenKey("r"), strconv.FormatInt(token, 10))
		a.sleeps(10 * time.Millisecond)
	}
}

// A token is as far ahead of the counters as enough nodes bear out, or have borne out.
func TestCountersAreBorneOut(t *testing.T) {
	const far, wrong = 1 << 32, "A gives c1 the token "
	for _, c := range []struct {
		name  string
		does  func(*actor)
		token int64
		want  string
	}{
		{"the first", nil, 1, ""},
		{"by no more than a node can have missed", nil, far + 1, ""},
		{"by more", nil, far + 2, wrong + "4294967298, which the counters of only 0 of the 2 nodes that it takes bear out"},
		{"one node does", func(a *actor) { a.counts("B", far) }, far + 2, wrong + "4294967298, which the counters of only 1 of the 2"},
		{"two do", func(a *actor) { a.counts("BC", far) }, far + 2, ""},
		{"two did", func(a *actor) { a.counts("BC", far); a.counts("BC", 0) }, far + 2, ""},
		{"the third after one that they did, proposed in three attempts", thirdAfter(far + 1), far + 4, ""},
		{"the fourth after it", thirdAfter(far + 1), far + 5, wrong + "4294967301, which the counters of only 1 of the 2"},
		{"itself is one of them", func(a *actor) { a.counts("AC", far) }, far + 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(s *protocols.RedlockSettings) { s.Fencing = true }).only(watchCounters)
			r.goes("c1", 0, func(a *actor) {
				if c.does != nil {
					c.does(a)
				}
				a.asks("A", "SET", driver.TokenKey("r"), strconv.FormatInt(c.token, 10))
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}

// A client that knows a token of a resource need not be told of it by the nodes.
func TestKnownTokensAreProposed(t *testing.T) {
	step := func(s observe.Step, value, resource string, token int64) observe.Event {
		return observe.Event{Step: s, Op: driver.OpAcquire, Resource: resource, Value: value, Token: token}
	}
	first := []observe.Event{step(observe.AttemptStarted, "v", "r", 0), step(observe.Granted, "v", "r", 5), step(observe.AttemptStarted, "w", "r", 0)}
	for _, c := range []struct {
		name   string
		events []observe.Event
		does   func(*actor)
		want   string
	}{
		{"of others", []observe.Event{step(observe.TokenRaised, "w", "r", 7)}, nil, ""},
		{"of its own", []observe.Event{step(observe.TokenRaised, "w", "r", 6)}, nil, "c1 must raise the token that it proposes to 6, although it knew the token 5"},
		{"that it was told of", []observe.Event{step(observe.TokenRaised, "w", "r", 9), step(observe.AttemptStarted, "x", "r", 0), step(observe.TokenRaised, "x", "r", 10)},
			nil, "c1 must raise the token that it proposes to 10, although it knew the token 9"},
		{"of another resource", []observe.Event{step(observe.AttemptStarted, "x", "s", 0), step(observe.TokenRaised, "x", "s", 2)}, nil, ""},
		{"of one of two resources", []observe.Event{step(observe.AttemptStarted, "x", "r, s", 0), step(observe.TokenRaised, "x", "r, s", 6)}, nil,
			"c1 must raise the token that it proposes to 6, although it knew the token 5"},
		{"the largest, which is not remembered", []observe.Event{step(observe.Granted, "w", "r", 1<<53-1), step(observe.AttemptStarted, "x", "r", 0),
			step(observe.TokenRaised, "x", "r", 18)}, nil, ""},
		{"that came meanwhile", []observe.Event{step(observe.AttemptStarted, "x", "r", 0), step(observe.Granted, "w", "r", 8), step(observe.TokenRaised, "x", "r", 9)}, nil, ""},
		{"of the client before", []observe.Event{step(observe.TokenRaised, "w", "r", 6)}, func(a *actor) {
			a.Called(&protocols.Call{Func: protocols.NewClientCall, Client: "c1"})
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, func(s *protocols.RedlockSettings) { s.Fencing = true }).only(watchCounters)
			r.goes("c1", 0, func(a *actor) {
				for _, e := range first {
					a.Observed("c1", e)
				}
				if c.does != nil {
					c.does(a)
				}
				for _, e := range c.events {
					a.Observed("c1", e)
				}
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
