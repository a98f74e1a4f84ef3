//go:build unix

package adaptertest

import (
	"testing"

	"redlocksim/redlock/driver"
)

// effect is what becomes of a command, and of the keys that were there before.
type effect struct {
	command string // with a TTL of 30 s
	before  string
	want    driver.Outcome
	token   int64
	after   string
}

var semantics = []effect{
	{"acquire a", "", driver.Accepted, 0, "a=mine:30s"},
	{"acquire a", "b=theirs:20s", driver.Accepted, 0, "a=mine:30s b=theirs:20s"},
	{"acquire a", "a=theirs:20s", driver.Declined, 0, "a=theirs:20s"},
	{"acquire a", "a=theirs:forever", driver.Declined, 0, "a=theirs:forever"},
	{"acquire a", "a=mine:20s", driver.Declined, 0, "a=mine:20s"},
	{"acquire a", "a=list", driver.Declined, 0, "a=list"},
	{"acquire a b", "", driver.Accepted, 0, "a=mine:30s b=mine:30s"},
	{"acquire a b", "a=theirs:20s", driver.Declined, 0, "a=theirs:20s"},
	{"acquire a b", "b=theirs:20s", driver.Declined, 0, "b=theirs:20s"},
	{"acquire a b", "b=mine:20s", driver.Declined, 0, "b=mine:20s"},
	{"acquire a b", "b=list", driver.Declined, 0, "b=list"},

	{"extend a", "a=mine:20s", driver.Accepted, 0, "a=mine:30s"},
	{"extend a", "a=mine:50s", driver.Accepted, 0, "a=mine:50s"},
	{"extend a", "a=mine:forever", driver.Accepted, 0, "a=mine:30s"},
	{"extend a", "", driver.Declined, 0, ""},
	{"extend a", "a=theirs:20s", driver.Declined, 0, "a=theirs:20s"},
	{"extend a", "a=list", driver.Failed, 0, "a=list"},
	{"extend a b", "a=mine:20s b=mine:20s", driver.Accepted, 0, "a=mine:30s b=mine:30s"},
	{"extend a b", "a=mine:20s b=mine:50s", driver.Accepted, 0, "a=mine:30s b=mine:50s"},
	{"extend a b", "a=mine:20s", driver.Declined, 0, "a=mine:20s"},
	{"extend a b", "a=mine:20s b=theirs:20s", driver.Declined, 0, "a=mine:20s b=theirs:20s"},
	{"extend a b", "a=mine:20s b=list", driver.Failed, 0, "a=mine:20s b=list"},

	{"release a", "a=mine:20s", driver.Accepted, 0, ""},
	{"release a", "a=mine:20s b=mine:20s", driver.Accepted, 0, "b=mine:20s"},
	{"release a", "a=mine:forever", driver.Accepted, 0, ""},
	{"release a", "", driver.Declined, 0, ""},
	{"release a", "a=theirs:20s", driver.Declined, 0, "a=theirs:20s"},
	{"release a", "a=list", driver.Failed, 0, "a=list"},
	{"release a b", "a=mine:20s b=mine:20s", driver.Accepted, 0, ""},
	{"release a b", "b=mine:20s", driver.Declined, 0, ""},
	{"release a b c", "a=mine:20s b=theirs:20s c=mine:20s", driver.Declined, 0, "b=theirs:20s"},
	{"release a b c", "a=mine:20s b=list c=mine:20s", driver.Failed, 0, "b=list"},
}

// What commands do to a server.
func semanticsOfCommands(t *testing.T, a Adapter) {
	for _, server := range servers {
		t.Run(server.name, func(t *testing.T) { newTable(t, a, server.start(t)).all(semantics) })
	}
}
