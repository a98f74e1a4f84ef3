package monitor

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
	"redlocksim/sim/redis"
)

// Commands of one message about one key go in the order in which they were asked for; releases may overtake them.
func TestOrderWithinAMessage(t *testing.T) {
	const found = "c1 asks A first for what it began 2ms later: the commands in a message about one key must go in their order"
	type command struct {
		intent  redis.Intent
		value   string
		message int
	}
	began := []observe.Event{
		{Step: observe.AttemptStarted, Resource: "r", Value: "first"},
		{Step: observe.AttemptStarted, Resource: "s", Value: "other"},
		{Step: observe.ExtendStarted, Resource: "r", Value: "first"},
		{Step: observe.AttemptStarted, Resource: "r, s", Value: "last"},
	}
	for _, c := range []struct {
		name  string
		after []observe.Event
		sent  []command
		want  string
	}{
		{"in order", nil, []command{{redis.Sets, "first", 1}, {redis.Sets, "other", 1}, {redis.Extends, "first", 1}, {redis.Sets, "last", 1}}, ""},
		{"of two keys", nil, []command{{redis.Sets, "other", 1}, {redis.Sets, "first", 1}}, ""},
		{"an extend too late", nil, []command{{redis.Sets, "last", 1}, {redis.Extends, "first", 1}}, "c1 asks A first for what it began 1ms later"},
		{"the second key of a lock", nil, []command{{redis.Sets, "last", 1}, {redis.Sets, "other", 1}}, found},
		{"in two messages", nil, []command{{redis.Sets, "last", 1}, {redis.Extends, "first", 2}}, ""},
		{"a release", nil, []command{{redis.Deletes, "last", 1}, {redis.Extends, "first", 1}}, ""},
		{"the second of two extends", []observe.Event{{Step: observe.ExtendStarted, Resource: "r", Value: "first"}},
			[]command{{redis.Sets, "last", 1}, {redis.Extends, "first", 1}}, ""},
		{"the second of two tokens", []observe.Event{{Step: observe.TokenRaised, Resource: "r, s", Value: "last"}},
			[]command{{redis.Sets, "last", 1}, {redis.Extends, "first", 1}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.Resources = []string{"r", "s"}
			x := &order{run: r.Run, asks: byValue[ordered]{values: r.values}}
			r.goes("c1", time.Second, func(a *actor) {
				for _, e := range append(began, c.after...) {
					x.stepped("c1", &e)
					a.sleeps(time.Millisecond)
				}
				for _, of := range c.sent {
					x.passes(redis.Sent, &redis.Asked{Command: redis.Command{Intent: of.intent, Value: of.value}, Server: a.Servers[0],
						Client: a.client, Message: of.message, Together: len(c.sent)})
				}
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
