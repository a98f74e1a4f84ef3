package timeline

import (
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"redlocksim/internal/page"
)

//go:embed page.html
var pageText string

var pageOf = page.Template(pageText, template.FuncMap{"seconds": seconds})

// pageWidth is how wide the picture of a page is until its program has seen how much room there is.
const pageWidth = 1200

// embedded is the block of data in a page, for its program: the timeline, how it is laid out, and the elements of its picture,
// which the program moves.
type embedded struct {
	Timeline *Timeline `json:"timeline"`
	Picture  string    `json:"picture"`
	// Points are the instants between which the scale is even.
	Points []Instant      `json:"points"`
	Layout map[string]any `json:"layout"`
}

// WriteHTML writes the timeline as a page that needs nothing else: the picture; the story, which can be stepped through and is
// there without its program too; and what holds at the cursor.
func WriteHTML(w io.Writer, t *Timeline) error { return writeHTML(w, t, false) }

// WriteSharedHTML writes the same page for a directory that has the files [page.Shared], which are the larger part of most.
func WriteSharedHTML(w io.Writer, t *Timeline) error { return writeHTML(w, t, true) }

func writeHTML(w io.Writer, t *Timeline, isShared bool) error {
	p := newPicture(t, pageWidth)
	p.draw()
	block, err := packed(p)
	if err != nil {
		return err
	}
	type example struct {
		Drawing template.HTML
		Text    string
	}
	fill := struct {
		T              *Timeline
		Head           page.Head
		Data           template.HTML // in base64, which has no markup
		Legend         []example
		Width, Height  int
		Axis, AxisText int
		Polling        bool // there are folded messages to be shown
	}{T: t, Head: page.Head{Title: fmt.Sprintf("%s: %s — %s — redlocksim", t.Name, t.Title, t.Verdict), IsShared: isShared}, Data: template.HTML(block),
		Width: pageWidth, Height: p.lay.bottom, Axis: p.lay.axis, AxisText: p.lay.axis + 11,
		Polling: slices.ContainsFunc(t.Arrows, func(a Arrow) bool { return a.Folded })}
	for _, s := range legend(t) {
		fill.Legend = append(fill.Legend, example{template.HTML(s.drawing), s.text})
	}
	return pageOf.Execute(w, fill)
}

// packed is the data of a page with a picture: JSON that is packed by gzip, to a tenth, and written in base64.
func packed(p *picture) (string, error) {
	data := embedded{Timeline: p.t, Points: p.scale.points}
	data.Picture = defs + fmt.Sprintf("<clipPath id=\"clip\"><rect x=\"%d\" y=\"-4\" width=\"%d\" height=\"%d\"/></clipPath>\n",
		p.lay.gutter-2, pageWidth-p.lay.gutter-2, p.lay.bottom+8) + p.String()
	first, wires := p.lay.bottom, []int{} // the top of the first lane
	for i, lane := range p.lay.lanes {
		if i == 0 {
			first = lane.top
		}
		wires = append(wires, lane.wire)
	}
	data.Layout = map[string]any{"gutter": p.lay.gutter, "names": p.lay.names, "axis": p.lay.axis, "overlap": p.lay.overlap, "lanes": first, "gap": laneGap,
		"wires": wires, "char": charWidth, "small": smallCharWidth, "bold": boldCharWidth, "flag": flagPad}
	var b strings.Builder
	text := base64.NewEncoder(base64.StdEncoding, &b)
	z := gzip.NewWriter(text)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := errors.Join(e.Encode(data), z.Close(), text.Close()); err != nil {
		return "", err
	}
	return b.String(), nil
}
