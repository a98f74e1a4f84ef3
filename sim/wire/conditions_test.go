package wire_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/model"
	"redlocksim/sim/network"
	"redlocksim/sim/redis"
	"redlocksim/sim/wire"
)

// on runs the test on both tiers, with a node alone.
func on(t *testing.T, p redis.Persistence, test func(t *testing.T, a *alone)) {
	for name, backend := range map[string]func() redis.Tier{"model": model.New, "wire": wire.New} {
		t.Run(name, func(t *testing.T) {
			a := newAlone(backend(), p)
			defer a.close()
			test(t, a)
		})
	}
}

func (a *alone) vote(value string, q driver.Conditions) driver.Reply {
	q.CounterTTL = time.Minute
	return a.ask(driver.Command{Op: driver.OpAcquire, Keys: []string{"k"}, Value: value, TTL: 10 * time.Millisecond, Conditions: &q})
}

// kept lists the node's keys without their prefix, and with the milliseconds until they expire.
func (a *alone) kept() string {
	var all []string
	for _, r := range a.Servers[0].Dump() {
		text := strings.TrimPrefix(r.Key, "redlock:") + "=" + r.Value
		if r.ExpiresAt != 0 {
			text += fmt.Sprintf("@%d", r.ExpiresAt-a.Servers[0].Clock().Wall().Milliseconds())
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestFencedVotes(t *testing.T) {
	on(t, redis.NoPersistence, func(t *testing.T, a *alone) {
		for _, step := range []struct {
			wait  time.Duration
			value string
			token int64
			want  driver.Outcome
			heard int64
			kept  string
		}{
			{0, "v", 3, driver.Accepted, 0, "k=v@10 token:k=3@60000"},
			{time.Millisecond, "w", 4, driver.Declined, 3, "k=v@9 token:k=3@59999"},
			{time.Millisecond, "v", 3, driver.Behind, 3, "k=v@8 token:k=3@59998"},
			{time.Millisecond, "v", 4, driver.Accepted, 0, "k=v@10 token:k=4@60000"}, // the same claim, again
			{time.Millisecond, "v", 0, driver.Declined, 0, "k=v@9 token:k=4@59999"},  // not without a token
			{10 * time.Millisecond, "w", 4, driver.Behind, 4, "token:k=4@59989"},
			{0, "w", 9, driver.Accepted, 0, "k=w@10 token:k=9@60000"},
			{60 * time.Second, "v", 1, driver.Behind, 9, "token:k=9@0"},
			{time.Millisecond, "v", 1, driver.Accepted, 0, "k=v@10 token:k=1@60000"},
		} {
			a.advance(step.wait)
			r := a.vote(step.value, driver.Conditions{Token: step.token})
			if r.Outcome != step.want || r.Token != step.heard || a.kept() != step.kept {
				t.Errorf("%+v: %+v, kept %s", step, r, a.kept())
			}
		}
		a.do(driver.OpExtend, "v", time.Second, "k")
		if a.vote("v", driver.Conditions{Token: 2}); a.kept() != "k=v@1000 token:k=2@60000" {
			t.Errorf("a vote cut an extend short: %s", a.kept())
		}
	})
}

// A node that starts again is in another run, and out of the vote for the largest TTL by its own clock, whatever it
// kept: what it votes again at is the first millisecond that reads more.
func TestGuardedVotes(t *testing.T) {
	for _, p := range []redis.Persistence{redis.NoPersistence, redis.Always} {
		on(t, p, func(t *testing.T, a *alone) {
			s := a.Servers[0]
			guard := driver.Conditions{MaxTTL: 20 * time.Millisecond}
			runs := map[string]bool{}
			for range 3 {
				run := s.RunID()
				if len(run) != 40 || runs[run] {
					t.Errorf("run id %q", run)
				}
				runs[run] = true
				r := a.vote("v", guard)
				if want := fmt.Sprintf("%s %d 20", run, s.Clock().Wall().Milliseconds()); r.Outcome != driver.Quarantined || r.Record != want || a.record() != want {
					t.Errorf("%+v, want the record %s", r, want)
				}
				watched := guard
				watched.Watched = r.Record
				for at := range 21 {
					if again := a.vote("v", watched); again.Outcome != driver.Quarantined || again.Record != r.Record {
						t.Errorf("after %d ms: %+v", at, again)
					}
					a.advance(time.Millisecond)
				}
				if again := a.vote("v", guard); again.Outcome != driver.Quarantined {
					t.Errorf("not watched: %+v", again)
				}
				if again := a.vote("v", watched); again.Outcome != driver.Accepted || a.record() != run+" 0 20" {
					t.Errorf("afterwards: %+v, record %s", again, a.record())
				}
				if r := a.vote("w", guard); r.Outcome != driver.Declined {
					t.Errorf("%+v", r)
				}
				a.advance(20 * time.Millisecond)
				if err := s.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := s.Restart(); err != nil {
					t.Fatal(err)
				}
				if kept := a.record(); (kept == run+" 0 20") != (p == redis.Always) || (kept == "") != (p == redis.NoPersistence) {
					t.Errorf("after a restart: record %q", kept)
				}
			}
		})
	}
}

// Each of the library's scripts costs a round trip more where the node has forgotten it.
func TestEveryScriptIsSentAgain(t *testing.T) {
	for name, backend := range map[string]redis.Tier{"model": model.New(), "wire": wire.New()} {
		t.Run(name, func(t *testing.T) {
			w := sim.NewWorld(sim.Config{Nodes: []string{"A"}, Clients: []sim.ClientConfig{{Name: "c"}}, Latency: network.Constant(time.Millisecond)}, backend)
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
