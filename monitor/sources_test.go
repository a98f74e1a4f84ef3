package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
	"redlocksim/sim/redis"
)

// A script goes to a node in full until its client knows that it has run there.
func TestSourcesAreSentOnce(t *testing.T) {
	const said = "c1 sends A a script in full 1s after the node had run it for this client"
	at := func(p redis.Passage, intent redis.Intent, answer driver.Outcome, changes ...func(*redis.Asked)) func(*actor) {
		return func(a *actor) {
			asked := &redis.Asked{Command: redis.Command{Intent: intent, Keys: []string{"r"}, Source: "script", Answer: answer,
				Deadline: a.reads().Add(time.Millisecond)}, Message: int(a.Kernel.Now()), Server: a.Servers[0], Client: a.client, Link: a.Network.Link("c1", "A"), Sent: a.Kernel.Now(), Settled: true}
			for _, change := range changes {
				change(asked)
			}
			for _, tell := range a.commands[p] {
				tell(p, asked)
			}
		}
	}
	together := func(one, other func(*actor)) func(*actor) { return func(a *actor) { one(a); other(a) } }
	ran, runs, votes := at(redis.Answered, redis.Extends, driver.Declined), at(redis.Sent, redis.Extends, 0), at(redis.Sent, redis.Sets, 0)
	for _, c := range []struct {
		name string
		does []func(*actor)
		want string
	}{
		{"at first", []func(*actor){runs, runs}, ""},
		{"again", []func(*actor){ran, runs}, said},
		{"not of the adapter", []func(*actor){at(redis.Answered, redis.Deletes, 0), runs}, ""},
		{"failed", []func(*actor){at(redis.Answered, redis.Extends, driver.Failed), runs}, ""},
		{"forgotten", []func(*actor){ran, at(redis.Answered, redis.Deletes, driver.Failed), runs}, ""},
		{"forgotten in the same message", []func(*actor){together(at(redis.Answered, redis.Deletes, driver.Failed), ran), runs}, ""},
		{"a broken connection", []func(*actor){ran, at(redis.Broken, redis.Deletes, 0), runs}, ""},
		{"before other answers to the same message", []func(*actor){at(redis.Answered, redis.Extends, driver.Declined, func(a *redis.Asked) { a.Settled = false }), runs}, ""},
		{"a broken connection to its replica", []func(*actor){ran, at(redis.Broken, redis.Deletes, 0, func(a *redis.Asked) { a.Server = a.Server.Group()[1] }), runs}, ""},
		{"voted", []func(*actor){at(redis.Answered, redis.Sets, driver.Accepted), votes}, said},
		{"did not vote", []func(*actor){at(redis.Answered, redis.Sets, driver.Declined), votes}, ""},
		{"another's", []func(*actor){at(redis.Answered, redis.Sets, driver.Accepted), runs}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRigOf(t, map[string][]string{"A": {"A2"}})
			r.goes("c1", time.Second, func(a *actor) {
				for _, does := range c.does {
					does(a)
					a.sleeps(time.Second)
				}
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
