package reports

import (
	_ "embed"
	"html/template"
	"io"
	"slices"

	"redlocksim/checker"
	"redlocksim/internal/page"
	"redlocksim/internal/plural"
)

//go:embed gallery.html
var galleryText string

var galleryOf = page.Template(galleryText, nil)

// Drawn is a run with the page on which it is drawn, relative to the gallery, and a small SVG image of it; both are empty if it
// has none.
type Drawn struct {
	*Case
	Page      string
	Thumbnail template.HTML
}

// Sign is the class of its link.
func (d *Drawn) Sign() string {
	switch {
	case !d.OK:
		return "wrong"
	case d.Word == string(checker.Holds) || d.Word == string(checker.Untested):
		return "right"
	}
	return "known"
}

// tiers are the runs of a case on each tier, at least one.
type tiers []Drawn

// First is the run whose picture stands for all, and Agree says that the verdict is the same on all tiers.
func (t tiers) First() Drawn { return t[0] }
func (t tiers) Agree() bool {
	return !slices.ContainsFunc(t, func(d Drawn) bool { return d.Says != t[0].Says || d.Ending != t[0].Ending })
}

// theme is the cases under a heading.
type theme struct {
	Title string
	Cases []tiers
}

// Gallery writes the page that leads to the pages of a suite's runs, those of a case after each other.
func Gallery(w io.Writer, runs []Drawn) error {
	var themes []*theme
	count, wrong := 0, 0
	for i, d := range runs {
		if !d.OK {
			wrong++
		}
		at := slices.IndexFunc(themes, func(t *theme) bool { return t.Title == d.Theme.Title() })
		if at < 0 {
			at = len(themes)
			themes = append(themes, &theme{Title: d.Theme.Title()})
		}
		t := themes[at]
		if i == 0 || runs[i-1].Name != d.Name {
			count++
			t.Cases = append(t.Cases, nil)
		}
		last := len(t.Cases) - 1
		t.Cases[last] = append(t.Cases[last], d)
	}
	return galleryOf.Execute(w, map[string]any{"Head": page.Head{Title: "redlocksim suite", IsShared: true}, "Themes": themes,
		"Count": plural.Count(count, "case") + ", " + plural.Count(len(runs), "run"), "Wrong": wrong})
}
