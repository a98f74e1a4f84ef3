package redis_test

import (
	"errors"
	"testing"
	"time"

	"redlocksim/internal/rediscmd"
	"redlocksim/redlock/driver"
	"redlocksim/sim"
	"redlocksim/sim/model"
	"redlocksim/sim/redis"
)

// All that an adapter may treat apart makes another wording, and names, values and times do not.
func TestWordings(t *testing.T) {
	failed := func(text string) driver.Reply {
		return driver.Reply{Outcome: driver.Failed, Err: rediscmd.ServerError(text)}
	}
	worded := func(change func(*redis.Put, *driver.Conditions), r driver.Reply) redis.Wording {
		w := sim.NewWorld(sim.Config{Nodes: []string{"A"}}, model.New())
		c := driver.Conditions{Token: 1}
		p := redis.Put{Command: &driver.Command{Op: driver.OpAcquire, Keys: []string{"k"}, Value: "v", TTL: time.Second, Round: 1, Conditions: &c},
			Script: 1, Of: 1, Requests: 1}
		change(&p, &c)
		w.Server("A").Worded(&p, r)
		all := w.Wordings()
		if err := w.Close(); err != nil || len(all) != 1 {
			t.Fatalf("%v: one command is worded as %v", err, all)
		}
		return all[0]
	}
	same := func(*redis.Put, *driver.Conditions) {}
	accepted := driver.Reply{Outcome: driver.Accepted}
	seen := map[redis.Wording]string{worded(same, accepted): "the first"}
	another := func(name string, got redis.Wording) {
		t.Helper()
		if before := seen[got]; before != "" {
			t.Errorf("%s is worded as %s", name, before)
		}
		seen[got] = name
	}
	for name, change := range map[string]func(*redis.Put, *driver.Conditions){
		"operation": func(p *redis.Put, _ *driver.Conditions) { p.Op = driver.OpExtend }, "script": func(p *redis.Put, _ *driver.Conditions) { p.Script = 2 },
		"in full": func(p *redis.Put, _ *driver.Conditions) { p.InFull = true }, "looks": func(p *redis.Put, _ *driver.Conditions) { p.Looks = true },
		"place": func(p *redis.Put, _ *driver.Conditions) { p.Place = 1 }, "of two": func(p *redis.Put, _ *driver.Conditions) { p.Of = 2 },
		"requests": func(p *redis.Put, _ *driver.Conditions) { p.Requests = 2 }, "keys": func(p *redis.Put, _ *driver.Conditions) { p.Keys = []string{"k", "l"} },
		"round": func(p *redis.Put, _ *driver.Conditions) { p.Round = 2 }, "fate": func(p *redis.Put, _ *driver.Conditions) { p.Fate = 1 },
		"wake": func(p *redis.Put, _ *driver.Conditions) { p.Wake = true }, "no conditions": func(p *redis.Put, _ *driver.Conditions) { p.Conditions = nil },
		"no token": func(_ *redis.Put, c *driver.Conditions) { c.Token = 0 }, "guard": func(_ *redis.Put, c *driver.Conditions) { c.MaxTTL = time.Second },
		"watched": func(_ *redis.Put, c *driver.Conditions) { c.Watched = "x" },
	} {
		another(name, worded(change, accepted))
	}
	for name, r := range map[string]driver.Reply{
		"declined": {Outcome: driver.Declined}, "token": {Outcome: driver.Accepted, Token: 2}, "record": {Outcome: driver.Accepted, Record: "x"},
		"read-only": failed("READONLY You can't write"), "error": failed("ERR x"), "another TTL": {Outcome: driver.Failed, Err: &driver.MaxTTLError{}},
	} {
		another(name, worded(same, r))
	}
	if a, b := worded(same, failed("ERR x")), worded(same, failed("ERR y z")); a != b {
		t.Errorf("two texts of an error are worded as %v and %v", a, b)
	}
	other := worded(func(p *redis.Put, c *driver.Conditions) {
		p.Keys, p.Value, p.TTL, p.Round, c.Token = []string{"other"}, "other", time.Hour, 1, 99
	}, driver.Reply{Outcome: driver.Accepted, Err: errors.New("not read")})
	if seen[other] != "the first" {
		t.Errorf("other names, values and times are worded otherwise: as %q", seen[other])
	}
}
