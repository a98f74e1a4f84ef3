package rules

import (
	"flag"
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

var update = flag.Bool("update", false, "write the rules into docs/checker.md")

// docs/checker.md has what the table says of each rule.
func TestThePageIsTheTable(t *testing.T) {
	const path, end = "../../docs/checker.md", "<!-- end of rules -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(page), "<!-- rules: ")
	mark, rest, begins := strings.Cut(rest, " -->\n\n")
	_, tail, ends := strings.Cut(rest, end)
	if !ok || !begins || !ends {
		t.Fatal("docs/checker.md does not say where the rules are")
	}
	want := head + "<!-- rules: " + mark + " -->\n\n"
	for _, r := range Table {
		want += fmt.Sprintf("**%s**: *%s*.%s\n\n", r.Name, r.Kind, r.Doc)
	}
	if want += end + tail; *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Error("docs/checker.md does not have the rules as they are in the table (-update writes them)")
	}
}
