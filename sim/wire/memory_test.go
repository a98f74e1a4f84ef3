package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/kernel"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// alone is a world of one node and one client, without delays, and with the node's memory at hand.
type alone struct {
	redis.Tier
	*sim.World
	memory redis.Memory
	round  int
}

func newAlone(backend redis.Tier, p redis.Persistence) *alone {
	a := &alone{Tier: backend}
	a.World = sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Persistence: p}, a)
	return a
}

func (a *alone) Memory(s *redis.Server) redis.Memory {
	a.memory = a.Tier.Memory(s)
	return a.memory
}

func (a *alone) Close() error { return nil } // of the backend, which the World calls; see close

func (a *alone) close() {
	if err := errors.Join(a.World.Close(), a.Tier.Close()); err != nil {
		panic(err)
	}
}

// do gives what the node answers to a command.
func (a *alone) do(op driver.Op, value string, ttl time.Duration, keys ...string) driver.Outcome {
	c := driver.Command{Op: op, Keys: keys, Value: value, TTL: ttl}
	if op == driver.OpRelease {
		c.TTL = 0
	}
	return a.ask(c).Outcome
}

// ask gives what the node answers to a command.
func (a *alone) ask(c driver.Command) (reply driver.Reply) {
	p := a.Clients[0]
	a.round++
	c.Round, c.Deadline = a.round, p.ProgramClock().Now().Add(time.Second)
	c.Done = func(_ *driver.Command, r driver.Reply) { reply = r }
	a.World.Nodes(p)[0].Do([]*driver.Command{&c})
	a.advance(0)
	return reply
}

// record is the restart guard's.
func (a *alone) record() string {
	for _, r := range a.Servers[0].Dump() {
		if r.Key == driver.GuardKey {
			return r.Value
		}
	}
	return ""
}

func (a *alone) advance(d time.Duration) { a.Kernel.Run(a.Kernel.Now().Add(d)) }

// TestManyKeys: the Lua states are large enough for scripts over many keys.
func TestManyKeys(t *testing.T) {
	a := newAlone(wire.New(), redis.NoPersistence)
	defer a.close()
	var keys []string
	for i := range 500 {
		keys = append(keys, fmt.Sprint("k", i))
	}
	for _, op := range []driver.Op{driver.OpAcquire, driver.OpExtend, driver.OpRelease} {
		if got := a.do(op, "v", time.Second, keys...); got != driver.Accepted {
			t.Errorf("%v was %v", op, got)
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
		for name, backend := range map[string]redis.Tier{"model": model.New(), "wire": wire.New()} {
			t.Run(fmt.Sprintf("%s/%v", name, test.step), func(t *testing.T) {
				w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c", LockClock: kernel.WallClock}},
					Latency: network.Constant(10 * time.Millisecond)}, backend)
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
		on(t, redis.NoPersistence, func(t *testing.T, a *alone) {
			var replies []driver.Outcome
			c := driver.Command{Op: driver.OpAcquire, Keys: []string{"k"}, Value: "v", TTL: time.Minute, Deadline: a.Clients[0].ProgramClock().Now().Add(left),
				Done: func(_ *driver.Command, r driver.Reply) { replies = append(replies, r.Outcome) }}
			a.World.Nodes(a.Clients[0])[0].Do([]*driver.Command{&c})
			a.advance(2 * time.Second)
			if kept := a.memory.Dump(); len(replies) != 1 || replies[0] != want || (len(kept) == 1) != (want == driver.Accepted) {
				t.Errorf("%v before the deadline: %v, want %v; the node has %v", left, replies, want, kept)
			}
		})
	}
}

// An acquire looks at its keys up to the first that is taken. Those after it that have expired are not removed, and are there
// again when the clock is stepped back.
func TestAnAcquireLooksUpToTheFirstTakenKey(t *testing.T) {
	for name, backend := range map[string]func() redis.Tier{"model": model.New, "wire": wire.New} {
		a := newAlone(backend(), redis.NoPersistence)
		now := a.Servers[0].Clock().Wall().Milliseconds()
		a.memory.Load([]redis.Record{{Key: "a", Value: "w", ExpiresAt: now - 1}, {Key: "b", Value: "w"}, {Key: "c", Value: "w", ExpiresAt: now - 1}})
		a.do(driver.OpAcquire, "v", time.Second, "a", "b", "c")
		a.Servers[0].Clock().Step(-2 * time.Millisecond)
		var keys []string
		for _, r := range a.Servers[0].Dump() {
			keys = append(keys, r.Key)
		}
		if want := []string{"b", "c"}; !slices.Equal(keys, want) {
			t.Errorf("%s: %v are there, want %v", name, keys, want)
		}
		a.close()
	}
}
