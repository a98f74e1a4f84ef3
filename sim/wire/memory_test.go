package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// newAlone is a world of one node and one client, without delays.
func newAlone(backend redis.Tier) *sim.World {
	return sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}}, backend)
}

// TestManyKeys: the Lua states are large enough for scripts over many keys.
func TestManyKeys(t *testing.T) {
	w := newAlone(wire.New())
	defer w.Close()
	p := w.Clients[0]
	var keys []string
	for i := range 500 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	for i, c := range []driver.Command{{Op: driver.OpAcquire, TTL: time.Second}, {Op: driver.OpExtend, TTL: time.Second}, {Op: driver.OpRelease}} {
		var got driver.Reply
		c.Keys, c.Value, c.Round, c.Deadline = keys, "v", i, p.ProgramClock().Now().Add(time.Second)
		c.Done = func(_ *driver.Command, r driver.Reply) { got = r }
		w.Nodes(p)[0].Do([]*driver.Command{&c})
		w.Kernel.Run(kernel.True(i))
		if got.Outcome != driver.Accepted {
			t.Errorf("%v was %v", c.Op, got.Outcome)
		}
	}
}

// TestDeadlineOfTheSecondRequest: what is left of a command's time is read from the lock clock again before its script
// is sent in full. A wall clock that steps forward makes that less than the library itself waits.
func TestDeadlineOfTheSecondRequest(t *testing.T) {
	for _, test := range []struct {
		step, answered time.Duration
		want           driver.Outcome
	}{{0, 40 * time.Millisecond, driver.Declined}, {20 * time.Millisecond, 30 * time.Millisecond, driver.TimedOut},
		{40 * time.Millisecond, 20 * time.Millisecond, driver.TimedOut}} {
		for name, backend := range backends {
			t.Run(fmt.Sprintf("%s/%v", name, test.step), func(t *testing.T) {
				w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c", LockClock: kernel.WallClock}},
					Latency: network.Constant(10 * time.Millisecond)}, backend())
				defer w.Close()
				p, s := w.Clients[0], w.Servers[0]
				known := driver.Command{Op: driver.OpRelease, Keys: []string{"k"}, Value: "u", Deadline: p.ProgramClock().Now().Add(time.Second),
					Done: func(*driver.Command, driver.Reply) {}}
				w.Nodes(p)[0].Do([]*driver.Command{&known})
				w.Kernel.Run(kernel.True(time.Second))
				if err := s.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := s.Restart(); err != nil { // the script is forgotten
					t.Fatal(err)
				}
				start := w.Kernel.Now()
				replies := 0
				w.Nodes(p)[0].Do([]*driver.Command{{Op: driver.OpRelease, Keys: []string{"k"}, Value: "v",
					Deadline: p.ProgramClock().Now().Add(50 * time.Millisecond), Done: func(_ *driver.Command, r driver.Reply) {
						replies++
						if r.Outcome != test.want || w.Kernel.Now().Sub(start) != test.answered {
							t.Errorf("%v after %v, want %v after %v", r.Outcome, w.Kernel.Now().Sub(start), test.want, test.answered)
						}
					}}})
				w.Kernel.After(15*time.Millisecond, func() { p.Clock().Step(test.step) })
				w.Kernel.Run(kernel.True(2 * time.Second))
				if replies != 1 {
					t.Errorf("%d replies", replies)
				}
			})
		}
	}
}

// TestNothingIsSentAfterItsDeadline: a socket takes nothing whose deadline has passed, or is this moment.
func TestNothingIsSentAfterItsDeadline(t *testing.T) {
	for left, want := range map[time.Duration]driver.Outcome{-time.Second: driver.TimedOut, 0: driver.TimedOut, time.Second: driver.Accepted} {
		for name, backend := range backends {
			w := newAlone(backend())
			var replies []driver.Outcome
			c := driver.Command{Op: driver.OpAcquire, Keys: []string{"k"}, Value: "v", TTL: time.Minute, Deadline: w.Clients[0].ProgramClock().Now().Add(left),
				Done: func(_ *driver.Command, r driver.Reply) { replies = append(replies, r.Outcome) }}
			w.Nodes(w.Clients[0])[0].Do([]*driver.Command{&c})
			w.Kernel.Run(kernel.True(2 * time.Second))
			if kept := w.Servers[0].Dump(); len(replies) != 1 || replies[0] != want || (len(kept) == 1) != (want == driver.Accepted) {
				t.Errorf("%s, %v before the deadline: %v, want %v; the node has %v", name, left, replies, want, kept)
			}
			w.Close()
		}
	}
}

