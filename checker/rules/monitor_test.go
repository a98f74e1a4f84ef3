package rules

import (
	"fmt"
	"slices"
	"testing"

	"redlocksim/checker"
)

// Of the findings of a kind on a resource the first is told that faults excuse, and the first that they do not.
func TestWhichFindingsAreTold(t *testing.T) {
	r := newRig(t)
	r.brokenWithin(checker.Contract, "r", "first")
	r.broken(checker.Contract, "r", "second")
	r.brokenWithin(checker.Contract, "r", "third")
	r.broken(checker.Contract, "r", "fourth")
	r.broken(checker.Contract, "r", "fifth")
	var told []string
	for _, f := range r.Findings() {
		told = append(told, fmt.Sprint(f.Text, f.Count, f.Excusable()))
	}
	if want := []string{"first.2 true", "second.3 false"}; !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}
