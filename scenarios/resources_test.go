package scenarios_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/checker"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
	"redlocksim/sim/history"
)

// withSteps is a scenario file with two resources in which one client does something.
func withSteps(do, more string) string {
	return `clients: [c1, c2]
resources: [invoices, orders]
` + more + `timeline:
  - {at: 0s, client: c1, ` + do + `}
expect: {findings: safe, unavailable: {at-most: 1m}}
`
}

// told is the calls, returns and ends of belief of a history, one a line.
func told(h history.History, of string) string {
	var b strings.Builder
	for _, e := range h {
		if e.Process == of && (e.Kind == history.Call || e.Kind == history.Return || e.Kind == history.Expire) {
			fmt.Fprintf(&b, "%s %s %s op %d grant %d with %d %s\n", e.Kind, e.Func, e.Resource, e.Op, e.Grant, e.With, e.Outcome)
		}
	}
	return b.String()
}

func run(t *testing.T, file string) (*scenarios.Scenario, *scenarios.Outcome, checker.Report) {
	t.Helper()
	s := scenariotest.Given(t, file)
	var first *scenarios.Outcome
	for _, tier := range scenarios.Tiers() {
		out := scenariotest.Ran(t, s, scenarios.Options{Tier: tier})
		if first == nil {
			first = out
		} else if d := verdict.FirstDifference(first.History, out.History); d != "" {
			t.Errorf("tier %s: %s", tier, d)
		}
	}
	report, err := checker.Check(first.History, s.CheckOptions())
	if err != nil {
		t.Fatal(err)
	}
	return s, first, report
}

// TestLockOnSeveralResources: it is one call, and a grant on each.
func TestLockOnSeveralResources(t *testing.T) {
	_, out, report := run(t, withSteps("do: [{lock: [orders, invoices]}, {write: invoices}, extend: 5s, unlock]", ""))
	const want = `call acquire orders op 1 grant 0 with 1 
call acquire invoices op 2 grant 0 with 1 
return acquire orders op 1 grant 1 with 1 ok
return acquire invoices op 2 grant 2 with 1 ok
call write invoices op 3 grant 2 with 0 
return write invoices op 3 grant 2 with 0 ok
call extend orders op 4 grant 1 with 4 
call extend invoices op 5 grant 2 with 4 
return extend orders op 4 grant 1 with 4 ok
return extend invoices op 5 grant 2 with 4 ok
call release orders op 6 grant 1 with 6 
call release invoices op 7 grant 2 with 6 
return release orders op 6 grant 1 with 6 ok
return release invoices op 7 grant 2 with 6 ok
`
	if got := told(out.History, "c1"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(report.Resources) != 2 || report.Grants != 2 {
		t.Errorf("%+v", report.Resources)
	}
	if !slices.ContainsFunc(out.History, func(e history.Event) bool {
		return e.Kind == history.Step && e.Name == "granted" && e.Resource == "orders, invoices" && e.Op == 1
	}) {
		t.Error("the step of the grant does not name both resources")
	}
}

// TestAttemptsOfALockOnSeveralResources: they count on each.
func TestAttemptsOfALockOnSeveralResources(t *testing.T) {
	_, _, report := run(t, strings.Replace(withSteps("do: [{lock: orders}, hold: 1s, unlock]", ""), "timeline:\n",
		"timeline:\n  - {at: 100ms, client: c2, do: [{lock: [invoices, orders]}, unlock]}\n", 1))
	for _, m := range report.Resources {
		if m.Attempts.Number < 3 {
			t.Errorf("%s: %d attempts", m.Name, m.Attempts.Number)
		}
	}
}

// TestWhatIsHeldIsGivenBack: a lock that is not granted ends the steps, and the locks around it are released.
func TestWhatIsHeldIsGivenBack(t *testing.T) {
	s, out, _ := run(t, strings.Replace(withSteps("do: [{lock: orders}, {lock: {resource: invoices, for: 1s}}, {write: orders}, unlock, unlock]", ""), "timeline:\n",
		"timeline:\n  - {at: 0s, client: c2, do: [{lock: invoices}, hold: 8s, unlock]}\n", 1))
	const want = `call acquire orders
return acquire orders ok
call acquire invoices
return acquire invoices fail
call release orders
return release orders ok
`
	got := ""
	for _, e := range out.History {
		if e.Process == s.Clients[0] && (e.Kind == history.Call || e.Kind == history.Return) {
			got += strings.TrimSpace(fmt.Sprintf("%s %s %s %s", e.Kind, e.Func, e.Resource, e.Outcome)) + "\n"
		}
	}
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestEveryProtocolOnTwoResources: two clients that want different resources are in nobody's way, and those that want the
// same one never have it at once.
func TestEveryProtocolOnTwoResources(t *testing.T) {
	for _, p := range protocols.All() {
		if p.Name == "get-set" {
			continue // two clients that look at the same time both find it free: scenario 02
		}
		file := fmt.Sprintf(`clients: [c1, c2, c3, c4]
resources: [orders, invoices]
lock: {protocol: %s}
timeline:
  - {at: 0s, client: c1, resource: orders, do: [lock, update, hold: 2s, update, unlock]}
  - {at: 100ms, client: c2, resource: invoices, do: [lock: 1s, update, hold: 2s, update, unlock]}
  - {at: 500ms, client: c3, resource: orders, do: [lock, update, hold: 2s, unlock]}
  - {at: 500ms, client: c4, resource: invoices, do: [lock, update, hold: 2s, unlock]}
duration: 1m
expect: {findings: safe, unavailable: {at-most: 20s}, grants: {c1: 1, c2: 1, c3: 1, c4: 1}}
`, p.Name)
		s, out, report := run(t, file)
		if !report.Passed() || len(report.Resources) != 2 {
			t.Errorf("%s: %v", p.Name, report.Findings)
		}
		for _, e := range out.History {
			if e.Process == "c2" && e.Kind == history.Return && e.Func == history.Acquire && (e.Outcome != history.OK || time.Duration(e.Time) > time.Second) {
				t.Errorf("%s: c2 is granted invoices at %v: %s %s", p.Name, time.Duration(e.Time), e.Outcome, e.Detail)
			}
		}
		r, err := verdict.Judge(s, scenarios.Options{})
		if err != nil || !r.OK() {
			t.Errorf("%s: %v %v", p.Name, err, r.Problems)
		}
	}
}
