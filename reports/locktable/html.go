package locktable

import (
	_ "embed"
	"io"

	"redlocksim/internal/page"
	"redlocksim/reports"
)

//go:embed page.html
var text string

var pageOf = page.Template(text, map[string]any{"symbol": symbol, "isWorse": (*Cell).isWorse, "words": reports.GradeText})

// WriteHTML writes the table as a page, with links to those of the runs.
func WriteHTML(w io.Writer, t *Table) error {
	type column struct {
		*Lock
		Heading string
	}
	var columns []column
	for i := range t.Locks {
		columns = append(columns, column{&t.Locks[i], t.heading(&t.Locks[i])})
	}
	return pageOf.Execute(w, map[string]any{"Head": page.Head{Title: "Locks people use", IsShared: true}, "Columns": columns, "Rows": t.rows(true), "Repeat": t.Repeat,
		"Unexplained": t.Unexplained(), "Unused": t.Unused})
}
