//go:build unix

package adaptertest

import (
	"testing"

	"redlocksim/redlock/driver"
)

var semantics = []struct {
	command string // with a TTL of 30 s
	before  string
	want    driver.Outcome
	after   string
}{
	{"acquire a", "", driver.Accepted, "a=mine:30s"},
	{"acquire a", "b=theirs:20s", driver.Accepted, "a=mine:30s b=theirs:20s"},
	{"acquire a", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"acquire a", "a=theirs:forever", driver.Declined, "a=theirs:forever"},
	{"acquire a", "a=mine:20s", driver.Declined, "a=mine:20s"},
	{"acquire a", "a=list", driver.Declined, "a=list"},
	{"acquire a b", "", driver.Accepted, "a=mine:30s b=mine:30s"},
	{"acquire a b", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"acquire a b", "b=theirs:20s", driver.Declined, "b=theirs:20s"},
	{"acquire a b", "b=mine:20s", driver.Declined, "b=mine:20s"},
	{"acquire a b", "b=list", driver.Declined, "b=list"},

	{"extend a", "a=mine:20s", driver.Accepted, "a=mine:30s"},
	{"extend a", "a=mine:50s", driver.Accepted, "a=mine:50s"},
	{"extend a", "a=mine:forever", driver.Accepted, "a=mine:30s"},
	{"extend a", "", driver.Declined, ""},
	{"extend a", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"extend a", "a=list", driver.Failed, "a=list"},
	{"extend a b", "a=mine:20s b=mine:20s", driver.Accepted, "a=mine:30s b=mine:30s"},
	{"extend a b", "a=mine:20s b=mine:50s", driver.Accepted, "a=mine:30s b=mine:50s"},
	{"extend a b", "a=mine:20s", driver.Declined, "a=mine:20s"},
	{"extend a b", "a=mine:20s b=theirs:20s", driver.Declined, "a=mine:20s b=theirs:20s"},
	{"extend a b", "a=mine:20s b=list", driver.Failed, "a=mine:20s b=list"},

	{"release a", "a=mine:20s", driver.Accepted, ""},
	{"release a", "a=mine:20s b=mine:20s", driver.Accepted, "b=mine:20s"},
	{"release a", "a=mine:forever", driver.Accepted, ""},
	{"release a", "", driver.Declined, ""},
	{"release a", "a=theirs:20s", driver.Declined, "a=theirs:20s"},
	{"release a", "a=list", driver.Failed, "a=list"},
	{"release a b", "a=mine:20s b=mine:20s", driver.Accepted, ""},
	{"release a b", "b=mine:20s", driver.Declined, ""},
	{"release a b c", "a=mine:20s b=theirs:20s c=mine:20s", driver.Declined, "b=theirs:20s"},
	{"release a b c", "a=mine:20s b=list c=mine:20s", driver.Failed, "b=list"},
}

func semanticsOfCommands(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) {
			addr := server.start(t)
			node, db := a.node(t, addr, Config{}), Admin(t, addr)
			for _, test := range semantics {
				setState(t, db, test.before)
				reply := Do(t, node, Command(t, test.command, TTL))[0]
				after := getState(t, db)
				if reply.Outcome != test.want || after != test.after {
					t.Errorf("%s, with %q: got %v (%v), leaving %q; want %v, leaving %q",
						test.command, test.before, reply.Outcome, reply.Err, after, test.want, test.after)
				}
				if hasErr := reply.Err != nil; hasErr != (test.want == driver.Failed) {
					t.Errorf("%s, with %q: error %v", test.command, test.before, reply.Err)
				}
			}
		})
	}
}
