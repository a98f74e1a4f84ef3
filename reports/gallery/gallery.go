// Package gallery draws the page that leads to the pages of a suite's runs.
package gallery

import (
	_ "embed"
	"io"

	"redlocksim/internal/page"
)

var (
	//go:embed page.html
	text string
	//go:embed page.css
	style string
)

var pageOf = page.Template(text, nil)

// Entry is a run with a page of its own.
type Entry struct {
	Name, Title, Tier, Verdict string
	// Page is where its page is, relative to the gallery.
	Page       string
	AsExpected bool
}

// WriteHTML writes the gallery.
func WriteHTML(w io.Writer, entries []Entry) error {
	wrong := 0
	for i := range entries {
		if !entries[i].AsExpected {
			wrong++
		}
	}
	return pageOf.Execute(w, map[string]any{"Head": page.Head{Title: "redlocksim suite", Style: style}, "Entries": entries, "Wrong": wrong})
}
