package scenarios_test

import (
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// outside is a scenario whose clients reach the resource without the lock.
func outside(keys, first, second string) string {
	return "title: t\nsource: s\nexplanation: e\nclaim: unsound\nclients: [client-1, client-2]\nnodes: {names: [A]}\n" + keys + `
duration: 30s
timeline:
  - {at: 0s, client: client-1, do: [` + first + `]}
  - {at: 100ms, client: client-2, do: [` + second + `]}
expect: {findings: lost-update, unavailable: {at-most: 20s}}
`
}

// What clients do to the resource without the lock is judged as what it is, and not as done under the lock.
func TestEffectsOutsideTheLock(t *testing.T) {
	const commits = "lock, read, unlock, sleep: 500ms, write-back: {released: true}"
	single, fenced := "lock: {protocol: single}", "storage: fenced\nlock: {fencing: true}"
	for _, c := range []struct{ name, keys, first, second, want string }{
		{"commits after the unlock", single, commits, commits, "lost-update"},
		{"commits before the unlock", single, "lock, read, write-back, unlock", "lock, read, write-back, unlock", "safe"},
		{"reads after the unlock as well", single, "lock, unlock, read: {released: true}, sleep: 500ms, write-back: {released: true}", commits, "lost-update"},
		{"updates after the unlock, undisturbed", single, "lock, unlock, update: {released: true}", "sleep: 1s, lock, update, unlock", "safe"},
		{"commits after the unlock to a resource that compares tokens", fenced, commits, commits, "safe"},
		{"goes on without", single, "lock, read, hold: 5s, write-back, unlock", "lock: {for: 2s, anyway: true}, read, write-back, unlock", "lost-update"},
		{"goes on without, at the first attempt", single, "lock, read, hold: 5s, write-back, unlock", "try-lock: {anyway: true}, update, hold: 1s, extend: 5s, linger, renew: 1s, unlock", "lost-update"},
		{"writes without, between two writes of the holder", single, "lock, write, hold: 5s, write, unlock", "try-lock: {anyway: true}, write, unlock", "lost-update"},
		{"writes without, upon nothing", single, "lock, hold: 5s, write, unlock", "try-lock: {anyway: true}, write, write-unchecked, unlock", "safe"},
		{"gives up", single, "lock, read, hold: 5s, write-back, unlock", "lock: 2s, read, write-back, unlock", "safe"},
		{"has it after all", single, "lock, read, hold: 1s, write-back, unlock", "lock: {for: 2s, anyway: true}, read, write-back, unlock", "safe"},
		{"goes on without, on two resources", "lock: {protocol: single}\nresources: [a, b]", "lock: a, lock: b, read: a, hold: 5s, write-back: a, unlock, unlock",
			"try-lock: {resource: a, anyway: true}, read: a, write-back: a, unlock: a, try-lock: {resource: b, anyway: true}, read: b", "lost-update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := outside(c.keys, c.first, c.second)
			found, warnings, err := scenarios.Lint("f.yaml", []byte(text))
			if err != nil || len(warnings) > 0 {
				t.Fatal(err, warnings)
			}
			data, err := found[0].Encode()
			if err != nil {
				t.Fatal(err)
			}
			again, err := scenarios.Parse("f.yaml", data)
			if err != nil {
				t.Fatal(err)
			}
			for _, tier := range scenarios.Tiers() {
				for _, s := range []*scenarios.Scenario{found[0], again[0]} {
					r, err := scenarios.Judge(s, scenarios.Options{Tier: tier})
					if err != nil {
						t.Fatal(err)
					}
					if got := r.Findings.String(); got != c.want || r.NotTested != nil {
						t.Errorf("tier %s: found %s, want %s; not tested: %q", tier, got, c.want, r.NotTested)
					}
				}
			}
		})
	}
}

// What cannot be meant is refused, with what could be.
func TestEffectsOutsideTheLockThatCannotBe(t *testing.T) {
	for _, c := range []struct{ keys, do, want string }{
		{"", "lock, read, unlock, write-back", `there is no lock or try-lock before; for one after the unlock say "write-back: {released: true}"`},
		{"", "write: {released: true}", "there is no lock that was released before"},
		{"", "mark: {released: true}", "mark takes no such key"},
		{"", "lock, hold: {for: 1s, anyway: true}", "hold takes no such key"},
		{"resources: [a, b]", "lock: [a, b], unlock, write: {released: true}", `as in "write: {resource: a, released: true}"`},
		{"resources: [a, b]", "lock: a, unlock, write: {resource: b, released: true}", "is not what a lock was on that was released before, which is a"},
		{"storage: compare-and-set", "lock, mark, unlock, write: {released: true}", "would carry no mark"},
		{"lock: {protocol: db-row, effects: transaction}", "lock, unlock, write: {released: true}", "is in the transaction that holds the lock"},
		{"resources: [p/1]\nsemaphores: [p]", "lock: {resource: p, anyway: true}", "has no permit to go on without"},
	} {
		if _, err := scenarios.Parse("f.yaml", []byte(outside(c.keys, c.do, "lock"))); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.do, err, c.want)
		}
	}
}
