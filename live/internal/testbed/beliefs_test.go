//go:build linux

package testbed

import (
	"testing"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/messages"
	"redlocksim/sim/history"
)

// Entries are taken as they are read. What a client said before its death may come after that, and what it says when it was
// started again is new.
func TestADeadClientBelievesNothing(t *testing.T) {
	believes := func(at int64) Entry {
		return Entry{At: at, Process: "a", Belief: &messages.Belief{Grant: 1, Until: 500}}
	}
	crash := Entry{At: 200, Process: "a", Event: &history.Event{Kind: history.Crash, Process: "a"}}
	for name, c := range map[string]struct {
		entries []Entry
		ends    int64
	}{
		"alive":         {[]Entry{believes(100)}, 500},
		"dead":          {[]Entry{believes(100), crash}, faketime.Never},
		"read late":     {[]Entry{crash, believes(100)}, faketime.Never},
		"started again": {[]Entry{crash, believes(300)}, 500},
	} {
		b := NewBeliefs()
		for _, e := range c.entries {
			b.Take(e)
		}
		if got := b.Next(); got != c.ends {
			t.Errorf("%s: the next belief ends at %d, want %d", name, got, c.ends)
		}
	}
}
