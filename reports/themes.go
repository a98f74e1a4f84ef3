package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/scenarios"
)

// Themes writes the results of all scenarios for people: a line for each theme, with how many of its cases have a lock that
// holds, and how many one that does not, as expected; and below what was not as expected.
func Themes(w io.Writer, cases []Case, took time.Duration, look Look) error {
	var b strings.Builder
	widest := 0
	for _, theme := range scenarios.Themes() {
		widest = max(widest, len(theme.Title()))
	}
	for _, theme := range scenarios.Themes() {
		holds, breaks, bad := map[string]bool{}, map[string]bool{}, map[string]bool{} // by name: a case runs on several tiers
		for i := range cases {
			c := &cases[i]
			switch {
			case c.Theme != theme || c.Skipped != "":
			case !c.OK:
				bad[c.Name] = true
			case c.Word == string(checker.Holds):
				holds[c.Name] = true
			default:
				breaks[c.Name] = true
			}
		}
		if len(holds)+len(breaks)+len(bad) == 0 {
			continue
		}
		line := fmt.Sprintf("%-*s  %3d hold  %3d do not, as expected", widest, theme.Title(), len(holds), len(breaks))
		if len(bad) > 0 {
			line += "  " + look.Bad(fmt.Sprintf("%d NOT AS EXPECTED", len(bad)))
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	b.WriteString("\n")
	problems(&b, cases, look)
	ran, bad, _ := tally(cases)
	if bad == 0 {
		fmt.Fprintf(&b, "%s, all as expected, %v\n\n", plural.Count(ran, "run"), took.Round(10*time.Millisecond))
		b.WriteString("Look at one: redlocksim run 17-clock-jump. At all: redlocksim list.\nEvery run with its verdict: --verbose.\n")
	} else {
		fmt.Fprintf(&b, "%s, %v\n", Totals(cases), took.Round(10*time.Millisecond))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// problems writes what was not as expected, and how to repeat it.
func problems(b *strings.Builder, cases []Case, look Look) {
	for i := range cases {
		c := &cases[i]
		if c.Skipped != "" {
			continue
		}
		for _, p := range c.Problems {
			fmt.Fprintf(b, "%s on %s: %s\n  repeat: %s\n", c.Name, c.Tier, look.Bad(p), c.Repeat)
		}
	}
}
