package sweep_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"redlocksim/search/sweep"
)

// run makes a sweep that must not fail.
func run(t *testing.T, s sweep.Spec) *sweep.Chart {
	t.Helper()
	c, err := sweep.Run(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func preset(t *testing.T, name string, axes ...string) sweep.Spec {
	t.Helper()
	s, err := sweep.Preset(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range axes {
		s.Vary(axis(t, text))
	}
	return s
}

func axis(t *testing.T, text string) sweep.Axis {
	t.Helper()
	a, err := sweep.ParseAxis(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The frontier that is found lies where the formulas of the literature put it: neighbours in the finest step are on
// different sides of the formula.
func TestFrontiersAgreeWithTheFormulas(t *testing.T) {
	names, _ := sweep.Presets()
	for _, name := range names {
		for _, bisect := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/%t", name, bisect), func(t *testing.T) {
				s := preset(t, name)
				s.Bisect = bisect
				c := run(t, s)
				both := 0
				for _, r := range c.Frontier {
					if r.Agrees != sweep.Agrees {
						t.Errorf("%v: safe %s, broken %s, formula %s", r.At, r.Safe, r.Broken, r.Formula)
					}
					if r.Safe != "" && r.Broken != "" {
						both++
					}
				}
				if both*2 < len(c.Frontier) {
					t.Errorf("only %d of %d rows have both sides", both, len(c.Frontier))
				}
			})
		}
	}
}

// What the frontiers are, worked out by hand from the arithmetic of the literature and not with the formulas of this
// package: neighbours on either side.
func TestFrontiersByHand(t *testing.T) {
	for _, c := range []struct {
		preset       string
		axes         []string
		at           string
		safe, broken string
	}{
		// 1 − 0.9/1.1 = 18.1818…% of the TTL; 1 − 0.99/1.01 = 1.980198…%.
		{"drift", nil, "10%", "18.1819%", "18.1818%"},
		{"drift", nil, "1%", "1.9802%", "1.9801%"},
		// What a step takes off the nodes' clocks the allowance has to give back.
		{"clock-step", nil, "500ms", "500ms", "499ms"},
		// 10 s less 1 % and 2 ms.
		{"restart", nil, "10s", "9.898s", "9.897s"},
		// Of 2 s less 22 ms on a clock that is slow by 10 %: 1978 / 0.9 = 2197.78 ms.
		{"restart", []string{"budget.clock-rate=10%", "lock.ttl=2s"}, "10% 2s", "2.198s", "2.197s"},
		// A second grant needs k + q − N of k = q nodes: of 5, with quorum 3 one, with 4 three, with 5 all.
		{"quorum", nil, "5 2", "4", "3"},
		{"quorum", nil, "5 3", "5", "4"},
		{"quorum", nil, "7 6", "7", "6"},
		// The guard is the pause.
		{"pause", nil, "10s 2s", "2s", "1.999s"},
		// With ±10 % an allowance of 1818.2 ms leaves nothing between the end of the belief and the second grant, and for the
		// holder's clock two seconds are 1.8 s: 10000 − (10000/1.1 − 2000) × 0.9 − 1818.2 = 1800.
		{"pause", []string{"budget.clock-rate=10%", "lock.drift.factor=18.181818182%", "lock.ttl=10s"}, "18.181818182% 10% 10s 2s", "1.8s", "1.799s"},
		// An answer at the moment of the timeout is too late.
		{"timeout", nil, "25ms", "51ms", "50ms"},
	} {
		s := preset(t, c.preset, c.axes...)
		s.Bisect = true
		found := false
		for _, r := range run(t, s).Frontier {
			if strings.Join(r.At, " ") == c.at {
				found = true
				if r.Safe != c.safe || r.Broken != c.broken {
					t.Errorf("%s %s: safe %s, broken %s; want %s and %s", c.preset, c.at, r.Safe, r.Broken, c.safe, c.broken)
				}
			}
		}
		if !found {
			t.Errorf("%s: no row %s", c.preset, c.at)
		}
	}
}

// With messages that take 5 ms one way the second client is granted 10 ms after it asks, which is as good as 9 ms more
// allowance on a clock that is slow by 10 %: 10000 − (10000/1.1 + 10) × 0.9 = 1809.18 ms. (The 1808.8 ms of the
// literature's arithmetic are for a request that lands when Redis' clock goes on to a new millisecond.)
func TestDelayedMessages(t *testing.T) {
	s := preset(t, "clock-step", "budget.clock-step=0s", "budget.clock-rate=10%", "network.latency=5ms", "lock.drift.constant=0s,3s")
	s.Bisect = true
	c := run(t, s)
	if r := c.Frontier[0]; r.Safe != "1.81s" || r.Broken != "1.809s" || r.Agrees != sweep.Stricter || !strings.HasPrefix(r.Difference, "-8.18") {
		t.Errorf("%+v", r)
	}
}

func TestNodesThatKeepTheirMemory(t *testing.T) {
	s := preset(t, "restart", "nodes.persistence=every-second,always")
	s.Bisect = true
	for _, r := range run(t, s).Frontier {
		if keeps := r.At[0] == "always"; keeps != (r.Broken == "") && r.At[len(r.At)-1] != "0" {
			t.Errorf("%v: safe %s, broken %s", r.At, r.Safe, r.Broken)
		}
	}
	// What is on a disk does not help against an eviction.
	s = preset(t, "quorum", "nodes.persistence=none,always", "nodes.count=5")
	s.Bisect = true
	rows := run(t, s).Frontier
	for i, r := range rows[:len(rows)/2] {
		if o := rows[len(rows)/2+i]; r.Safe != o.Safe || r.Broken != o.Broken || r.Agrees != o.Agrees {
			t.Errorf("%+v, and with a disk %+v", r, o)
		}
	}
}

// A resource that refuses what comes late needs no guard time, so that the formula is not about it, and nothing contradicts it;
// one that takes it needs what the formula says.
func TestGuardTimeByTheResource(t *testing.T) {
	for _, kind := range []string{"register", "fenced", "fenced-writes", "table"} {
		s := preset(t, "pause", "storage="+kind, "lock.fencing=true", "lock.ttl=5s", "adversary.pause=2s")
		s.Bisect = true
		c := run(t, s)
		r, refuses := c.Frontier[0], kind != "register"
		if c.Count(sweep.Disagrees) > 0 || refuses != (r.Broken == "") || refuses != (r.Formula == "") || refuses != strings.HasSuffix(r.Note, "the formula is not about these settings") {
			t.Errorf("%s: %+v", kind, r)
		}
	}
}

// The difference is Safe less the formula, exactly.
func TestDifference(t *testing.T) {
	s := preset(t, "restart", "lock.ttl=10s", "budget.restart-delay=0s:12s:5s")
	r := run(t, s).Frontier[0]
	if r.Safe != "10s" || r.Broken != "5s" || r.Formula != "9.898s" || r.Difference != "102ms" || r.Agrees != sweep.Agrees {
		t.Errorf("%+v", r)
	}
	s = preset(t, "drift", "budget.clock-rate=10%", "lock.drift.factor=0%:17%:1%")
	r = run(t, s).Frontier[0]
	if want := decimal.RequireFromString("18.1818181818"); r.Safe != "" || r.Broken != "17%" || r.Agrees != sweep.Agrees ||
		decimal.RequireFromString(strings.TrimSuffix(r.Formula, "%")).Sub(want).Abs().GreaterThan(decimal.New(1, -6)) {
		t.Errorf("%+v", r)
	}
}
