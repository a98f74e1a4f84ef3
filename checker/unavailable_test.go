package checker

import (
	"fmt"
	"strings"
	"testing"
)

func TestUnavailable(t *testing.T) {
	for _, c := range []struct {
		rule, script string
		o            Options
		want         string
	}{
		{"nobody asks", "@5; crash c1; @10; crash c2", Options{}, "0s"},
		{"granted at once", "@5; c1 acquire 1; @5; ok 1", Options{}, "0s"},
		{"until the grant", "@5; c1 acquire 1; @9; ok 1; @30; crash c2", Options{}, "4ms 5-9 c1"},
		{"until it gives up", "@5; c1 acquire 1; @9; fail 1; @30; crash c2", Options{}, "4ms 5-9 c1"},
		{"until it crashes", "@5; c1 acquire 1; @9; crash c1; @30; crash c2", Options{}, "4ms 5-9 c1"},
		{"another's crash", "@5; c1 acquire 1; @9; crash c2; @30; ok 1", Options{}, "25ms 5-30 c1"},
		{"until the history ends", "@5; c1 acquire 1; @30; crash c2", Options{}, "25ms 5-30 c1"},
		{"until the run ends", "@5; c1 acquire 1; @30; crash c2", Options{End: 50e6}, "45ms 5-50 c1"},
		{"an end before the last event", "@5; c1 acquire 1; @30; crash c2", Options{End: 10e6}, "25ms 5-30 c1"},
		{"not while a section is on", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @30; c1 release 3 of 1; @33; ok 2", Options{}, "3ms 30-33 c2"},
		{"from the later of asking and section's end", "@5; c1 acquire 1; @5; ok 1; @20; c1 release 3 of 1; @30; c2 acquire 2; @33; ok 2", Options{}, "3ms 30-33 c2"},
		{"an expiry ends a section", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; expire 1; @33; ok 2", Options{}, "13ms 20-33 c2"},
		{"a crash ends a section", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; crash c1; @33; ok 2", Options{}, "13ms 20-33 c2"},
		{"a pause ends a section", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault pause c1; @33; ok 2", stopping, "13ms 20-33 c2 unheld 0s"},
		{"being cut off ends a section", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault cut-off c1; @33; ok 2", stopping, "13ms 20-33 c2 unheld 0s"},
		{"for good", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault pause c1; @25; fault resume c1; @30; c1 release 3 of 1; @33; ok 2", stopping, "13ms 20-33 c2 unheld 3ms"},
		{"another fault does not", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault clock-step c1; @33; crash c3", Options{}, "0s"},
		{"another's pause does not", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault pause c2; @33; crash c3", stopping, "0s"},
		{"unless the options say so", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault clock-step c1; @33; ok 2", Options{Stopping: []string{"clock-step"}}, "13ms 20-33 c2 unheld 0s"},
		{"and not what they leave out", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @20; fault pause c1; @33; crash c3", Options{}, "0s"},
		{"an empty section does not stop the time, its grant does", "@5; c1 acquire 1; @5; c2 acquire 2; @10; expire 1; @12; ok 1; @33; ok 2", Options{}, "21ms 12-33 c2"},
		{"a grant beside a stopped section", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @6; c3 acquire 3; @7; fault pause c1; @10; ok 2; @20; c2 release 4 of 2; @25; ok 3", stopping, "5ms 20-25 c3 unheld 0s"},
		{"while any section is on", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @6; ok 2; @7; c3 acquire 3; @10; expire 1; @20; expire 2; @25; ok 3", Options{}, "5ms 20-25 c3"},
		{"asked by one after the other", "@5; c1 acquire 1; @8; c2 acquire 2; @9; fail 1; @14; fail 2; @30; crash c3", Options{}, "9ms 5-14 c1,c2"},
		{"with a gap between", "@5; c1 acquire 1; @8; fail 1; @9; c2 acquire 2; @14; fail 2; @30; crash c3", Options{}, "5ms 9-14 c2"},
		{"the first of equals", "@5; c1 acquire 1; @9; fail 1; @11; c2 acquire 2; @15; fail 2", Options{}, "4ms 5-9 c1"},
		{"a retry at once", "@5; c1 acquire 1; @8; fail 1; @8; c1 acquire 2; @14; ok 2", Options{}, "9ms 5-14 c1"},
		{"a third try", "@5; c1 acquire 1; @8; fail 1; @8; c1 acquire 2; @14; unknown 2; @14; c1 acquire 3; @16; ok 3", Options{}, "11ms 5-16 c1"},
		{"a retry after a gap", "@5; c1 acquire 1; @8; fail 1; @11; c1 acquire 2; @15; ok 2", Options{}, "4ms 11-15 c1"},
		{"one that gives up early counts for as long as it was to wait", "@5; c1 acquire 1; @9; fail 1 early 10; @30; crash c2", Options{}, "14ms 5-19 c1"},
		{"up to the end of the run", "@5; c1 acquire 1; @9; fail 1 early 100; @30; crash c2", Options{}, "25ms 5-30 c1"},
		{"behind the last event", "@5; c1 acquire 1; @9; fail 1 early 10", Options{End: 50e6}, "14ms 5-19 c1"},
		{"while nobody has the lock", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @9; fail 2 early 20; @15; c1 release 3 of 1; @50; crash c2", Options{}, "14ms 15-29 c2"},
		{"until its next call", "@5; c1 acquire 1; @9; fail 1 early 30; @15; c1 acquire 2; @15; ok 2; @50; crash c1", Options{}, "10ms 5-15 c1"},
		{"until its crash", "@5; c1 acquire 1; @9; fail 1 early 30; @15; crash c1; @50; crash c2", Options{}, "10ms 5-15 c1"},
		{"not until another's crash", "@5; c1 acquire 1; @9; fail 1 early 30; @15; crash c2; @50; crash c2", Options{}, "34ms 5-39 c1"},
		{"at a moment without an event, when another asks later", "@5; c1 acquire 1; @9; fail 1 early 10; @25; c2 acquire 2; @28; ok 2", Options{}, "14ms 5-19 c1"},
		{"and when another asks before", "@5; c1 acquire 1; @9; fail 1 early 10; @15; c2 acquire 2; @28; ok 2", Options{}, "23ms 5-28 c1,c2"},
		{"a retry at once that gives up early", "@5; c1 acquire 1; @8; fail 1 early 30; @8; c1 acquire 2; @14; fail 2 early 6; @50; crash c1", Options{}, "15ms 5-20 c1"},
		{"on another resource", "@5; c1 acquire 1 a; @5; ok 1; @6; c2 acquire 2; @9; ok 2; @20; expire 1", Options{}, "3ms 6-9 c2"},
	} {
		r, err := Check(script(t, c.script), c.o)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		got := "0s"
		for _, m := range r.Resources {
			if u := m.Unavailable; m.Name == "r" && u.For > 0 {
				got = fmt.Sprintf("%v %d-%d %s", u.For, u.From/1e6, u.To/1e6, strings.Join(u.Clients, ","))
				if m.Unheld != u.For {
					got += fmt.Sprintf(" unheld %v", m.Unheld)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}