// An acquire looks at its keys up to the first that is taken. Those after it that have expired are not removed, and are there
// again when the clock is stepped back. Random sequences hardly meet this.
func TestAnAcquireLooksUpToTheFirstTakenKey(t *testing.T) {
	for name, backend := range backends {
		w := newAlone(backend())
		s, p := w.Servers[0], w.Clients[0]
		now := s.Clock().Wall().Milliseconds()
		s.Memory().Load([]redis.Record{{Key: "a", Value: "w", ExpiresAt: now - 1}, {Key: "b", Value: "w"}, {Key: "c", Value: "w", ExpiresAt: now - 1}})
		w.Nodes(p)[0].Do([]*driver.Command{{Op: driver.OpAcquire, Keys: []string{"a", "b", "c"}, Value: "v", TTL: time.Second,
			Deadline: p.ProgramClock().Now().Add(time.Second), Done: func(*driver.Command, driver.Reply) {}}})
		w.Kernel.Run(0)
		s.Clock().Step(-2 * time.Millisecond)
		var keys []string
		for _, r := range s.Dump() {
			keys = append(keys, r.Key)
		}
		if want := []string{"b", "c"}; !slices.Equal(keys, want) {
			t.Errorf("%s: %v are there, want %v", name, keys, want)
		}
		w.Close()
	}
}

// Each of the library's scripts costs a round trip more where the node has forgotten it.
func TestEveryScriptIsSentAgain(t *testing.T) {
	for name, backend := range backends {
		t.Run(name, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Constant(time.Millisecond)}, backend())
			defer w.Close()
			p := w.Clients[0]
			var took []string
			commands := []driver.Command{
				{Op: driver.OpAcquire, Keys: []string{"a", "b"}, TTL: time.Second},
				{Op: driver.OpAcquire, Keys: []string{"c"}, TTL: time.Second, Conditions: &driver.Conditions{Token: 1, CounterTTL: time.Hour}},
				{Op: driver.OpAcquire, Keys: []string{"d", "e"}, TTL: time.Second, Conditions: &driver.Conditions{MaxTTL: time.Hour}},
				{Op: driver.OpPrepare, Keys: []string{driver.GuardKey}, Conditions: &driver.Conditions{MaxTTL: time.Hour}},
				{Op: driver.OpExtend, Keys: []string{"a"}, TTL: time.Second},
				{Op: driver.OpRelease, Keys: []string{"a"}},
				{Op: driver.OpAcquire, Keys: []string{"f"}, TTL: time.Second},
			}
			for i, c := range append(commands, commands...) {
				if i == len(commands) {
					if err := w.Servers[0].Kill(); err != nil {
						t.Fatal(err)
					}
					if err := w.Servers[0].Restart(); err != nil {
						t.Fatal(err)
					}
				}
				start := w.Kernel.Now()
				c.Value, c.Round, c.Deadline = "v", i, p.ProgramClock().Now().Add(time.Second)
				c.Done = func(*driver.Command, driver.Reply) { took = append(took, w.Kernel.Now().Sub(start).String()) }
				w.Nodes(p)[0].Do([]*driver.Command{&c})
				w.Kernel.Run(start.Add(100 * time.Millisecond))
			}
			if got, want := strings.Join(took, " "), "2ms 2ms 2ms 2ms 2ms 2ms 2ms 4ms 4ms 2ms 4ms 4ms 4ms 2ms"; got != want {
				t.Errorf("took %s, want %s", got, want)
			}
		})
	}
}
