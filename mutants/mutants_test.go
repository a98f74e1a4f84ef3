package mutants_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/mutants"
	"redlocksim/scenarios"
)

var (
	update = flag.Bool("update", false, "write TABLE.md as the mutants are killed now; read it before you commit it")
	search = flag.Int("search", 0, "print the table with what a random search of so many runs finds, too")
	suite  = flag.Bool("suite", false, "print the table with every scenario that kills a mutant, whether or not it is meant to")
)

const tablePath = "TABLE.md"

const tableHead = `# Planted bugs

Each row is a bug that was planted into the source, in the overlay of a build only, and what of the catalogue turned red.
A bug of the adapter or its scripts shows on tier wire, the others were run on tier model. Runs is how many it took until
the first kill. ` + "`go test ./mutants -update` writes this file, and `go test ./mutants` fails when it is not what the runs give." + `

`

// Every mutant is killed, by each scenario that is said to kill it, and TABLE.md says so.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command once for every mutant")
	}
	outcomes, err := mutants.Run(t.Context(), mutants.Options{Root: "..", EveryKiller: true, Suite: *suite, Explore: *search, Done: func(o mutants.Outcome) {
		t.Logf("%s: killed by %v after %d runs, %v", o.Mutant.Name, o.KilledBy, o.Runs, o.Took.Round(100*time.Millisecond))
	}})
	if err != nil {
		t.Error(err)
	}
	t.Logf("\n%s", mutants.Table(outcomes, true))
	for _, o := range outcomes {
		if len(o.KilledBy) == 0 && o.Mutant.Equivalent == "" {
			t.Errorf("%s survives: %s", o.Mutant.Name, o.Mutant.Bug)
		}
		for _, name := range o.Mutant.Killers {
			if !slices.Contains(o.KilledBy, name) {
				t.Errorf("%s is not killed by %s", o.Mutant.Name, name)
			}
		}
	}
	if *suite || *search > 0 || t.Failed() {
		return
	}
	got := tableHead + mutants.Table(outcomes, false)
	if *update {
		if err := os.WriteFile(tablePath, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the table is\n%s\nand was\n%s\n(go test ./mutants -update writes it)", got, want)
	}
}

// Without a mutant the killers are as expected, in a build made in the same way: else a kill would say nothing.
func TestKillersPassWithoutMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	none := mutants.Mutant{Name: "none"}
	onWire := mutants.Mutant{Name: "none-on-wire", Tier: "wire"}
	for _, m := range mutants.All() {
		if m.Tier == onWire.Tier {
			onWire.Killers = append(onWire.Killers, m.Killers...)
		} else {
			none.Killers = append(none.Killers, m.Killers...)
		}
	}
	outcomes, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: []mutants.Mutant{none, onWire}, EveryKiller: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if len(o.KilledBy) > 0 || o.Runs == 0 || o.Runs != len(o.Mutant.Killers) {
			t.Errorf("%s: red are %v, after %d runs of %d", o.Mutant.Name, o.KilledBy, o.Runs, len(o.Mutant.Killers))
		}
	}
}

// A kill is the last run unless more is asked for, searches get their chance after the killers, and what is no verdict
// is an error.
func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	noNX := mutants.Mutant{Name: "any", Edits: []mutants.Edit{{File: "sim/model/model.go", Old: "s.get(key, now); taken {", New: "s.get(key, now); taken && len(c.Keys) > 1 {"}}}
	with := func(name string, change func(*mutants.Mutant)) mutants.Mutant {
		m := noNX
		m.Name = name
		change(&m)
		return m
	}
	cases := []struct {
		mutant mutants.Mutant
		by     string
		runs   int
	}{
		{with("second", func(m *mutants.Mutant) {
			m.Killers = []string{"48-database-row-lock/contention", "09-contention", "10-two-nodes-crash"}
		}), "09-contention", 2},
		{with("searched", func(m *mutants.Mutant) {
			m.Killers, m.Search = []string{"48-database-row-lock/contention"}, []string{"run", "09-contention"}
		}), "redlocksim run 09-contention", 2},
		{with("survivor", func(m *mutants.Mutant) { m.Killers = []string{"48-database-row-lock/contention"} }), "", 1},
	}
	var all []mutants.Mutant
	for _, c := range cases {
		all = append(all, c.mutant)
	}
	told := 0
	outcomes, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: all, Done: func(mutants.Outcome) { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	if told != len(all) {
		t.Errorf("told of %d outcomes, want %d", told, len(all))
	}
	for i, c := range cases {
		if got := strings.Join(outcomes[i].KilledBy, " "); got != c.by || outcomes[i].Runs != c.runs || outcomes[i].Took <= 0 {
			t.Errorf("%s: killed by %q after %d runs in %v, want %q after %d", c.mutant.Name, got, outcomes[i].Runs, outcomes[i].Took, c.by, c.runs)
		}
	}

	for name, m := range map[string]mutants.Mutant{
		"no such place": with("nowhere", func(m *mutants.Mutant) {
			m.Edits = []mutants.Edit{{File: "redlock/doc.go", Old: "no such text", New: ""}}
		}),
		"does not build": with("broken", func(m *mutants.Mutant) {
			m.Edits = []mutants.Edit{{File: "redlock/doc.go", Old: "package redlock\n", New: "package"}}
		}),
		"no such scenario": with("unknown", func(m *mutants.Mutant) { m.Killers = []string{"99-no-such-scenario"} }),
	} {
		out, err := mutants.Run(t.Context(), mutants.Options{Root: "..", Mutants: []mutants.Mutant{m}})
		if err == nil || !strings.Contains(err.Error(), m.Name) || len(out) != 1 || len(out[0].KilledBy) > 0 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := mutants.Run(ended, mutants.Options{Root: "..", Mutants: all[:1]}); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}

func TestEveryMutantHasItsPlace(t *testing.T) {
	names, tiers := map[string]bool{}, []string{"", string(scenarios.Model), string(scenarios.Wire)}
	for _, m := range mutants.All() {
		if _, err := m.Overlay("..", t.TempDir()); err != nil {
			t.Error(err)
		}
		if names[m.Name] || m.Bug == "" || len(m.Edits) == 0 || !slices.Contains(tiers, m.Tier) {
			t.Errorf("%q is there twice, or has no story, no edit or no such tier as %q", m.Name, m.Tier)
		}
		names[m.Name] = true
		if (len(m.Killers) > 0 || len(m.Search) > 0) == (m.Equivalent != "") {
			t.Errorf("%s must have something that kills it, or a reason why nothing can", m.Name)
		}
		for _, name := range m.Killers {
			if !slices.ContainsFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name }) {
				t.Errorf("%s: there is no scenario %s to kill it", m.Name, name)
			}
		}
	}
}
