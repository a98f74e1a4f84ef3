// Package scenariotest has what tests of scenarios say again and again.
package scenariotest

import (
	"regexp"
	"testing"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// needed is what every file must say: a test adds it to what it says itself, behind it, where that says nothing of it.
var needed = [][2]string{
	{"title", "t"}, {"source", "s"}, {"explanation", "e"}, {"claim", "holds"}, {"clients", "[client-1, client-2]"},
	{"timeline", "[{at: 0s, client: client-1, do: [try-lock, unlock]}, {at: 1s, client: client-2, do: [try-lock, unlock]}]"},
	{"expect", "{findings: safe, unavailable: {at-most: 20s}}"},
}

// Whole is a file that has what it needs.
func Whole(text string) []byte {
	for _, key := range needed {
		if !regexp.MustCompile(`(?m)^` + key[0] + `:`).MatchString(text) {
			text += "\n" + key[0] + ": " + key[1]
		}
	}
	return []byte(text + "\n")
}

// Given is the scenario of a file that has what it needs.
func Given(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	found, err := scenarios.Parse("f.yaml", Whole(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, Whole(text))
	}
	return found[0]
}

// Named is a scenario of the catalogue.
func Named(t testing.TB, name string) *scenarios.Scenario {
	t.Helper()
	s, known := scenarios.Find(name)
	if !known {
		t.Fatalf("there is no scenario %s", name)
	}
	return s
}

// Judged is a run, judged.
func Judged(t testing.TB, s *scenarios.Scenario, o scenarios.Options) *verdict.Result {
	t.Helper()
	r, err := verdict.Judge(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Ran is a run.
func Ran(t testing.TB, s *scenarios.Scenario, o scenarios.Options) *scenarios.Outcome {
	t.Helper()
	out, err := scenarios.Run(s, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
