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

// NewFinding is the finding, seen once, that a violation was shrunk to.
func NewFinding(v *Violation, example *scenarios.Scenario) Finding {
	f := Finding{Kind: v.Kind, Families: Families(example), Seed: v.Seed, Times: 1, Scenario: example}
	// A counterexample claims what holds within its budget, and shows that it does not beyond it.
	f.Beyond = example.Claim == scenarios.Holds
	for _, item := range example.Timeline {
		if item.Fault != nil {
			f.Faults++
		}
	}
	return f
}

// explains says whether a violation may be another instance of the finding, as far as the families of faults tell that were
// there. What is known beyond the budget explains nothing within it.
func (f *Finding) explains(kind checker.Kind, families []string, beyond bool) bool {
	return f.Kind == kind && (beyond || !f.Beyond) &&
		!slices.ContainsFunc(f.Families, func(name string) bool { return !slices.Contains(families, name) })
}

// FileName is what the scenario file of the finding is called, the number-th of its search.
func (f *Finding) FileName(number int) string { return f.name(number) + ".yaml" }

func (f *Finding) name(number int) string {
	name := fmt.Sprintf("%d-%s", number, f.Kind)
	if len(f.Families) > 0 {
		name += "-" + strings.Join(f.Families, "-")
	}
	return name
}

// write writes the scenario file and the Go test of the finding to a directory that is there.
func (f *Finding) write(dir string, rules outfile.Rules) error {
	data, err := f.Scenario.Encode()
	if err != nil {
		return err
	}
	test, err := goTest(f.Scenario, f.Seed)
	if err != nil {
		return err
	}
	return errors.Join(
		rules.Write(filepath.Join(dir, f.File), append([]byte(mark.YAML+"\n"), data...)),
		rules.Write(filepath.Join(dir, TestFile(f.File)), []byte(mark.Go+"\n\n"+test)))
}

// Findings are the ways to break the lock that a search has found, each another one.
type Findings []Finding

// Explain is the number, from 1, of the first finding that a violation by these families of faults may be another instance
// of; zero if there is none.
func (all Findings) Explain(kind checker.Kind, families []string, beyond bool) int {
	return 1 + slices.IndexFunc(all, func(f Finding) bool { return f.explains(kind, families, beyond) })
}

// Add adds a finding and writes its files to dir, unless that is empty. If it is another instance of one that is known, only
// that one's Times grow.
func (all *Findings) Add(f Finding, dir string, rules outfile.Rules) error {
	if known := all.Explain(f.Kind, f.Families, f.Beyond); known != 0 {
		(*all)[known-1].Times += f.Times
		return nil
	}
	number := len(*all) + 1
	f.Scenario.Name = f.name(number)
	if dir != "" {
		f.File = f.FileName(number)
		if err := f.write(dir, rules); err != nil {
			return err
		}
	}
	*all = append(*all, f)
	return nil
}

// WithinFirst puts violations within the budget before those beyond it: however many of these there are, they leave none of the
// others out. It changes no other order.
func WithinFirst[T any](violations []T, beyond func(T) bool) {
	slices.SortStableFunc(violations, func(a, b T) int {
		switch isBeyond := beyond(a); {
		case isBeyond == beyond(b):
			return 0
		case isBeyond:
			return 1
		}
		return -1
	})
}
