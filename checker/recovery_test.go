package checker

import (
	"fmt"
	"testing"
)

func TestAfterHealing(t *testing.T) {
	for _, c := range []struct {
		rule, script string
		o            Options
		want         string
	}{
		{"no healing", "@5; c1 acquire 1; @9; ok 1", Options{}, ""},
		{"nobody asks after it", "@5; c1 acquire 1; @9; ok 1; @10; fault heal -; @20; crash c2", Options{}, ""},
		{"from the healing to the grant", "@5; c1 acquire 1; @10; fault heal -; @19; ok 1; @30; crash c2", Options{}, "c1 10-19 true"},
		{"from the first wait after it", "@5; fault heal -; @10; c1 acquire 1; @19; ok 1; @30; crash c2", Options{}, "c1 10-19 true"},
		{"the slowest", "@5; c1 acquire 1; @6; c2 acquire 2; @10; fault heal -; @13; ok 2; @19; ok 1; @30; crash c3", Options{}, "c1 10-19 true"},
		{"the first of equals", "@5; c2 acquire 2; @10; fault heal -; @13; ok 2; @15; c1 acquire 1; @18; ok 1", Options{}, "c2 10-13 true"},
		{"the first grant of each", "@5; c1 acquire 1; @10; fault heal -; @12; ok 1; @13; c1 acquire 2; @30; ok 2", Options{}, "c1 10-12 true"},
		{"whoever tries again", "@5; c1 acquire 1; @10; fault heal -; @12; fail 1; @20; c1 acquire 2; @25; ok 2", Options{}, "c1 10-25 true"},
		{"until it stops asking", "@5; c1 acquire 1; @10; fault heal -; @12; fail 1; @20; c1 acquire 2; @25; fail 2; @30; crash c2", Options{}, "c1 10-25 false"},
		{"until the run ends", "@5; c1 acquire 1; @10; fault heal -", Options{End: 50e6}, "c1 10-50 false"},
		{"the last healing", "@5; c1 acquire 1; @10; fault heal -; @12; fault heal -; @19; ok 1", Options{}, "c1 12-19 true"},
	} {
		got := ""
		if w := measured(t, c.script, c.o).AfterHealing; w != (Wait{}) {
			got = fmt.Sprintf("%s %d-%d %v", w.Process, w.From/1e6, w.To/1e6, w.Granted)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}
