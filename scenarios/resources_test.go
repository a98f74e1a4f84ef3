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
	"redlocksim/sim/history"
)

// withSteps is a scenario file with two resources in which one client does something.
func withSteps(do, more string) string {
	return `title: t
source: s
explanation: e
claim: holds
clients: [c1, c2]
resources: [invoices, orders]
` + more + `timeline:
  - {at: 0s, client: c1, ` + do + `}
expect: {findings: safe, unavailable: {at-most: 1m}}
`
}

// TestResourcesInFiles: what is wrong is told with its place and what would be right.
func TestResourcesInFiles(t *testing.T) {
	for _, x := range []struct{ do, more, want string }{
		{"do: [{lock: invoices}, {hold: 1s}, {unlock: invoices}]", "", ""},
		{"do: [{lock: [invoices, orders]}, {update: orders}, {write: invoices}, hold: 1s, unlock]", "", ""},
		{"resource: orders, do: [lock: 5s, update, {lock: {resource: invoices, for: 1s}}, write, {write: orders}, unlock, unlock]", "", ""},
		{"do: [{lock: invoices}, {lock: orders}, {unlock: invoices}, {extend: {resource: orders, for: 5s}}, {hold: {resource: orders, for: 1s}}, {renew: {resource: orders, for: 1s}}, unlock]", "", ""},
		{"do: [lock]", "", `timeline[0].do[0]: does not say which resource: there are several, as in "lock: invoices" "lock"`},
		{"do: [{lock: order}]", "", `timeline[0].do[0]: there is no such resource "order"; did you mean "orders"?`},
		{"resource: order, do: [lock]", "", `timeline[0].resource: there is no such resource "order"; did you mean "orders"?`},
		{"do: [{lock: [invoices, invoices]}]", "", `is listed twice "invoices"`},
		{"do: [{lock: []}]", "", "an empty list: name a resource"},
		{"do: [{lock: invoices}, {unlock: orders}]", "", `timeline[0].do[1]: is not what a lock is held on that was taken before, which is invoices "orders"`},
		{"do: [{lock: [orders, invoices]}, {unlock: orders}]", "", `is not what a lock is held on that was taken before, which is [orders, invoices] "orders"`},
		{"do: [{lock: [invoices, orders]}, write]", "", `does not say which resource: the lock is on several, as in "write: invoices" "write"`},
		{"do: [{lock: [invoices, orders]}, {write: [invoices, orders]}]", "", "write is on one resource"},
		{"do: [close]", "lock: {protocol: redlock-plain}\n", "protocol redlock-plain has no client that could be closed, only redlock has"},
		{"do: [{lock: [invoices, orders]}]", "lock: {protocol: redlock-plain}\n", "protocol redlock-plain cannot lock several resources at once; lock one after the other"},
		{"do: [{lock: invoices}, {sleep: orders}]", "", `timeline[0].do[1].sleep: sleep takes no resource "orders"`},
		{"do: [{try-lock: 5s}]", "resources: [R]\n", `takes no length "try-lock"`},
		{"do: [{lock: {for: 5s, resource: invoices}}, {hold: invoices}]", "", `needs a length, as in "hold: 5s" "hold"`},
		{"do: [{lock: {}}]", "", `want "resource", "for" or another key`},
		{"do: [{lock: invoices}], fault: {pause: {process: c1, for: 1s}}", "", "an item is either a fault or something that a client does"},
		{"do: [{lock: invoices}, {hold: 10 sec}]", "", "not a duration"},
	} {
		file := withSteps(x.do, x.more)
		if strings.HasPrefix(x.more, "resources") {
			file = strings.Replace(file, "resources: [invoices, orders]\n", "", 1)
		}
		_, err := scenarios.Parse("f.yaml", []byte(file))
		switch {
		case x.want == "" && err != nil:
			t.Errorf("%s: %v", x.do, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("%s: %v, expected %q", x.do, err, x.want)
		}
	}
}

// TestNamesOfResources: some cannot be told from a length, or from several names.
func TestNamesOfResources(t *testing.T) {
	for _, x := range []struct{ names, lock, want string }{
		{"[a, 'order:17', 'é']", "{}", ""},
		{"[a, a]", "{}", "there are two resources of this name"},
		{"[]", "{}", "0 resources, must be from 1 to 1000"},
		{"['']", "{}", "cannot be the name of a resource"},
		{"['10s']", "{}", "begins as a length does"},
		{"['a,b']", "{}", "it has a comma"},
		{"['redlock:token:x']", "{fencing: true}", "a name that fencing and the restart guard keep for themselves"},
		{"['x:token', x]", "{protocol: redlock-plain, tokens: one-node}", "a name that tokens are drawn from"},
	} {
		file := strings.Replace(withSteps("do: [sleep: 1s]", "lock: "+x.lock+"\n"), "[invoices, orders]", x.names, 1)
		_, err := scenarios.Parse("f.yaml", []byte(file))
		if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
			t.Errorf("%s: %v, expected %q", x.names, err, x.want)
		}
	}
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
	all, err := scenarios.Parse("f.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	var first *scenarios.Outcome
	for _, tier := range scenarios.Tiers() {
		out, err := scenarios.Run(s, scenarios.Options{Tier: tier})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out
		} else if d := scenarios.FirstDifference(first.History, out.History); d != "" {
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
		file := fmt.Sprintf(`title: t
source: s
explanation: e
claim: holds
clients: [c1, c2, c3, c4]
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
		r, err := scenarios.Judge(s, scenarios.Options{})
		if err != nil || !r.OK() {
			t.Errorf("%s: %v %v", p.Name, err, r.Problems)
		}
	}
}

// TestFindingsOnAResource: what is expected of a resource by itself is compared with what was found on it.
func TestFindingsOnAResource(t *testing.T) {
	file := withSteps("resource: orders, do: [lock, update, sleep: 20s, write-unchecked]", "duration: 2m\n")
	file = strings.Replace(file, "timeline:\n", "timeline:\n  - {at: 0s, client: c2, resource: invoices, do: [lock, update, unlock]}\n  - {at: 11s, client: c2, resource: orders, do: [lock, update, unlock]}\n", 1)
	for _, x := range []struct{ expect, problem string }{
		{"{orders: {findings: [stale-write, lost-update]}, invoices: {findings: safe}}", ""},
		{"{orders: {findings: safe}}", "found late write (stale-write, lost-update) on orders, expected holds"},
		{"{invoices: {findings: stale-write}}", "found holds on invoices, expected late write (stale-write)"},
		{"{invoices: {findings: safe, unavailable: {at-least: 1s, at-most: 2s}}}", "on invoices, the lock could not be had for"},
		{"{invoices: {findings: safe, attempts: {at-least: 5, at-most: 6}}}", "on invoices, c2 made 1 attempts"},
	} {
		s, err := scenarios.Parse("f.yaml", []byte(strings.Replace(file, "expect: {findings: safe,", "expect: {findings: [stale-write, lost-update], resources: "+x.expect+",", 1)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := scenarios.Judge(s[0], scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprint(r.Problems)
		if x.problem != "" && !strings.Contains(text, x.problem) || x.problem == "" && strings.Contains(text, " on ") {
			t.Errorf("%s: %s", x.expect, text)
		}
	}
}
