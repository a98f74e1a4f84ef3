package mutants_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"redlocksim/mutants"
	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

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
		if len(m.Killers)+len(m.Tests) == 0 {
			t.Errorf("%s must have something that kills it", m.Name)
		}
		for _, name := range m.Killers {
			if !slices.ContainsFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == name }) {
				t.Errorf("%s: there is no scenario %s to kill it", m.Name, name)
			}
		}
		for _, test := range m.Tests {
			files, err := filepath.Glob(filepath.Join("..", test.Package, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			function, _, _ := strings.Cut(test.Name, "/") // a part of it is looked for when it is run
			if !slices.ContainsFunc(files, func(file string) bool {
				source, err := os.ReadFile(file)
				return err == nil && strings.Contains(string(source), "\nfunc "+function+"(t *testing.T) {")
			}) {
				t.Errorf("%s: there is no test %v to kill it", m.Name, test)
			}
		}
	}
}

// A mutant without a place in its file is an error, and what has changed of it shows in its fingerprint.
func TestPlace(t *testing.T) {
	m := mutants.Mutant{Name: "nowhere", Killers: []string{"09-contention"}}
	for _, old := range []string{"no such text", "the"} { // which is there more than once
		m.Edits = []mutants.Edit{{File: "redlock/doc.go", Old: old}}
		if _, err := m.Overlay("..", t.TempDir()); err == nil || !strings.Contains(err.Error(), "nowhere") {
			t.Errorf("%q has one place: %v", old, err)
		}
	}
	other := m
	other.Killers = nil
	if again := m; again.Fingerprint() != m.Fingerprint() || other.Fingerprint() == m.Fingerprint() {
		t.Error("a fingerprint is not that of the mutant")
	}
}

// Each protocol and preset besides the library has settings with which it is searched, and they can be read.
func TestOthersSettings(t *testing.T) {
	searched := map[string]bool{}
	for _, s := range mutants.OthersSettings() {
		if searched[s.Name] {
			t.Errorf("there are two settings %s", s.Name)
		}
		searched[s.Name] = true
		base, err := scenarios.ParseSettings(s.Name, []byte(s.Text))
		if err != nil {
			t.Errorf("%s: %v\n%s", s.Name, err, s.Text)
			continue
		}
		searched[string(base.Lock.Protocol)], searched[string(base.Lock.Preset)] = true, true
	}
	for _, name := range protocols.Presets() {
		if !searched[name] {
			t.Errorf("nobody searches preset %s", name)
		}
	}
}
