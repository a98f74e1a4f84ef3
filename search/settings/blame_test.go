package settings

import (
	"strings"
	"testing"

	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Who is to blame for what the catalogue shows within the budget: a setting only if what went wrong in that very run is more
// than it covers, and otherwise the lock's code.
func TestBlame(t *testing.T) {
	for name, want := range map[string]string{
		"22-clock-rates/not-covered":                                 "the settings are to blame: the drift allowance does not cover clocks that are wrong by 10%",
		"20-client-clock-steps-back/wall":                            "the settings are to blame: clients measure with a wall clock",
		"21-suspended-host/monotonic":                                "the settings are to blame: the clients' clock stands still",
		"30-restart-guard-and-clock-steps/forward-trusting-the-node": "the settings are to blame: a quorum of 3 of 5 nodes does not bear that 1 forget",
		"116-late-failover/too-early":                                "the settings are to blame: nodes that forgot their votes come back after 2s",
		"76-guard-time/without":                                      "the settings are to blame: a write can land 2.005s after",
		"86-counters-that-expire/too-soon":                           "the settings are to blame: nodes forget fencing counters after 10s",
		"122-busy-wait/settings":                                     "the settings are to blame: clients wait for at most 1µs",
		"16-failed-acquire-cleans-up-with-del/parallel":              "the settings are within their limits: the lock's code is wrong",
		"40-careless-renewal/one-node":                               "the settings are within their limits: the lock's code is wrong",
		"41-extend-re-creates/sets":                                  "the settings are within their limits: the lock's code is wrong",
		"90-failed-attempt-leaves-its-votes":                         "no fault and no setting excuses it: the lock's code is wrong",
		"70-locks-in-opposite-orders/unchecked":                      "a client is to blame",
		"47-consensus/cut-off-client-until-told":                     "the lock is wrong, in its code or its settings",
	} {
		s, is := scenarios.Find(name)
		if !is {
			t.Fatalf("there is no %s", name)
		}
		if got := blamed(t, s); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func blamed(t *testing.T, s *scenarios.Scenario) string {
	t.Helper()
	r, err := scenarios.Judge(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Defect() == nil {
		t.Fatalf("%s: nothing is found", s.Name)
	}
	return Blame(r, r.Defect())
}

// What the budget allows and did not go wrong is no excuse: neither a wide budget nor a setting that another fault would have
// taken to account makes the code right.
func TestBlameGoesByWhatWentWrong(t *testing.T) {
	found, _ := scenarios.Find("40-careless-renewal/one-node")
	s := *found
	s.Budget.ClockRate, s.Budget.MemoryLoss = faults.PPM(100_000), 2
	protocols.Change(&s.Lock, func(d *protocols.DriftSettings) { d.Drift.Constant = 0 })
	if got := blamed(t, &s); got != "the settings are within their limits: the lock's code is wrong" {
		t.Error(got)
	}
}
