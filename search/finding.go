package search

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/mark"
	"redlocksim/internal/outfile"
	"redlocksim/scenarios"
	"redlocksim/search/shrink"
)

// Finding is one way to break the lock: a kind of violation and the families of faults that it takes.
type Finding struct {
	// Kind is the violation, and Families are the faults of the shrunk experiment.
	Kind     checker.Kind `json:"kind"`
	Families []string     `json:"families"`
	// Faults is how many faults it has.
	Faults int `json:"faults"`
	// Beyond says that the faults exceed the budget.
	Beyond bool `json:"beyond"`
	// Run is the number of the run in which it was found first, in a random search, and Seed its seed.
	Run  int    `json:"run"`
	Seed uint64 `json:"seed"`
	// Times is in how many runs that kind of violation came up with those families of faults present.
	Times int `json:"times"`
	// File is the name of the scenario file in the search's directory.
	File string `json:"file,omitempty"`

	// Scenario is the shrunk experiment; nil after a search was resumed.
	Scenario *scenarios.Scenario `json:"-"`
}

// Explains says whether a violation may be another instance of the finding, as far as the families of faults tell that were
// there. What is known beyond the budget explains nothing within it.
func (f *Finding) Explains(kind checker.Kind, families []string, beyond bool) bool {
	return f.Kind == kind && (beyond || !f.Beyond) &&
		!slices.ContainsFunc(f.Families, func(name string) bool { return !slices.Contains(families, name) })
}

// Keep names a finding, the number-th of its search, and writes its scenario file and Go test to the directory, unless that
// is empty. The directory must be there.
func (f *Finding) Keep(number int, dir string, rules outfile.Rules) error {
	f.Scenario.Name = f.name(number)
	if dir == "" {
		return nil
	}
	f.File = f.Scenario.Name + ".yaml"
	data, err := f.Scenario.Encode()
	if err != nil {
		return err
	}
	test, err := shrink.GoTest(f.Scenario, f.Seed)
	if err != nil {
		return err
	}
	return errors.Join(
		rules.Write(filepath.Join(dir, f.File), append([]byte(mark.YAML+"\n"), data...)),
		rules.Write(filepath.Join(dir, testFile(f.File)), []byte(mark.Go+"\n\n"+test)))
}

// name is what a finding is called, the number-th of its search.
func (f *Finding) name(number int) string {
	name := fmt.Sprintf("%d-%s", number, f.Kind)
	if len(f.Families) > 0 {
		name += "-" + strings.Join(f.Families, "-")
	}
	return name
}

// testEnd is how the name of the Go test beside a scenario file ends.
const testEnd = "_test.go"

// testFile is that name, and asIs that of the scenario file itself.
func testFile(name string) string { return strings.TrimSuffix(name, ".yaml") + testEnd }
func asIs(name string) string     { return name }
