package main

import (
	"os"
	"strings"
	"testing"

	"redlocksim/search/attacks"
)

// The page about searching lists the schedules with their formulas.
func TestSchedulesOfThePage(t *testing.T) {
	text, err := os.ReadFile(searching)
	if err != nil {
		t.Fatal(err)
	}
	shown, from, to := between(t, string(text), "<!-- schedules -->\n", "<!-- end of schedules -->")
	var b strings.Builder
	for _, s := range attacks.All() {
		b.WriteString("- **" + s.Name + "**")
		if len(s.Uses) > 0 {
			b.WriteString(" (" + strings.Join(s.Uses, ", ") + ")")
		}
		if s.ByName() {
			b.WriteString(", only by name")
		}
		b.WriteString(": " + s.Text + "\n")
		for _, k := range s.Knobs {
			b.WriteString("  - `" + k.Path + "`: " + k.Text + "\n")
		}
	}
	want := b.String()
	if *update && want != shown {
		if err := os.WriteFile(searching, []byte(string(text[:from])+want+string(text[to:])), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if want != shown {
		t.Errorf("the page does not list the schedules as they are (go test ./cmd/redlocksim -update writes it):\n%s", want)
	}
}
