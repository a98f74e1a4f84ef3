// Package gallery draws the page that leads to the pages of a suite's runs.
package gallery

import (
	_ "embed"
	"html/template"
	"io"
	"slices"

	"redlocksim/internal/page"
	"redlocksim/internal/plural"
)

//go:embed page.html
var text string

var pageOf = page.Template(text, nil)

// Entry is a case, and its runs.
type Entry struct {
	Name, Title string
	// Theme is the heading that it is under.
	Theme string
	// Thumbnail is a small SVG image of its first run.
	Thumbnail template.HTML
	// Runs are those on each tier, at least one.
	Runs []Run
}

// Run is a run on a tier.
type Run struct {
	// Verdict is what it showed, for people, and Ending how it came out beside what was expected.
	Tier, Verdict, Ending string
	// Page is where its page is, relative to the gallery; empty if it has none.
	Page string
	// AsExpected says that it came out so, and IsBroken that the lock does not hold.
	AsExpected, IsBroken bool
}

// Agree says that the verdict is the same on all tiers.
func (e *Entry) Agree() bool {
	return !slices.ContainsFunc(e.Runs, func(r Run) bool { return r.Verdict != e.Runs[0].Verdict || r.Ending != e.Runs[0].Ending })
}

// Class is the class of its link.
func (r *Run) Class() string {
	switch {
	case !r.AsExpected:
		return "wrong"
	case r.IsBroken:
		return "known"
	}
	return "right"
}

// theme is the cases under a heading.
type theme struct {
	Title   string
	Entries []*Entry
}

// themed puts the cases of each theme together, in the order in which themes first come.
func themed(entries []*Entry) []theme {
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
func WriteHTML(w io.Writer, entries []*Entry) error {
	runs, wrong := 0, 0
	for _, e := range entries {
		runs += len(e.Runs)
		for _, r := range e.Runs {
			if !r.AsExpected {
				wrong++
			}
		}
	}
	return pageOf.Execute(w, map[string]any{"Head": page.Head{Title: "redlocksim suite", IsShared: true}, "Themes": themed(entries),
		"Count": plural.Count(len(entries), "case") + ", " + plural.Count(runs, "run"), "Wrong": wrong})
}
