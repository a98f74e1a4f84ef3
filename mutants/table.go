package mutants

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

const tableHead = `# Planted bugs

Each row is a bug that was planted into the source, in the overlay of a build only, and what of the catalogue turned red.
A bug of the adapter or its scripts shows on tier wire, the others were run on tier model. Runs is how many it took until
the first kill. A unit test is named where no scenario can show the bug. The last column is where a random search finds the bug by itself, and in which of %d experiments with each
of [eight settings](settings.go); adapters and other protocols are not searched.

` + "`go run ./mutants/verify` runs those that are new or were changed, with `-all` also those that were run before the\nsources changed, and writes this file; it goes on where it was interrupted. `go test ./mutants`" + ` fails when one was
not run, or survives, and runs a sample anew that is another one whenever the sources change.

`

// Page is TABLE.md.
func (r Results) Page() string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"bug", "seen in", "killed by", "runs", "found by search"})
	for _, m := range All() {
		result, wasRun := r.Of(m.Name)
		by := killers(m, result)
		if !wasRun {
			by = "not run yet"
		}
		t.AppendRow(table.Row{m.Bug, cmp.Or(m.Real, "–"), by, result.Runs, found(result)})
	}
	return fmt.Sprintf(tableHead, r.Searched) + t.RenderMarkdown() + "\n"
}

func killers(m Mutant, r Result) string {
	var by []string
	for _, k := range r.KilledBy {
		by = append(by, k.String())
	}
	switch {
	case by == nil && m.Equivalent != "":
		return "nothing can: " + m.Equivalent
	case by == nil:
		return "NOTHING"
	case m.Tier != "":
		return strings.Join(by, ", ") + " (" + m.Tier + ")"
	}
	return strings.Join(by, ", ")
}

func found(r Result) string {
	var in []string
	for _, f := range r.Found {
		switch {
		case f.How != "":
			in = append(in, f.Settings+" ("+f.How+")")
		case f.Run > 0:
			in = append(in, fmt.Sprintf("%s (%d)", f.Settings, f.Run))
		}
	}
	switch {
	case r.Found == nil:
		return "–"
	case in == nil:
		return "not found"
	}
	return strings.Join(in, ", ")
}
