package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"
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

// TestExpiryIsExact: a key is there while the node's clock reads its deadline, and gone one millisecond later, also
// when the clock reads in between.
func TestExpiryIsExact(t *testing.T) {
	for _, extended := range []bool{false, true} {
		for _, at := range []struct {
			after time.Duration
			want  driver.Outcome // of an acquire by another
		}{{0, driver.Declined}, {9 * time.Millisecond, driver.Declined}, {10 * time.Millisecond, driver.Declined},
			{11*time.Millisecond - 1, driver.Declined}, {11 * time.Millisecond, driver.Accepted}} {
			for name, backend := range map[string]redis.Tier{"model": model.New(), "wire": wire.New()} {
				t.Run(fmt.Sprintf("%s/%v/extended=%v", name, at.after, extended), func(t *testing.T) {
					a := newAlone(backend, redis.NoPersistence)
					defer a.close()
					ttl := 10 * time.Millisecond
					if extended {
						a.do(driver.OpAcquire, "v", 3*time.Millisecond, "k")
						if got := a.do(driver.OpExtend, "v", ttl, "k"); got != driver.Accepted {
							t.Fatalf("extend was %v", got)
						}
					} else {
						a.do(driver.OpAcquire, "v", ttl, "k")
					}
					a.advance(at.after)
					held := at.want == driver.Declined
					if n := len(a.Servers[0].Dump()); (n == 1) != held {
						t.Errorf("the node has %d keys", n)
					}
					if got := a.do(driver.OpExtend, "v", time.Millisecond, "k"); (got == driver.Accepted) != held {
						t.Errorf("extend was %v", got)
					}
					if got := a.do(driver.OpAcquire, "w", time.Millisecond, "k"); got != at.want {
						t.Errorf("acquire was %v, want %v", got, at.want)
					}
				})
			}
		}
	}
}

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

