package verdict_test

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/scenariotest"
	"redlocksim/scenarios/verdict"
)

// Files and what is wrong with their runs, on all tiers: nothing, or a part of what is said.
func TestJudgedFiles(t *testing.T) {
	const (
		safe     = "duration: 20s\nexpect: {findings: safe, unavailable: {at-most: 1s}"
		resource = `claim: unsound
duration: 2m
resources: [invoices, orders]
timeline:
  - {at: 0s, client: client-2, resource: invoices, do: [lock, update, unlock]}
  - {at: 11s, client: client-2, resource: orders, do: [lock, update, unlock]}
  - {at: 0s, client: client-1, resource: orders, do: [lock, update, sleep: 20s, write-unchecked]}
expect: {findings: [stale-write, lost-update], unavailable: {at-most: 1m}, resources: `
		delayed = `budget: {delay: 1ms}
timeline:
  - {at: 0s, client: client-1, do: [lock, write, unlock]}
  - {at: 0s, client: client-2, do: [lock, write, unlock]}
`
		delay = ", fault: {delay: {clients: [client-1], by: 1ms, for: 1s}}}"
	)
	for _, x := range []struct{ name, text, want string }{
		{"a lease that was over before its extend returned is not believed in, whatever the extend says", `
lock: {protocol: db-row, ttl: 400ms}
nodes: {names: [A]}
network: {latency: 5ms}
timeline:
  - {at: 0s, client: client-1, do: [lock, extend: 400ms, sleep: 1s]}
  - {after: {event: extend-called}, plus: 2ms, fault: {pause: {process: client-1, for: 1s}}}
  - {at: 900ms, client: client-2, do: [lock, sleep: 300ms, unlock]}
expect:
  findings: safe
  unavailable: {at-most: 1s}
  reached: [{event: extend-failed, client: client-1, after: {event: resume}, believing: client-2}]`, ""},
		{"a client that connects to the nodes for one call has the calls wait that come meanwhile: only then is known how many there are", `
resources: [R, S]
lock: {preset: redlock-cpp, ttl: 10s}
timeline:
  - {at: 0s, fault: {kill: {node: E}}}
  - {at: 0s, client: client-1, do: [lock: {resource: R}, unlock]}
  - {at: 0s, client: client-1, do: [lock: {resource: S}, unlock]}
  - {at: 8s, client: client-2, do: [lock: {resource: R}, unlock]}
expect: {findings: safe, unavailable: {at-most: 10s}, grants: {client-1: 2, client-2: 1}}`, ""},
		{"a key without a time to live is a leak on a replica as well: it is what the next master will have", `
claim: unsound
lock: {protocol: setnx-expire}
nodes: {names: [A], replicas: {A: [A2]}}
timeline:
  - {at: 0s, client: client-1, do: [try-lock]}
  - {after: {client: client-1, event: set-without-ttl}, fault: {crash: {client: client-1}}}
  - {at: 1s, client: client-2, do: [lock: 8s]}
  - {at: 10s, fault: {kill: {node: A}}}
duration: 20s
expect: {findings: safe, leaks: [R], unavailable: {at-most: 1m}, grants: {client-1: 0, client-2: 0}}`, ""},
		{"the probe that confirms what was found unprotected draws a token where the lock has them from the storage", `
lock: {protocol: one-redis, ttl: 5s, guard: {max-ttl: 5s}, sequence: true}
nodes: {names: [A]}
storage: fenced-writes
timeline:
  - {at: 0s, client: client-1, do: [prepare, sleep: 5s, try-lock, hold: 4s, write, unlock]}
  - {at: 13s, client: client-2, do: [lock, write]}
  - {at: 7s, fault: {clock-step: {process: A, by: 5s}}}
duration: 15s
expect: {findings: unprotected, unavailable: {at-most: 30s}}`, ""},

		{"no bound", safe + "}", ""},
		{"a takeover that there is not", safe + ", takeover: {at-most: 1h}}", "no holder was gone"},
		{"a healing after which nobody asks", "heal: 10s\n" + safe + ", after-healing: {at-most: 5s}}", "nobody asked"},
		{"a healing", "heal: 500ms\n" + safe + ", after-healing: {at-most: 10s}}", ""},
		{"too few attempts", safe + ", attempts: {at-least: 2, at-most: 9}}", "client-1 made 1 attempts in one wait"},
		{"too few grants", safe + ", bypass: {at-least: 1, at-most: 9}}", "no client saw 0 grants"},
		{"bounded", "duration: 20s\nexpect: {findings: safe, unavailable: unbounded}", "expected it to be unbounded"},
		{"a fault that waits for an event is not injected after the healing", "heal: 500ms\n" + safe + `}
timeline:
  - {at: 0s, client: client-1, do: [lock, unlock]}
  - {at: 1s, client: client-2, do: [lock, unlock]}
  - {after: {client: client-2, event: acquire-done}, fault: {crash: {client: client-2}}}`, "the moment came after the faults were healed"},

		{"a fault of links that no message went through has tested nothing", delayed + "  - {at: 59s" + delay,
			"no message met this fault: messages client-1 ↔ every node take 1ms longer"},
		{"one that some went through", delayed + "  - {after: {event: release-called}" + delay, ""},

		{"what is found on a resource", resource + "{orders: {findings: [stale-write, lost-update]}, invoices: {findings: safe}}}", ""},
		{"what is not", resource + "{orders: {findings: safe}}}", "found late write (stale-write, lost-update) on orders, expected holds"},
		{"what is found elsewhere", resource + "{invoices: {findings: stale-write}}}", "found holds on invoices, expected late write (stale-write)"},
		{"availability of a resource", resource + "{invoices: {findings: safe, unavailable: {at-least: 1s, at-most: 2s}}}}",
			"on invoices, the lock could not be had for"},
		{"attempts on a resource", resource + "{invoices: {findings: safe, attempts: {at-least: 5, at-most: 6}}}}", "on invoices, client-2 made 1 attempts"},
	} {
		for _, tier := range scenarios.Tiers() {
			r := scenariotest.Judged(t, scenariotest.Given(t, x.text), scenarios.Options{Tier: tier})
			said := slices.ContainsFunc(r.Problems, func(p verdict.Problem) bool { return strings.Contains(p.Text, x.want) })
			if x.want == "" && !r.OK() || x.want != "" && !said {
				t.Errorf("%s, tier %s: %+v, want %q", x.name, tier, r.Problems, x.want)
			}
		}
	}
}

