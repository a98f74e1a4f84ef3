package mutants

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Table shows outcomes as a Markdown table. Only if timed is set it says how long each took, which is never the same twice.
func Table(outcomes []Outcome, timed bool) string {
	t := table.NewWriter()
	header := table.Row{"bug", "seen in", "killed by", "runs"}
	explored := slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.Explored })
	if explored {
		header = append(header, "found by search in run")
	}
	if timed {
		header = append(header, "seconds")
	}
	t.AppendHeader(header)
	for _, o := range outcomes {
		by := strings.Join(o.KilledBy, ", ")
		switch {
		case by == "" && o.Mutant.Equivalent != "":
			by = "nothing can: " + o.Mutant.Equivalent
		case by == "":
			by = "NOTHING"
		case o.Mutant.Tier != "":
			by += " (" + o.Mutant.Tier + ")"
		}
		row := table.Row{o.Mutant.Bug, cmp.Or(o.Mutant.Real, "–"), by, o.Runs}
		if explored {
			found := ""
			switch {
			case o.Found > 0:
				found = fmt.Sprint(o.Found)
			case o.Explored:
				found = "not found"
			}
			row = append(row, found)
		}
		if timed {
			row = append(row, fmt.Sprintf("%.1f", o.Took.Round(100*time.Millisecond).Seconds()))
		}
		t.AppendRow(row)
	}
	return t.RenderMarkdown() + "\n"
}
