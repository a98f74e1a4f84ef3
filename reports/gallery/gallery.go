// Package gallery draws the page that leads to the pages of a suite's runs.
package gallery

import (
	_ "embed"
	"html/template"
	"io"
	"slices"

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
	// Theme is the heading that it is under.
	Theme string
	// Page is where its page is, relative to the gallery.
	Page string
	// Thumbnail is a small SVG image of it.
	Thumbnail  template.HTML
	AsExpected bool
}

// theme is the runs under a heading.
type theme struct {
	Title   string
	Entries []Entry
}

// themed puts the runs of each theme together, in the order in which themes first come.
func themed(entries []Entry) []theme {
	var all []theme
	for _, e := range entries {
		i := slices.IndexFunc(all, func(t theme) bool { return t.Title == e.Theme })
		if i < 0 {
			i = len(all)
			all = append(all, theme{Title: e.Theme})
		}
		all[i].Entries = append(all[i].Entries, e)
	}
	return all
}

// WriteHTML writes the gallery.
func WriteHTML(w io.Writer, entries []Entry) error {
	wrong := 0
	for i := range entries {
		if !entries[i].AsExpected {
			wrong++
		}
	}
	return pageOf.Execute(w, map[string]any{"Head": page.Head{Title: "redlocksim suite", Style: style}, "Entries": entries, "Themes": themed(entries), "Wrong": wrong})
}
