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

	"redlocksim/internal/page"
	"redlocksim/sweep"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
)

var pageOf = page.Template(pageText, nil)

// WriteHTML writes a page with the picture of WriteSVG and the numbers behind it, which are also its text alternative. It
// needs nothing else and opens from a disk.
func WriteHTML(w io.Writer, c *sweep.Chart) error {
	var picture bytes.Buffer
	if err := WriteSVG(&picture, c); err != nil {
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
	style = pageStyle + style
	return pageOf.Execute(w, map[string]any{
		"Head":    page.Head{Title: c.Name + " – redlocksim sweep", Style: style},
		"Chart":   c,
		"Legend":  legend,
		"Others":  others,
		"Cells":   cells,
		"Random":  slices.ContainsFunc(cells, func(cell *sweep.Cell) bool { return cell.Random != nil }),
		"Picture": template.HTML(svg), // of numbers and escaped words, drawn here
	})
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