// What clients do to the resource without the lock is judged as what it is, and not as done under the lock; and a write builds
// on a read only where the same program has made both, and writes what it had read plus one.
func TestWhatAnUpdateLoses(t *testing.T) {
	const (
		commits  = "lock, read, unlock, sleep: 500ms, write-back: {released: true}"
		single   = "lock: {protocol: single}\nnodes: {names: [A]}"
		fenced   = "storage: fenced\nlock: {fencing: true}"
		two      = single + "\nresources: [a, b]"
		holder   = "lock, read, hold: 5s, write-back, unlock"
		between  = "sleep: 1900ms, lock, update, unlock"
		alsoItem = "\n  - {at: 4s, client: client-1, do: [lock, write, unlock]}"
	)
	for _, c := range []struct{ name, keys, first, second, more, want string }{
		{"commits after the unlock", single, commits, commits, "", "lost-update"},
		{"commits before the unlock", single, "lock, read, write-back, unlock", "lock, read, write-back, unlock", "", "safe"},
		{"reads after the unlock as well", single, "lock, unlock, read: {released: true}, sleep: 500ms, write-back: {released: true}", commits, "", "lost-update"},
		{"updates after the unlock, undisturbed", single, "lock, unlock, update: {released: true}", "sleep: 1s, lock, update, unlock", "", "safe"},
		{"commits after the unlock to a resource that compares tokens", fenced, commits, commits, "", "safe"},
		{"goes on without", single, holder, "lock: {for: 2s, anyway: true}, read, write-back, unlock", "", "lost-update"},
		{"goes on without, at the first attempt", single, holder,
			"try-lock: {anyway: true}, update, hold: 1s, extend: 5s, linger, renew: 1s, unlock", "", "lost-update"},
		{"writes without, between two writes of the holder", single, "lock, write, hold: 5s, write, unlock", "try-lock: {anyway: true}, write, unlock", "", "lost-update"},
		{"writes without, upon nothing", single, "lock, hold: 5s, write, unlock", "try-lock: {anyway: true}, write, write-unchecked, unlock", "", "safe"},
		{"gives up", single, holder, "lock: 2s, read, write-back, unlock", "", "safe"},
		{"has it after all", single, "lock, read, hold: 1s, write-back, unlock", "lock: {for: 2s, anyway: true}, read, write-back, unlock", "", "safe"},
		{"goes on without, on two resources", two, "lock: a, lock: b, read: a, hold: 5s, write-back: a, unlock, unlock",
			"try-lock: {resource: a, anyway: true}, read: a, write-back: a, unlock: a, try-lock: {resource: b, anyway: true}, read: b", "", "lost-update"},

		{"one program", "", "lock, read, unlock, sleep: 4s, lock, write-back, unlock", between, "", "lost-update"},
		{"which writes what does not depend on it", "", "lock, read, unlock, sleep: 4s, lock, write, unlock", between, "", "safe"},
		{"which reads again", "", "lock, read, unlock, sleep: 4s, lock, read, write-back, unlock", between, "", "safe"},
		{"two programs, one after the other", "", "lock, read, unlock", between, alsoItem, "safe"},
		{"two programs, of which one waits for the other", "", "lock, sleep: 1s, read, unlock", between,
			strings.ReplaceAll(alsoItem, "[lock", "[sleep: 1s, lock"), "safe"},
	} {
		text := c.keys + "\nclaim: unsound\nduration: 30s\ntimeline:\n  - {at: 0s, client: client-1, do: [" + c.first + "]}\n  - {at: 100ms, client: client-2, do: [" +
			c.second + "]}" + c.more + "\nexpect: {findings: lost-update, unavailable: {at-most: 20s}}"
		found, warnings, err := scenarios.Lint("f.yaml", scenariotest.Whole(text))
		if err != nil || len(warnings) > 0 {
			t.Fatal(err, warnings)
		}
		data, err := found[0].Encode()
		if err != nil {
			t.Fatal(err)
		}
		for _, tier := range scenarios.Tiers() {
			for _, s := range []*scenarios.Scenario{found[0], scenariotest.Given(t, string(data))} {
				r := scenariotest.Judged(t, s, scenarios.Options{Tier: tier})
				if got := r.Findings.String(); got != c.want || r.NotTested != nil {
					t.Errorf("%s, tier %s: found %s, want %s; not tested: %q", c.name, tier, got, c.want, r.NotTested)
				}
			}
		}
	}
}

