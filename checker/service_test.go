package checker

import "testing"

func TestBypass(t *testing.T) {
	for _, c := range []struct {
		rule, script      string
		o                 Options
		bypass, overtakes string
		fairness          float64
	}{
		{"nobody asks", "@5; crash c1", Options{}, "0 ", "0 ", 0},
		{"nobody else asks", "@5; c1 acquire 1; @9; ok 1", Options{}, "0 ", "0 ", 1},
		{"in order", "@1; c1 acquire 1; c2 acquire 2; c3 acquire 3; @5; ok 1; @6; ok 2; @7; ok 3", Options{}, "2 c3 3-7 true", "0 ", 1},
		{"one overtakes", "@1; c1 acquire 1; c2 acquire 2; c3 acquire 3; @5; ok 1; @6; ok 3; @7; ok 2", Options{}, "2 c2 2-7 true", "1 c2 2-7 true", 1},
		{"one overtakes twice", "@1; c1 acquire 1; @2; c2 acquire 2; @3; ok 2; @4; c2 acquire 4; @5; ok 4; @7; ok 1", Options{}, "2 c1 1-7 true", "2 c1 1-7 true", 0.9},
		{"who is never granted", "@1; c1 acquire 1; @2; c2 acquire 2; @3; ok 2; @4; c2 acquire 4; @5; ok 4", Options{End: 50e6}, "2 c1 1-50 false", "2 c1 1-50 false", 0.5},
		{"who gave up in the meantime", "@1; c1 acquire 1; @2; c2 acquire 2; @3; fail 1; @5; ok 2", Options{}, "0 ", "0 ", 0.5},
		{"who gives up later", "@1; c1 acquire 1; @2; c2 acquire 2; @5; ok 2; @6; fail 1", Options{}, "1 c1 1-6 false", "1 c1 1-6 false", 0.5},
		{"grants before it asked", "@1; c2 acquire 2; @2; ok 2; @3; c1 acquire 1; @5; ok 1", Options{}, "0 ", "0 ", 1},
		{"failures of others", "@1; c1 acquire 1; @2; c2 acquire 2; @3; fail 2; @5; ok 1", Options{}, "0 ", "0 ", 0.5},
		{"another resource", "@1; c1 acquire 1; @2; c2 acquire 2 a; @3; ok 2; @5; ok 1", Options{}, "0 ", "0 ", 1},
		{"a re-entrant grant", "@1; c1 acquire 1; @2; ok 1; @3; c2 acquire 2; @4; c1 acquire 3; @5; ok 3; @6; c1 release 4 of 3; @7; c1 release 5 of 1; @8; ok 2", Options{Reentrant: true}, "0 ", "0 ", 1},
		{"which it is not in these options", "@1; c1 acquire 1; @2; ok 1; @3; c2 acquire 2; @4; c1 acquire 3; @5; ok 3; @8; ok 2", Options{}, "1 c2 3-8 true", "1 c2 3-8 true", 0.9},
		{"no longer re-entrant after the release", "@1; c1 acquire 1; @2; ok 1; @3; c2 acquire 2; @4; c1 release 3 of 1; @5; c1 acquire 4; @6; ok 4; @8; ok 2", Options{Reentrant: true}, "1 c2 3-8 true", "1 c2 3-8 true", 0.9},
	} {
		m := measured(t, c.script, c.o)
		if bypass, overtakes := counted(m.Bypass), counted(m.Overtakes); bypass != c.bypass || overtakes != c.overtakes || m.Fairness != c.fairness {
			t.Errorf("%s: bypass %s, overtakes %s, fairness %v, want %s, %s and %v", c.rule, bypass, overtakes, m.Fairness, c.bypass, c.overtakes, c.fairness)
		}
	}
}
