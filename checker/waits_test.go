package checker

import (
	"fmt"
	"testing"
)

func TestAttempts(t *testing.T) {
	for _, c := range []struct {
		rule, script string
		o            Options
		want         string
	}{
		{"nobody asks", "@5; crash c1", Options{}, "0 "},
		{"an acquire is one", "@5; c1 acquire 1; @9; ok 1", Options{}, "1 c1 5-9 true"},
		{"also one that fails", "@5; c1 acquire 1; @9; fail 1", Options{}, "1 c1 5-9 false"},
		{"the steps count them", "@5; c1 acquire 1; step 1 =1; step 1 =2; step 1 =2; step 1 =3; @12; ok 1", Options{}, "3 c1 5-12 true"},
		{"not those of a late answer", "@5; c1 acquire 1; step 1 =1; @9; fail 1; step 1 =2; @20; crash c2", Options{}, "1 c1 5-9 false"},
		{"never granted", "@5; c1 acquire 1; step 1 =2", Options{End: 50e6}, "2 c1 5-50 false"},
		{"retries add up", "@5; c1 acquire 1; step 1 =2; @9; fail 1; @9; c1 acquire 2; step 2 =3; @14; ok 2", Options{}, "5 c1 5-14 true"},
		{"after a gap they do not", "@5; c1 acquire 1; step 1 =2; @9; fail 1; @12; c1 acquire 2; step 2 =3; @14; ok 2", Options{}, "3 c1 12-14 true"},
		{"the most of all, the first of equals", "@5; c1 acquire 1; @6; c2 acquire 2; @7; c3 acquire 3; step 2 =2; step 3 =2; @12; ok 2; @13; ok 3; @14; ok 1", Options{}, "2 c2 6-12 true"},
	} {
		if got := counted(measured(t, c.script, c.o).Attempts); got != c.want {
			t.Errorf("%s: %s, want %s", c.rule, got, c.want)
		}
	}
}

func counted(c Count) string {
	if c.Wait == (Wait{}) {
		return fmt.Sprint(c.Number, " ")
	}
	return fmt.Sprintf("%d %s %d-%d %v", c.Number, c.Wait.Process, c.Wait.From/1e6, c.Wait.To/1e6, c.Wait.Granted)
}
