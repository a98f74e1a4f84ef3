package monitor

import (
	"fmt"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// A quarantine ends with the vote that a client asks for who has watched it for the largest TTL, and with none before.
func TestQuarantinesAreWatchedToTheirEnd(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name string
		asks []time.Duration // when the client asks, each time told of the quarantine, but for the last if it ends
		ends bool
		also []string // keys that a command at the same time is about
		want string
	}{
		{"it goes on", []time.Duration{0, ttl / 2}, false, nil, ""},
		{"long enough", []time.Duration{0, ttl / 2, ttl}, true, nil, ""},
		{"not for long enough", []time.Duration{0, ttl - ms}, true, nil, "c1 ends the quarantine of A, and has not watched it for 10s. (1)"},
		{"not at all", []time.Duration{ttl}, true, nil, "c1 ends the quarantine of A, and has not watched it for 10s"},
		{"declared fit at the same time", []time.Duration{ttl}, true, []string{driver.GuardKey}, ""},
		{"another vote at the same time", []time.Duration{ttl}, true, []string{"s"}, "c1 ends the quarantine of A"},
		{"for long enough, and it goes on", []time.Duration{0, ttl + 50*ms}, false, nil, "A has been in quarantine for 10.05s by its clock, c1 has watched it for 10.05s, and it goes on. (1)"},
		{"hardly for long enough, and it goes on", []time.Duration{0, ttl + 49*ms}, false, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, guarded).only(watchQuarantines)
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
						for _, f := range r.onCommand {
							f(p, asked)
						}
					}
					tell(redis.Sent)
					if c.also != nil {
						asked.Keys = c.also
						tell(redis.Sent)
						asked.Keys = []string{"r"}
					}
					tell(redis.Arrived)
					asked.Answer = driver.Quarantined
					if c.ends && i == len(c.asks)-1 {
						asked.Answer = driver.Accepted
						for _, f := range r.onApplied {
							f(&redis.Applied{Change: redis.Change{Key: driver.GuardKey, Before: redis.Record{Value: quarantined}, After: redis.Record{Value: fit}},
								Server: s, Client: a.client, Sent: a.Kernel.Now()})
						}
					}
					tell(redis.Answered)
				}
			})
			r.finds(t, checker.Contract, c.want)
		})
	}
}
