package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/redlock/driver"
)

func TestCommandsAreNoMoreThanNeeded(t *testing.T) {
	for _, c := range []struct {
		name string
		most int
		does func(*actor)
		want string
	}{
		{"as many", 6, func(*actor) {}, ""},
		{"released twice on one node", 6, func(a *actor) { a.asks("B", "DEL", "r") }, "c1 sends a command to B to delete r, number 7 of a run that needs no more than 6. (1)"},
		{"set once more, and extended", 6, func(a *actor) { a.sets("A", "v"); a.asks("AB", "PEXPIRE", "r", "10000") },
			"c1 sends a command to A to set r, number 7 of a run that needs no more than 6. (3)"},
		{"what is no command for a lock", 6, func(a *actor) { a.asks("ABC", "GET", "r"); a.asks("A", "PING"); a.asks("A", "GET", driver.GuardKey) }, ""},
		{"no bound", 0, func(a *actor) { a.asks("BBBB", "DEL", "r") }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).patient()
			r.MaxCommands = c.most
			r.goes("c1", time.Second, func(a *actor) {
				a.sets("ABC", "v")
				a.asks("ABC", "DEL", "r")
				c.does(a)
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
