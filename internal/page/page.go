// Package page is what the pages of all reports begin with. A page is one file that opens from a disk and needs nothing but
// itself, and its policy allows only the scripts and style sheets that it was written with.
package page

import (
	_ "embed"
	"html/template"

	"redlocksim/internal/csp"
)

var (
	//go:embed head.html
	head string

	// Scroll is the style of a table that may be wider than the window, class scroll: a shadow falls on a side on which
	// there is more. Behind it is --back.
	//
	//go:embed scroll.css
	Scroll string
)

// Template parses the text of a page, which begins with {{template "head" .Head}}.
func Template(text string, functions template.FuncMap) *template.Template {
	return template.Must(template.Must(template.New("page").Funcs(functions).Parse(head)).Parse(text))
}

// Head is the head of a page.
type Head struct {
	Title string
	// Style is its style sheet, and Scripts are all that it runs.
	Style   string
	Scripts []string
}

// Policy is the content security policy.
func (h Head) Policy() string { return csp.Policy(h.Scripts, []string{h.Style}) }

// Sheet is the style sheet as it stands in the page.
func (h Head) Sheet() template.CSS { return template.CSS(h.Style) }
