package checker

import (
	"fmt"
	"testing"
)

// measured is what Check measures on the resource r.
func measured(t *testing.T, text string, o Options) Resource {
	t.Helper()
	r, err := Check(script(t, text), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range r.Resources {
		if m.Name == "r" {
			return m
		}
	}
	return Resource{}
}

// stopping are options with the faults of a run.
var stopping = Options{Stopping: []string{"pause", "cut-off"}}

func TestTakeover(t *testing.T) {
	const held = "@5; c1 acquire 1; @5; ok 1; @10; c2 acquire 2; "
	for _, c := range []struct {
		rule, script string
		o            Options
		want         string
	}{
		{"nobody holds", "@5; c1 acquire 1; @9; crash c1; @20; c2 acquire 2; @25; ok 2", Options{}, "none"},
		{"the holder releases", held + "@20; c1 release 3 of 1; @21; ok 3; @22; ok 2; @30; crash c1", Options{}, "none"},
		{"a crash", held + "@20; crash c1; @33; ok 2", Options{}, "c1 13ms 20-33 c2"},
		{"the lease ended before", held + "@15; expire 1; @20; crash c1; @33; ok 2", Options{}, "none"},
		{"the release was called before", held + "@19; c1 release 3 of 1; @20; crash c1; @33; ok 2", Options{}, "none"},
		{"the lease ends after", held + "@20; crash c1; @25; expire 1; @33; ok 2", Options{}, "c1 13ms 20-33 c2"},
		{"cut off for good", held + "@20; fault cut-off c1; @25; c1 release 3 of 1; @28; unknown 3; @33; ok 2", stopping, "c1 13ms 20-33 c2"},
		{"cut off for a while", held + "@20; fault cut-off c1; @25; c1 release 3 of 1; @28; ok 3; @33; ok 2", stopping, "none"},
		{"stopped for good", held + "@20; fault pause c1; @33; ok 2", stopping, "c1 13ms 20-33 c2"},
		{"stopped for longer than the lease", held + "@20; fault pause c1; @33; ok 2; @40; c1 release 3 of 1; @44; fail 3", stopping, "c1 13ms 20-33 c2"},
		{"a fault that does not stop it", held + "@20; fault clock-step c1; @33; ok 2", Options{}, "none"},
		{"one that does in these options", held + "@20; fault stuck c1; @33; ok 2", Options{Stopping: []string{"stuck"}}, "c1 13ms 20-33 c2"},
		{"another's crash", held + "@20; crash c3; @33; ok 2", Options{}, "none"},
		{"from the first who asks", "@5; c1 acquire 1; @5; ok 1; @20; crash c1; @30; c2 acquire 2; @33; ok 2", Options{}, "c1 3ms 30-33 c2"},
		{"nobody else asks", "@5; c1 acquire 1; @5; ok 1; @20; crash c1; @40; crash c3", Options{}, "none"},
		{"who asked before does not count", "@5; c1 acquire 1; @5; ok 1; @6; c2 acquire 2; @8; fail 2; @20; crash c1; @40; crash c3", Options{}, "none"},
		{"until the next grant, whoever's", held + "@12; c3 acquire 3; @20; crash c1; @30; ok 3; @32; c3 release 4 of 3; @33; ok 2", Options{}, "c1 10ms 20-30 c3"},
		{"not the holder's own", held + "@20; fault pause c1; @25; c1 acquire 3; @28; ok 3; @33; ok 2", stopping, "c1 13ms 20-33 c2"},
		{"until the last gives up", held + "@12; c3 acquire 3; @20; crash c1; @30; fail 3; @33; fail 2; @50; crash c4", Options{}, "c1 13ms 20-33 -"},
		{"until the run ends", held + "@20; crash c1", Options{End: 50e6}, "c1 30ms 20-50 -"},
		{"over the time in which nobody asks", held + "@20; crash c1; @25; fail 2; @30; c2 acquire 3; @33; ok 3", Options{}, "c1 13ms 20-33 c2"},
		{"another section is on", held + "@12; ok 2; @20; crash c1; @25; c3 acquire 4; @33; ok 4", Options{}, "none"},
		{"another section was on from before", "@4; c2 acquire 2; @4; ok 2; @5; c1 acquire 1; @5; ok 1; @20; crash c1; @25; c3 acquire 4; @33; ok 4", Options{}, "none"},
		{"another section began and ended before", held + "@12; ok 2; @15; expire 2; @20; crash c1; @25; c3 acquire 4; @33; ok 4", Options{}, "c1 8ms 25-33 c3"},
		{"the longest", held + "@20; crash c1; @25; ok 2; @26; c3 acquire 3; @30; crash c2; @42; ok 3", Options{}, "c2 12ms 30-42 c3"},
		{"the first of equals", held + "@20; crash c1; @25; ok 2; @26; c3 acquire 3; @30; crash c2; @35; ok 3", Options{}, "c1 5ms 20-25 c2"},
		{"re-entrant holds are one", "@5; c1 acquire 1; @5; ok 1; @6; c1 acquire 2; @6; ok 2; @10; c2 acquire 3; @20; crash c1; @33; ok 3", Options{Reentrant: true}, "c1 13ms 20-33 c2"},
	} {
		got := "none"
		if m := measured(t, c.script, c.o).Takeover; m.Process != "" {
			by := m.By
			if by == "" {
				by = "-"
			}
			got = fmt.Sprintf("%s %v %d-%d %s", m.Process, m.For, m.From/1e6, m.To/1e6, by)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}
