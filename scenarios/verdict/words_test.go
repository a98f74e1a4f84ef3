package verdict_test

import (
	"strings"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// What people are told of runs of the catalogue: that a lock is stuck for ever, or breaks as somebody has published, is not to
// be taken for a lock that holds.
func TestWords(t *testing.T) {
	for _, c := range []struct{ name, expected, says, headline string }{
		{"01-setnx-then-expire/a-minute", "stuck, leaks R", "stuck, leaks R", "stuck, leaks R, as published"},
		{"01-setnx-then-expire/an-hour", "stuck, leaks R, unavailable for 1h0m0s to 1h0m1s", "stuck, leaks R, unavailable for 1h0m1s",
			"stuck, leaks R, unavailable for 1h0m1s, as published"},
		{"05-single-instance/healthy", "holds", "holds", "holds, as expected"},
		{"05-single-instance/down-for-good", "stuck", "stuck", "stuck, as published"},
		{"42-stuck-holder/two-minutes-without-limit", "stuck, unavailable for 1m58s", "stuck, unavailable for 1m58s", "stuck, unavailable for 1m58s, as published"},
		{"16-failed-acquire-cleans-up-with-del/parallel", "two holders (lease-overlap), breaks a promise (conduct)",
			"two holders (lease-overlap), breaks a promise (conduct)", "two holders (lease-overlap), breaks a promise (conduct): breaks, as published"},
		{"17-clock-jump", "two holders (lease-overlap), beyond the budget", "two holders (lease-overlap)", "two holders (lease-overlap): breaks, as published"},
		{"35-fencing-and-reads/before-the-first-effect", "holds (accepted-after-expiry)", "holds (accepted-after-expiry)", "holds (accepted-after-expiry), as expected"},
		{"90-failed-attempt-leaves-its-votes", "leaks (leftover), unavailable for 9s to 9.3s", "leaks (leftover), unavailable for 9.13s",
			"leaks (leftover), unavailable for 9.13s, as published"},
	} {
		s := scenariotest.Named(t, c.name)
		r, err := verdict.Verify(s, scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Says() != c.expected || r.Says() != c.says || r.Headline() != c.headline {
			t.Errorf("%s\nexpects %q\nwant    %q\nsays    %q\nwant    %q\nheaded  %q\nwant    %q", c.name, s.Says(), c.expected, r.Says(), c.says, r.Headline(), c.headline)
		}
	}
}

// A file that is not in the catalogue is not published, what a search found is, and a lock of somebody's is beside Redlock.
func TestEnding(t *testing.T) {
	own := *scenariotest.Named(t, "17-clock-jump")
	found := own
	found.Recorded = &scenarios.Recorded{}
	wrong := own
	wrong.Expect.Findings = nil
	for _, c := range []struct {
		s    *scenarios.Scenario
		o    scenarios.Options
		want string
	}{
		{&own, scenarios.Options{}, "two holders (lease-overlap): breaks, as expected"},
		{&found, scenarios.Options{}, "two holders (lease-overlap): breaks, as the search found"},
		{&wrong, scenarios.Options{}, "two holders (lease-overlap), NOT AS EXPECTED"},
	} {
		r := scenariotest.Judged(t, c.s, c.o)
		if got := r.Headline(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// An observation stands beside what is worse, and what was found in a run that tests nothing comes before that.
func TestFindingsInWords(t *testing.T) {
	for want, f := range map[string]scenarios.Findings{
		"holds": nil,
		"two holders (lease-overlap), late write (stale-write), accepted-after-expiry": {checker.LeaseOverlap, checker.StaleWrite, checker.AcceptedAfterExpiry},
		"stuck (needlessly-unavailable), breaks a promise (contract)":                  {checker.Contract, checker.NeedlesslyUnavailable},
	} {
		if got := f.Says(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where two runs part is said by what clients were told, and by the steps only where they were told the same.
func TestFirstDifference(t *testing.T) {
	h := history.History{
		{Seq: 1, Time: 1e6, Kind: history.Call, Process: "c", Op: 1, Func: history.Acquire, Resource: "R"},
		{Seq: 2, Time: 2e6, Kind: history.Step, Process: "c", Op: 1, Name: "node-answered", Node: "A", Detail: "granted", Number: 1},
		{Seq: 3, Time: 3e6, Kind: history.Return, Process: "c", Op: 1, Func: history.Acquire, Resource: "R", Grant: 1, Outcome: history.OK, Span: 9e9, Token: 7},
		{Seq: 4, Time: 4e6, Kind: history.Effect, Process: "c", Op: 2, Func: history.Write, Resource: "R", Grant: 1, Outcome: history.OK, Number: 5},
	}
	for _, c := range []struct {
		change        func(history.History) history.History
		first, second string
	}{
		{func(h history.History) history.History { return h }, "", ""},
		{func(h history.History) history.History {
			h[1].Detail, h[2].Outcome, h[2].Detail = "refused", history.Failed, "taken"
			return h
		}, "at 3ms c acquire-done (", "at 3ms c acquire-failed ("},
		{func(h history.History) history.History { h[1].Detail = "refused"; return h }, `"detail":"granted"`, `"detail":"refused"`},
		{func(h history.History) history.History { h[3].Outcome = history.Failed; return h }, `"outcome":"ok","number":5`, `"outcome":"fail","number":5`},
		{func(h history.History) history.History { h[2].Time++; return h }, "at 3ms c acquire-done (", "at 3.000001ms c acquire-done ("},
		{func(h history.History) history.History { h[3].Op = 9; return h }, `"op":2`, `"op":9`},
		{func(h history.History) history.History { return h[:3] }, "at 4ms c write-effect (", "nothing more happens"},
	} {
		other := c.change(append(history.History(nil), h...))
		got := verdict.FirstDifference(h, other)
		first, second, _ := strings.Cut(got, ", and in the second ")
		if !strings.Contains(first, c.first) || !strings.Contains(second, c.second) || (c.first == "") != (got == "") {
			t.Errorf("%s\nwant %s and %s", got, c.first, c.second)
		}
	}
}
