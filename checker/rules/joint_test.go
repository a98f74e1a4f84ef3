package rules

import (
	"testing"

	"redlocksim/checker"
	"redlocksim/redlock/observe"
)

// The keys of a lock on several resources are set, extended and deleted together.
func TestCommandsAboutSeveralKeys(t *testing.T) {
	begins := func(resource, value string) func(*actor) {
		return func(a *actor) {
			a.Observed("c1", observe.Event{Step: observe.AttemptStarted, Resource: resource, Value: value})
		}
	}
	asks := func(command ...string) func(*actor) { return func(a *actor) { a.asks("A", command...) } }
	const said = "A carries out what c1 asks for about several keys "
	for _, c := range []struct {
		name string
		does []func(*actor)
		want string
	}{
		{"one of two is set", []func(*actor){begins("r, s", "v"), asks("SET", "r", "v", "NX", "PX", "9000")}, said + `for "r" and not for "s"`},
		{"the only one is set", []func(*actor){begins("r", "v"), asks("SET", "r", "v", "NX", "PX", "9000")}, ""},
		{"one of two is extended", []func(*actor){asks("SET", "r", "v", "PX", "9000"), asks("SET", "s", "v", "PX", "9000"), begins("r, s", "v"),
			asks("PEXPIRE", "s", "20000")}, said + `for "s" and not for "r"`},
		{"one of two is deleted", []func(*actor){asks("SET", "r", "v", "PX", "9000"), asks("SET", "s", "v", "PX", "9000"), begins("r, s", "v"),
			asks("DEL", "r")}, said + `for "r" and not for "s"`},
		{"both are deleted", []func(*actor){asks("SET", "r", "v", "PX", "9000"), asks("SET", "s", "v", "PX", "9000"), begins("r, s", "v"),
			asks("DEL", "r", "s")}, ""},
		{"the other is somebody else's", []func(*actor){asks("SET", "r", "v", "PX", "9000"), asks("SET", "s", "w", "PX", "9000"), begins("r, s", "v"),
			asks("DEL", "r")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only("joint-changes")
			r.goes("c1", 0, func(a *actor) {
				for _, does := range c.does {
					does(a)
				}
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
