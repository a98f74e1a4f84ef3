package locktable

import (
	_ "embed"
	"io"

	"redlocksim/internal/page"
	"redlocksim/reports"
)

var (
	//go:embed page.html
	text string
	//go:embed page.css
	style string
)

var pageOf = page.Template(text, map[string]any{"symbol": symbol, "heading": (*Lock).heading, "isWorse": (*Cell).isWorse, "words": reports.GradeText})

// WriteHTML writes the table as a page, with links to those of the runs.
func WriteHTML(w io.Writer, t *Table) error {
	locks := make([]*Lock, len(t.Locks))
	for i := range t.Locks {
		locks[i] = &t.Locks[i]
	}
	return pageOf.Execute(w, map[string]any{"Head": page.Head{Title: "Locks people use", Style: style}, "Locks": locks, "Rows": t.rows(true), "Repeat": t.Repeat})
}
