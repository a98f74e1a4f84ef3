//go:build linux

package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"redlocksim/internal/faketime"
	"redlocksim/live/internal/client"
	"redlocksim/sim/history"
)

// Times are in nanoseconds of the machine; the run begins at 100 and is twice as fast as its scenario.
func TestMerge(t *testing.T) {
	grant := func(at int64, process string, op int) entry {
		return entry{at: at, process: process, event: &history.Event{Kind: history.Return, Func: history.Acquire, Outcome: history.OK, Process: process, Op: op, Grant: op}}
	}
	believes := func(at int64, process string, op int, until int64) entry {
		return entry{at: at, process: process, belief: &client.Belief{Grant: op, Until: until}}
	}
	for _, test := range []struct {
		name    string
		entries []entry
		want    string
	}{
		{"in the order of true time, whoever tells first",
			[]entry{grant(130, "b", 2), grant(110, "a", 1)}, "20 return 1, 60 return 2"},
		{"a belief ends by itself",
			[]entry{believes(110, "a", 1, 150), grant(111, "a", 1)}, "22 return 1, 100 expire 1"},
		{"before a grant at the same time",
			[]entry{believes(110, "a", 1, 150), grant(111, "a", 1), grant(150, "b", 2)}, "22 return 1, 100 expire 1, 100 return 2"},
		{"also long after the last event",
			[]entry{believes(110, "a", 1, 590), grant(111, "a", 1)}, "22 return 1, 980 expire 1"},
		{"but not after the end",
			[]entry{believes(110, "a", 1, 601), grant(111, "a", 1), grant(601, "b", 2)}, "22 return 1"},
		{"an extension moves the end",
			[]entry{believes(110, "a", 1, 150), grant(111, "a", 1), believes(140, "a", 1, 180), grant(160, "b", 2)}, "22 return 1, 120 return 2, 160 expire 1"},
		{"an extension after the end begins anew",
			[]entry{believes(110, "a", 1, 150), grant(111, "a", 1), believes(160, "a", 1, 180)}, "22 return 1, 100 expire 1, 160 expire 1"},
		{"a release ends it in silence",
			[]entry{believes(110, "a", 1, 150), grant(111, "a", 1), believes(140, "a", 1, 0)}, "22 return 1"},
		{"and so does a crash, for the client's grants only",
			[]entry{believes(110, "a", 1, 150), believes(110, "b", 2, 160), {at: 120, process: "a", event: &history.Event{Kind: history.Crash, Process: "a"}}}, "40 crash 0, 120 expire 1"},
		{"what was said before a crash and read after it opens nothing",
			[]entry{{at: 120, process: "a", event: &history.Event{Kind: history.Crash, Process: "a"}}, believes(110, "a", 1, 150), believes(130, "a", 2, 150)}, "40 crash 0, 100 expire 1"},
		{"over before it is granted",
			[]entry{believes(110, "a", 1, 105), grant(111, "a", 1)}, "20 expire 1, 22 return 1"},
		{"a clock that steps back believes for longer",
			[]entry{believes(110, "a", 1, 150), {at: 120, process: "a", clock: &faketime.Skew{Ahead: -30}}}, "160 expire 1"},
		{"one that jumps ahead believes no more",
			[]entry{believes(110, "a", 1, 150), {at: 120, process: "a", clock: &faketime.Skew{Ahead: 100}}, grant(130, "b", 2)}, "40 expire 1, 60 return 2"},
		{"and what it reads from then on is ahead",
			[]entry{{at: 105, process: "a", clock: &faketime.Skew{Ahead: 100}}, believes(110, "a", 1, 250)}, "100 expire 1"},
		{"one that runs at half its rate from then on believes for longer", // 30 are left at 120, which take 60
			[]entry{believes(110, "a", 1, 150), {at: 120, process: "a", clock: &faketime.Skew{Since: 120, Rate: -faketime.Billion / 2}}}, "160 expire 1"},
		{"another client's clock does not matter",
			[]entry{believes(110, "a", 1, 150), {at: 120, process: "b", clock: &faketime.Skew{Since: 120, Rate: -faketime.Billion / 2}}}, "100 expire 1"},
		{"one that stands still for 30 believes for so much longer",
			[]entry{believes(110, "a", 1, 150), {at: 120, process: "a", clock: &faketime.Skew{Since: 120, Rate: faketime.Standing}}, {at: 150, process: "a", clock: &faketime.Skew{Ahead: -30}}}, "160 expire 1"},
		{"and one that stands still for good, for good",
			[]entry{believes(110, "a", 1, 150), {at: 120, process: "a", clock: &faketime.Skew{Since: 120, Rate: faketime.Standing}}, grant(500, "b", 2)}, "800 return 1"},
		{"operations are numbered from 1",
			[]entry{believes(110, "a", 1<<20, 150), grant(111, "a", 7), grant(120, "a", 1<<20)}, "22 return 1, 40 return 2, 100 expire 2"},
	} {
		var got []string
		h := merge(test.entries, 100, 2, 1000*time.Nanosecond)
		for _, e := range h {
			got = append(got, fmt.Sprintf("%d %s %d", e.Time, e.Kind, e.Grant))
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, text, test.want)
		}
		if err := h.Validate(); err != nil && !strings.Contains(err.Error(), "without") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
