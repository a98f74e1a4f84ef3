package scenarios_test

import (
	"slices"
	"testing"

	"redlocksim/checker"
	"redlocksim/scenarios"
)

// A client reads under one lock and writes under another, while the other client writes in between. Only where the same program
// does both, and writes what it had read plus one, does its write build on that read.
func TestAWriteBuildsOnWhatItsOwnProgramHasRead(t *testing.T) {
	const between = "\n  - {at: 2s, client: c2, do: [lock, update, unlock]}"
	for _, x := range []struct{ name, items, want string }{
		{"one program", "\n  - {at: 0s, client: c1, do: [lock, read, unlock, sleep: 4s, lock, write-back, unlock]}" + between, "lost-update"},
		{"which writes what does not depend on it", "\n  - {at: 0s, client: c1, do: [lock, read, unlock, sleep: 4s, lock, write, unlock]}" + between, "safe"},
		{"which reads again", "\n  - {at: 0s, client: c1, do: [lock, read, unlock, sleep: 4s, lock, read, write-back, unlock]}" + between, "safe"},
		{"two programs, one after the other", "\n  - {at: 0s, client: c1, do: [lock, read, unlock]}\n  - {at: 4s, client: c1, do: [lock, write, unlock]}" + between, "safe"},
		{"two programs, of which one waits for the other", "\n  - {at: 0s, client: c1, do: [lock, sleep: 1s, read, unlock]}\n  - {at: 500ms, client: c1, do: [{sleep: 3s}, lock, write, unlock]}" + between, "safe"},
	} {
		file := "title: t\nsource: s\nexplanation: e\nclaim: holds\nlock: {ttl: 20s}\nclients: [c1, c2]\nbudget: {}\nduration: 30s\ntimeline:" + x.items +
			"\nexpect: {findings: safe, unavailable: {at-most: 1m}}\n"
		all, err := scenarios.Parse("f.yaml", []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		r, err := scenarios.Judge(all[0], scenarios.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := x.want == "lost-update"; slices.Contains(r.Findings, checker.LostUpdate) != want || r.Report.NotTested() != "" {
			t.Errorf("%s: %v %s", x.name, r.Findings, r.Report.NotTested())
		}
	}
}
