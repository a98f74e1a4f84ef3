package heatmap

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"redlocksim/internal/page"
	"redlocksim/scenarios"
	"redlocksim/sweep"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
)

var pageOf = page.Template(pageText, template.FuncMap{"digits": digits})

// WriteHTML writes a page with the picture of WriteSVG and the numbers behind it, which are also its text alternative. It
// needs nothing else and opens from a disk.
func WriteHTML(w io.Writer, c *sweep.Chart) error {
	maps := mapsOf(c)
	for i := range maps {
		maps[i].title = strings.Join(maps[i].rest, ", ") // the name is the heading of the page
	}
	var picture bytes.Buffer
	if err := writeMaps(&picture, maps, pageSize); err != nil {
		return err
	}
	var others []string
	for _, a := range c.Axes {
		if a.Path != c.Along {
			others = append(others, a.Path)
		}
	}
	var cells []*sweep.Cell
	for i := range c.Cells {
		cells = append(cells, &c.Cells[i])
	}
	if c.Bisected {
		cells = nil // they are those next to the frontier, which is there
	}
	svg := picture.String()
	svg, style := withClasses(svg[strings.Index(svg, "<svg"):])
	style = inTheme.Replace(style)
	style = page.Scroll + pageStyle + style
	return pageOf.Execute(w, map[string]any{
		"Head":    page.Head{Title: c.Name + " – redlocksim sweep", Style: style},
		"Chart":   c,
		"Legend":  legendOf(maps),
		"Yours":   yoursOf(c, maps),
		"Others":  others,
		"Cells":   cells,
		"Random":  slices.ContainsFunc(cells, func(cell *sweep.Cell) bool { return cell.Random != nil }),
		"Failed":  c.Failures.Text("", ""),
		"Picture": template.HTML(svg), // of numbers and escaped words, drawn here
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
	hasBorder := slices.ContainsFunc(maps, func(p panel) bool { return p.border != nil })
	hasFormula := slices.ContainsFunc(maps, func(p panel) bool { return p.formula != nil })
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

// inTheme has the colours of the page take the place of the picture's black on white. The ground of cells stays light, and so
// does what is drawn on them.
var inTheme = strings.NewReplacer(
	".p0 { fill:#FFFFFF }", ".p0 { fill: var(--back) }",
	"font-size:12px }", "font-size:12px; fill: var(--text) }", "font-size:10px }", "font-size:10px; fill: var(--text) }",
	"stroke:#000000", "stroke: var(--text)",
)

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

var styleAttribute = regexp.MustCompile(`\sstyle="([^"<>{}]*)"`)

// withClasses moves the style of each element of a picture into a style sheet, since the policy of the page allows none in
// elements: styles are of numbers, colours and fonts, drawn here, and one that is used often is written once.
func withClasses(svg string) (picture, style string) {
	var sheet strings.Builder
	classes := map[string]string{}
	picture = styleAttribute.ReplaceAllStringFunc(svg, func(attribute string) string {
		text := html.UnescapeString(styleAttribute.FindStringSubmatch(attribute)[1])
		if classes[text] == "" {
			classes[text] = fmt.Sprintf("p%d", len(classes))
			fmt.Fprintf(&sheet, ".%s { %s }\n", classes[text], strings.TrimSpace(text))
		}
		return fmt.Sprintf(` class="%s"`, classes[text])
	})
	return picture, sheet.String()
}
