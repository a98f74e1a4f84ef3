//go:build unix

package adaptertest

import (
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"redlocksim/redlock/driver"
)

// A server that keeps its keys in slots, as the proxy of a sharded service does, refuses a script for several of them. The
// commands that were joined in one are sent apart, within the same call, and so are all later ones.
func slotsApart(t *testing.T, a Adapter) {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(c *server.Peer, command string, args ...string) bool {
		switch isScript := command == "EVAL" || command == "EVALSHA"; {
		case command == "DELEX":
			c.WriteError("ERR unknown command 'DELEX'")
		case isScript && args[1] != "1":
			c.WriteError("CROSSSLOT Keys in request don't hash to the same slot")
		default:
			return false
		}
		return true
	})
	sent := &Rounds{}
	db, node := Admin(t, m.Addr()), a.node(t, m.Addr(), Config{Dial: sent.Dial})
	for _, want := range [][]string{{"eval", "eval | eval | eval"}, {"evalsha | evalsha | evalsha"}} {
		setState(t, db, "a=mine:20s b=theirs:20s c=mine:20s")
		var got []driver.Outcome
		for _, r := range Do(t, node, Command(t, "release a", TTL), Command(t, "release b", TTL), Command(t, "release c", TTL)) {
			got = append(got, r.Outcome)
		}
		if !slices.Equal(got, []driver.Outcome{driver.Accepted, driver.Declined, driver.Accepted}) {
			t.Errorf("outcomes %v", got)
		}
		if after := getState(t, db); after != "b=theirs:20s" {
			t.Errorf("leaves %q", after)
		}
		if lines := sent.Take(); !slices.Equal(lines, want) {
			t.Errorf("sent %q, want %q", strings.Join(lines, "; "), strings.Join(want, "; "))
		}
	}
}