// A resource that compares nothing of two holders proves nothing, whatever it refuses: the run is not tested, and lint says so
// before where that can be known. The first of two clients is paused after its last look at the lease.
func TestResourceThatChecksNothing(t *testing.T) {
	const (
		atWrite = "  - {after: {client: client-1, event: checked}, fault: {pause: {process: client-1, for: 15s}}}\n"
		atMark  = "  - {after: {client: client-1, event: checked, nth: 2}, fault: {pause: {process: client-1, for: 15s}}}\n"
	)
	for _, test := range []struct {
		name, keys, steps, pause string
		untested, warns          string // parts of what is said; empty if nothing is
		findings                 string
	}{
		{"table without tokens", "storage: table", "write, unlock", atWrite, "refused every write, 2 in all", "gives none: it refuses every write", "safe"},
		{"table without tokens, and nothing goes wrong", "storage: table", "update, unlock", "", "refused every write, 2 in all", "gives none", "safe"},
		{"table with tokens", "storage: table\nlock: {fencing: true}", "write, unlock", atWrite, "", "", "safe"},
		{"table with two writes under a token", "storage: table\nlock: {fencing: true}", "write, write, unlock", "", "", "", "holder-refused"},
		{"compare-and-set without a mark", "storage: compare-and-set", "write, unlock", atWrite, "none carried a mark, which the step mark sets", "no step sets one (mark)", "safe"},
		{"compare-and-set with a mark", "storage: compare-and-set", "mark, write, sleep: 5s", atMark, "", "", "safe"},
		{"versions that nobody reads", "storage: version", "write, unlock", atWrite, "none carried a version, which the steps update and read learn", "no step reads it", "safe"},
		{"versions", "storage: version", "update, unlock", atMark, "", "", "safe"},
		{"versions, and nothing goes wrong", "storage: version", "update, unlock", "", "", "", "safe"},
		{"versions that only one holder knows", "storage: version", "update, renew: 1m", "", "was reached by one holder only", "", "safe"},
		{"a fence that no token reaches", "storage: fenced", "write, unlock", "", "accepted 2 writes and compared nothing", "it accepts everything", "safe"},
		{"a fence that a late write passes", "storage: fenced", "write, unlock", atWrite, "", "it accepts everything", "stale-write"},
		{"a fence that nobody writes to", "storage: fenced\nlock: {fencing: true}", "hold: 1s, unlock", "", "was reached by no request", "no step writes", "safe"},
		{"a fence with tokens", "storage: fenced\nlock: {fencing: true}", "write, unlock", "", "", "", "safe"},
		{"a fence of a service that gives tokens", "storage: fenced-writes\nlock: {protocol: consensus}\nnodes: {names: [A, B, C]}", "write, unlock", "", "", "", "safe"},
		{"a fence that one holder reaches", "storage: fenced\nlock: {fencing: true}", "write, renew: 1m", "", "was reached by one holder only", "", "safe"},
		{"no check", "storage: register", "write, unlock", "", "", "", "safe"},
	} {
		t.Run(test.name, func(t *testing.T) {
			found, warnings, err := scenarios.Lint("f.yaml", scenariotest.Whole(test.keys+"\ntimeline:\n  - {at: 0s, client: client-1, do: [try-lock, "+test.steps+
				"]}\n  - {at: 1s, client: client-2, do: [lock, "+test.steps+"]}\n"+test.pause+"duration: 40s"))
			if err != nil {
				t.Fatal(err)
			}
			said := ""
			if len(warnings) > 0 {
				said = warnings.Error()
			}
			if (test.warns == "") != (said == "") || !strings.Contains(said, test.warns) {
				t.Errorf("lint says %q, want %q", said, test.warns)
			}
			for _, tier := range scenarios.Tiers() {
				r := scenariotest.Judged(t, found[0], scenarios.Options{Tier: tier})
				if (test.untested == "") != (r.NotTested == nil) || !strings.Contains(strings.Join(r.NotTested, "; "), test.untested) {
					t.Errorf("tier %s: not tested: %q, want %q", tier, r.NotTested, test.untested)
				}
				if got := r.Findings.String(); got != test.findings {
					t.Errorf("tier %s: found %s, want %s", tier, got, test.findings)
				}
				if is := r.Has(verdict.NotTested); is != (test.untested != "") {
					t.Errorf("tier %s: %v", tier, r.Problems)
				}
			}
		})
	}
}
