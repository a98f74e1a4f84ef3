//go:build unix

package adaptertest

import (
	"slices"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"redlocksim/redlock/driver"
)

// A release goes by the plain command that the first contact has found, and by a script in the same deadline once the server
// has it no more or forbids it, as an older one may do that took its place. It is carried out both times.
func plainReleaseFallsBack(t *testing.T, a Adapter) {
	for _, says := range []string{"ERR unknown command 'DELEX'", "NOPERM User locks has no permissions to run the 'delex' command"} {
		m := miniredis.RunT(t) // which has DELEX
		db, sent := Admin(t, m.Addr()), &Rounds{}
		node := a.node(t, m.Addr(), Config{Dial: sent.Dial})
		release := func(want ...string) {
			t.Helper()
			setState(t, db, "a=mine:30s b=theirs:30s")
			sent.Take()
			for i, r := range Do(t, node, Command(t, "release a", TTL), Command(t, "release b", TTL)) {
				if (r.Outcome == driver.Accepted) != (i == 0) || r.Err != nil {
					t.Errorf("%s: release %d: %+v", says, i, r)
				}
			}
			if got := sent.Take(); !slices.Equal(got, want) || getState(t, db) != "b=theirs:30s" {
				t.Errorf("%s: sent %q, want %q, left %s", says, got, want, getState(t, db))
			}
		}
		Do(t, node, Command(t, "acquire z", TTL))
		release("delex | delex")
		m.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
			if command == "DELEX" {
				c.WriteError(says)
			}
			return command == "DELEX"
		})
		release("delex | delex", "eval")
		release("evalsha")
	}
}
