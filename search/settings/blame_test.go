package settings

import (
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/faults"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
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
		"41-extend-re-creates/sets":                                  "it is found with settings within their limits, too: the lock's code is wrong",
		"90-failed-attempt-leaves-its-votes":                         "no fault and no setting excuses it: the lock's code is wrong",
		"70-locks-in-opposite-orders/unchecked":                      "a client is to blame",
		"47-consensus/cut-off-client-until-told":                     "the lock is wrong, in its code or its settings",
	} {
		if got := blamed(t, scenariotest.Named(t, name)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func blamed(t *testing.T, s *scenarios.Scenario) string {
	t.Helper()
	r := scenariotest.Judged(t, s, scenarios.Options{})
	if r.Defect() == nil {
		t.Fatalf("%s: nothing is found", s.Name)
	}
	return Blame(r, r.Defect())
}

// What the budget allows and did not go wrong is no excuse: neither a wide budget nor a setting that another fault would have
// taken to account makes the code right. Nor does a setting that is short where what is found does not come from it, be it of
// the holders, the nodes' keys, the resource or the tokens, by which the resource goes.
func TestBlameGoesByWhatWentWrong(t *testing.T) {
	seen := map[checker.Kind]bool{}
	for _, name := range []string{"16-failed-acquire-cleans-up-with-del/parallel", "40-careless-renewal/one-node", "41-extend-re-creates/sets", "36-careless-tokens/highest-of-a-quorum"} {
		s := *scenariotest.Named(t, name)
		s.Budget.ClockRate, s.Budget.MemoryLoss = faults.PPM(100_000), 2
		protocols.Change(&s.Lock, func(d *protocols.DriftSettings) { d.Drift.Constant = 0 })
		r := scenariotest.Judged(t, &s, scenarios.Options{})
		for i := range r.Report.Findings {
			f := &r.Report.Findings[i]
			if seen[f.Kind] = true; !f.Excusable() {
				continue
			}
			if got := Blame(r, f); got != "it is found with settings within their limits, too: the lock's code is wrong" {
				t.Errorf("%s, %s: %s", name, f.Kind, got)
			}
		}
	}
	for _, kind := range []checker.Kind{checker.LeaseOverlap, checker.Contract, checker.Unprotected, checker.LostUpdate, checker.TokenRegressed, checker.HolderRefused} {
		if !seen[kind] {
			t.Errorf("no run shows %s", kind)
		}
	}
}

// What no fault excuses can come from the clock that clients measure with, and a resource can be wrong by itself.
func TestBlameOfClockAndResource(t *testing.T) {
	for want, text := range map[string]string{
		"the settings are to blame: clients measure with a wall clock (clock: wall), which was stepped by 300ms": "lock: {ttl: 2s, clock: wall, drift: {constant: 502ms}}\nbudget: {clock-step: 500ms}\n" +
			"timeline:\n  - {at: 0s, client: client-1, do: [lock, {sleep: 1300ms}, {renew: 300ms}]}\n  - {at: 300ms, fault: {clock-step: {process: client-1, by: -300ms}}}\n",
		"the resource is to blame, which refuses its rightful holder": "lock: {fencing: true}\nstorage: table\ntimeline:\n  - {at: 0s, client: client-1, do: [lock, write, write, unlock]}\n",
	} {
		if got := blamed(t, scenariotest.Given(t, text)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
