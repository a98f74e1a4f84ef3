package rules

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"redlocksim/checker"
)

// Of the findings of a kind on a resource the first is told that faults excuse, and the first that they do not.
func TestWhichFindingsAreTold(t *testing.T) {
	r := newRig(t)
	w := &watch{Run: r.Run, Rule: &Rule{Kind: checker.Contract}}
	w.brokenWithin("r", "first")
	w.broken("r", "second")
	w.brokenWithin("r", "third")
	w.broken("r", "fourth")
	w.broken("r", "fifth")
	var told []string
	for _, f := range r.Findings() {
		told = append(told, fmt.Sprint(f.Text, f.Count, f.Excusable()))
	}
	if want := []string{"first.2 true", "second.3 false"}; !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}

// docs/checker.md has what the table says of each rule.
func TestThePageIsTheTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/checker.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, r := range Table {
		fmt.Fprintf(&want, "**%s**: *%s*.%s\n\n", r.Name, r.Kind, r.Doc)
	}
	if !strings.Contains(string(page), "\n"+want.String()) {
		t.Errorf("docs/checker.md does not have the rules as they are in the table:\n%s", &want)
	}
}
