package monitor

import (
	"fmt"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/scenarios/protocols"
	"redlocksim/sim/redis"
)

// A quarantine ends with the vote that a client asks for who has watched it for the largest TTL, and with none before.
func TestQuarantinesAreWatchedToTheirEnd(t *testing.T) {
	const ms = time.Millisecond
	early := "c1 ends the quarantine of A, and has not watched it for 10s"
	twice := []time.Duration{0, ttl - ms}
	for _, c := range []struct {
		name   string
		asks   []time.Duration // when the client asks, each time told of the quarantine, but for the last if it ends
		ends   bool
		also   []string                   // keys that a command at the same time is about
		found  bool                       // another vote at the same time has found another record
		before bool                       // the first asks before the quarantine begins
		first  func(*actor, *redis.Asked) // what is different with the first answer
		change func(*protocols.RedlockSettings)
		want   string
	}{
		{name: "it goes on", asks: []time.Duration{0, ttl / 2}},
		{name: "long enough", asks: []time.Duration{0, ttl / 2, ttl}, ends: true},
		{name: "not for long enough", asks: twice, ends: true, want: early + ". (1)"},
		{name: "not at all", asks: []time.Duration{ttl}, ends: true, want: early},
		{name: "declared fit at the same time", asks: []time.Duration{ttl}, ends: true, also: []string{driver.GuardKey}},
		{name: "another vote at the same time", asks: []time.Duration{ttl}, ends: true, also: []string{"s"}, want: early},
		{name: "in part", asks: twice, ends: true, first: func(_ *actor, a *redis.Asked) { a.Answer = driver.Unanswered }},
		{name: "in part, before it began", asks: []time.Duration{0, ms, ttl}, ends: true, before: true, first: func(_ *actor, a *redis.Asked) { a.Answer = driver.Unanswered }, want: early},
		{name: "too late to be read", asks: []time.Duration{0, ttl}, ends: true, first: func(x *actor, a *redis.Asked) { a.Deadline = x.reads().Add(-1) }, want: early},
		{name: "clients trust the nodes", asks: twice, ends: true, change: func(own *protocols.RedlockSettings) { own.Guard.TrustNodeClock = true }},
		{name: "by another client of the process", asks: twice, ends: true, first: func(x *actor, _ *redis.Asked) {
			x.Called(&protocols.Call{Func: protocols.NewClientCall, Client: "c1"})
		}},
		{name: "for long enough, and it goes on", asks: []time.Duration{0, ttl + 50*ms}, want: "A has been in quarantine for 10.05s by its clock, c1 has watched it for 10.05s, and it goes on. (1)"},
		{name: "and another one that began at the same time", asks: []time.Duration{0, ttl + 50*ms}, found: true},
		{name: "hardly for long enough, and it goes on", asks: []time.Duration{0, ttl + 49*ms}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, guarded, func(own *protocols.RedlockSettings) {
				if c.change != nil {
					c.change(own)
				}
			}).only(watchQuarantines)
			r.goes("c1", 0, func(a *actor) {
				s := a.Server("A")
				quarantined := fmt.Sprint(s.RunID(), " ", s.Clock().Wall().Milliseconds(), " 10000")
				fit := s.RunID() + " 0 10000"
				s.Put(redis.Record{Key: driver.GuardKey, Value: quarantined})
				start := a.Kernel.Now()
				for i, at := range c.asks {
					a.sleeps(at - a.Kernel.Now().Sub(start))
					asked := &redis.Asked{Command: redis.Command{Intent: redis.Sets, Keys: []string{"r"}, Deadline: a.reads().Add(time.Second)},
						Server: s, Client: a.client, Sent: a.Kernel.Now()}
					tell := func(p redis.Passage) {
						for _, f := range r.commands[p] {
							f(p, asked)
						}
					}
					tell(redis.Sent)
					if c.also != nil {
						asked.Keys = c.also
						tell(redis.Sent)
						asked.Keys = []string{"r"}
					}
					if c.found && i == 0 {
						s.Put(redis.Record{Key: driver.GuardKey, Value: quarantined + "0"})
						tell(redis.Arrived)
						s.Put(redis.Record{Key: driver.GuardKey, Value: quarantined})
					}
					if c.before && i == 0 {
						s.Put(redis.Record{Key: driver.GuardKey, Value: fit})
					}
					tell(redis.Arrived)
					s.Put(redis.Record{Key: driver.GuardKey, Value: quarantined})
					asked.Answer = driver.Quarantined
					if c.ends && i == len(c.asks)-1 {
						asked.Answer = driver.Accepted
						for _, f := range r.onApplied {
							f(&redis.Applied{Change: redis.Change{Key: driver.GuardKey, Before: redis.Record{Value: quarantined}, After: redis.Record{Value: fit}},
								Server: s, Client: a.client, Sent: a.Kernel.Now()})
						}
					}
					if i == 0 && c.first != nil {
						c.first(a, asked)
					}
					tell(redis.Answered)
				}
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
