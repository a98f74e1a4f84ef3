package heatmap

import (
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"redlocksim/internal/page"
	"redlocksim/scenarios"
	"redlocksim/search/sweep"
)

//go:embed page.html
var pageText string

var pageOf = page.Template(pageText, template.FuncMap{"digits": digits})

// WriteHTML writes a page with the picture of WriteSVG and the numbers behind it, which are also its text alternative. It
// needs nothing else and opens from a disk.
func WriteHTML(w io.Writer, c *sweep.Chart) error {
	maps := mapsOf(c)
	if len(maps) == 0 {
		return ErrEmpty
	}
	var others []string
	for _, a := range c.Axes {
		if a.Path != c.Along {
			others = append(others, a.Path)
		}
	}
	cells := c.Cells
	if c.Bisected {
		cells = nil // they are those next to the frontier, which is there
	}
	return pageOf.Execute(w, map[string]any{
		"Head":    page.Head{Title: c.Name + " – redlocksim sweep"},
		"Chart":   c,
		"Legend":  legendOf(maps),
		"Yours":   yoursOf(c, maps),
		"Others":  others,
		"Cells":   cells,
		"Failed":  c.Failures.Text("", ""),
		"Picture": template.HTML(picture(maps, "")), // of numbers and escaped words; the name is the heading of the page
	})
}

// legendOf says what can be seen in the maps.
func legendOf(maps []panel) string {
	var parts []string
	for _, sign := range []struct{ verdict, text string }{
		{"safe", "light blue is safe"}, {"broken", "orange with a cross is broken"}, {scenarios.NothingTested, "yellow was not tested"}, {"invalid", "grey cannot be run"},
	} {
		if slices.ContainsFunc(maps, func(p panel) bool {
			return slices.ContainsFunc(p.fields, func(f field) bool { return f.verdict == sign.verdict })
		}) {
			parts = append(parts, sign.text)
		}
	}
	text := strings.Join(parts, ", ") + "."
	hasBorder := slices.ContainsFunc(maps, func(p panel) bool { return len(p.border) > 0 })
	hasFormula := slices.ContainsFunc(maps, func(p panel) bool { return len(p.formula) > 0 })
	if hasBorder {
		text += " The black line is the frontier that the sweep found."
	}
	if hasFormula {
		text += " The wide blue line is where the formula puts the frontier, cell by cell."
	}
	if hasBorder && hasFormula {
		text += " Where the two part, they differ; where only the black line can be seen, the formula has no value or leaves the chart."
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// digits is a percentage to five digits that matter; other words are as they are.
func digits(word string) string {
	number, isPercent := strings.CutSuffix(word, "%")
	x, err := decimal.NewFromString(number)
	if !isPercent || err != nil || x.IsZero() {
		return word
	}
	return x.Round(int32(5-x.NumDigits())-x.Exponent()).String() + "%"
}

// yoursOf says where on the maps somebody's own settings are; empty if the chart is of nobody's.
func yoursOf(c *sweep.Chart, maps []panel) string {
	var parts, unset []string
	for i, word := range c.Yours {
		if word == "" {
			unset = append(unset, c.Axes[i].Path)
			continue
		}
		parts = append(parts, c.Axes[i].Path+" "+word)
	}
	switch {
	case c.Yours == nil:
		return ""
	case len(unset) > 0:
		return "Your settings are not marked: they have no single value of their own, and no default that is on the chart, for " + strings.Join(unset, ", ") + "."
	case !slices.ContainsFunc(maps, func(p panel) bool { return p.yours != nil }):
		return "Your settings (" + strings.Join(parts, ", ") + ") are not on the chart."
	}
	return "The ring marks your settings: " + strings.Join(parts, ", ") + "."
}
