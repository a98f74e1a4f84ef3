package scenarios_test

import (
	"slices"
	"testing"

	"redlocksim/scenarios"
)

// A run that the machine held up has no grade, whatever it showed.
func TestNoGradeOfARunThatDoesNotCount(t *testing.T) {
	s := scenarios.Catalogue()[slices.IndexFunc(scenarios.Catalogue(), func(s *scenarios.Scenario) bool { return s.Name == "32-pause-before-write" })]
	out, err := scenarios.Run(s, scenarios.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := scenarios.JudgeLive(s, out, &scenarios.Foreign{IsProgram: true})
	if err != nil {
		t.Fatal(err)
	}
	if g := r.Grades(); !slices.Equal(g, []scenarios.Grade{scenarios.AsSound}) || r.Witness() == nil {
		t.Fatalf("%v, %v", g, r.Findings)
	}
	r.SetNotTested("the machine is too busy")
	if g := r.Grades(); !slices.Equal(g, []scenarios.Grade{scenarios.NotApplicable}) {
		t.Errorf("%v", g)
	}
}