// TestMemoriesAgree: whatever is asked of a node and whatever happens to it and its clock, both tiers answer the same
// and keep the same.
func TestMemoriesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := redis.Persistence(rapid.IntRange(0, 2).Draw(t, "persistence"))
		tiers := []*alone{newAlone(model.New(), p), newAlone(wire.New(), p)}
		for _, a := range tiers {
			defer a.close()
		}
		// Both must give the same for f.
		agree := func(t *rapid.T, what string, f func(a *alone) any) {
			want, got := fmt.Sprint(f(tiers[0])), fmt.Sprint(f(tiers[1]))
			if want != got {
				t.Fatalf("%s: model %s, wire %s", what, want, got)
			}
		}
		keys := []string{"a", "b", "c"}
		command := func(op driver.Op) func(*rapid.T) {
			return func(t *rapid.T) {
				on := slices.Clone(rapid.Permutation(keys).Draw(t, "keys")[:rapid.IntRange(1, 3).Draw(t, "n")])
				value := rapid.SampledFrom([]string{"v", "w", "a"}).Draw(t, "value") // "a" is a key, too
				ttl := time.Duration(rapid.IntRange(1, 8).Draw(t, "ttl")) * time.Millisecond
				agree(t, op.String(), func(a *alone) any { return a.do(op, value, ttl, on...) })
			}
		}
		us := func(t *rapid.T, name string, min, max int) time.Duration {
			if rapid.Bool().Draw(t, "whole") {
				return time.Duration(rapid.IntRange(min, max).Draw(t, name)) * time.Millisecond
			}
			return time.Duration(rapid.IntRange(min*1000, max*1000).Draw(t, name)) * time.Microsecond
		}
		t.Repeat(map[string]func(*rapid.T){
			"acquire":  command(driver.OpAcquire),
			"acquire2": command(driver.OpAcquire),
			"extend":   command(driver.OpExtend),
			"release":  command(driver.OpRelease),
			"vote": func(t *rapid.T) {
				on := slices.Clone(rapid.Permutation(keys).Draw(t, "keys")[:rapid.IntRange(1, 3).Draw(t, "n")])
				c := driver.Command{Op: driver.OpAcquire, Keys: on, Value: rapid.SampledFrom([]string{"v", "w"}).Draw(t, "value"),
					TTL: time.Duration(rapid.IntRange(1, 8).Draw(t, "ttl")) * time.Millisecond}
				q := driver.Conditions{Token: rapid.Int64Range(0, 6).Draw(t, "token"), CounterTTL: 15 * time.Millisecond,
					MaxTTL: rapid.SampledFrom([]time.Duration{0, 8, 8, 8, 8, 9}).Draw(t, "max") * time.Millisecond}
				if rapid.Bool().Draw(t, "watched") {
					q.Watched = tiers[0].record()
				}
				c.Conditions = &q
				agree(t, "vote", func(a *alone) any { return a.ask(c) })
			},
			"prepare": func(t *rapid.T) {
				q := driver.Conditions{MaxTTL: rapid.SampledFrom([]time.Duration{8, 8, 8, 9}).Draw(t, "max") * time.Millisecond,
					Watched: rapid.SampledFrom([]string{"", "another", tiers[0].Servers[0].RunID()}).Draw(t, "run")}
				agree(t, "prepare", func(a *alone) any {
					return a.ask(driver.Command{Op: driver.OpPrepare, Keys: []string{driver.GuardKey}, Value: "v", Conditions: &q})
				})
			},
			// The reply is lost, and with it the news that the node has forgotten the script, or knows it.
			"unheard": func(t *rapid.T) {
				key, value := rapid.SampledFrom(keys).Draw(t, "key"), rapid.SampledFrom([]string{"v", "w"}).Draw(t, "value")
				agree(t, "unheard", func(a *alone) any {
					l := a.Network.Link("c", "A")
					l.Cut(network.Replies)
					defer l.Mend(network.Replies)
					a.do(driver.OpRelease, value, 0, key)
					return nil
				})
			},
			"wait": func(t *rapid.T) {
				d := us(t, "for", 0, 12)
				agree(t, "wait", func(a *alone) any { a.advance(d); return nil })
			},
			"wait long": func(t *rapid.T) { // past an fsync
				agree(t, "wait", func(a *alone) any { a.advance(700 * time.Millisecond); return nil })
			},
			"step": func(t *rapid.T) {
				d := us(t, "by", -12, 12)
				agree(t, "step", func(a *alone) any { a.Servers[0].Clock().Step(d); return nil })
			},
			"stop and start": func(t *rapid.T) {
				dark := rapid.Bool().Draw(t, "dark")
				down := us(t, "down", 0, 12)
				agree(t, "restart", func(a *alone) any {
					stop := a.Servers[0].Kill
					if dark {
						stop = a.Servers[0].LosePower
					}
					if err := stop(); err != nil {
						return err
					}
					a.advance(down)
					return a.Servers[0].Restart()
				})
			},
			"load": func(t *rapid.T) {
				var records []redis.Record
				for _, key := range keys {
					if kind := rapid.IntRange(0, 2).Draw(t, "kind"); kind > 0 {
						r := redis.Record{Key: key, Value: "v"}
						if kind == 2 {
							r.ExpiresAt = tiers[0].Servers[0].Clock().Wall().Milliseconds() + int64(rapid.IntRange(-2, 5).Draw(t, "left"))
						}
						records = append(records, r)
					}
				}
				if rapid.IntRange(0, 9).Draw(t, "guard") == 0 {
					records = append(records, redis.Record{Key: driver.GuardKey, Value: "nonsense"})
				}
				agree(t, "load", func(a *alone) any { a.memory.Load(records); return nil })
			},
			"": func(t *rapid.T) {
				agree(t, "dump", func(a *alone) any { return a.Servers[0].Dump() })
				agree(t, "on disk", func(a *alone) any { return len(a.Servers[0].OnDisk()) })
			},
		})
	})
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
