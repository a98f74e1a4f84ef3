package rules

import (
	"testing"
	"time"

	"redlocksim/checker"
)

// Nothing brings the end of a lock's key forward.
func TestShortened(t *testing.T) {
	for _, c := range []struct {
		name    string
		command []string
		want    string
	}{
		{"a shorter extend", []string{"PEXPIRE", "r", "3000"}, "c1 brings the end of its key on B forward, by 6.004s. (1)"},
		{"a longer extend", []string{"PEXPIRE", "r", "30000"}, ""},
		{"an extend by the same TTL", []string{"PEXPIRE", "r", "10000"}, ""},
		{"another value", []string{"SET", "r", "w", "PX", "3000"}, ""},
		{"a release", []string{"DEL", "r"}, ""},
		{"a key that is no lock's", []string{"PEXPIRE", "q", "3000"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t).only(watchShortened)
			r.goes("c1", time.Second, func(a *actor) {
				a.sets("ABC", "v")
				a.asks("B", "SET", "q", "v", "PX", "10000")
				a.sleeps(990 * time.Millisecond)
				a.asks("B", c.command...)
			})
			r.finds(t, checker.Conduct, c.want)
		})
	}
}
