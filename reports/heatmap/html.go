package heatmap

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strings"

	"redlocksim/sweep"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

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
	return page.Execute(w, map[string]any{
		"Chart":   c,
		"Legend":  Legend,
		"Others":  others,
		"Cells":   cells,
		"Random":  slices.ContainsFunc(cells, func(cell *sweep.Cell) bool { return cell.Random != nil }),
		"Picture": template.HTML(svg[strings.Index(svg, "<svg"):]), // of numbers and escaped words, drawn here
	})
}
