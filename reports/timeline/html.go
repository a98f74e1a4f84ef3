package timeline

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"

	"redlocksim/internal/page"
)

var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageProgram string

	pageOf = page.Template(pageText, template.FuncMap{"seconds": seconds})
)

// pageWidth is how wide the picture of a page is until its program has seen how much room there is.
const pageWidth = 1200

// embedded is the block of data in a page, for its program: the timeline, and how it is laid out.
type embedded struct {
	Timeline *Timeline `json:"timeline"`
	// Points are the instants between which the scale is even.
	Points []Instant `json:"points"`
	Layout struct {
		Gutter     int     `json:"gutter"`
		Names      int     `json:"names"` // the part of the gutter for the names of lanes
		Axis       int     `json:"axis"`
		Overlap    int     `json:"overlap"`
		Lanes      int     `json:"lanes"` // the top of the first
		Gap        int     `json:"gap"`
		Wires      []int   `json:"wires"`
		Char       float64 `json:"char"`
		Small      float64 `json:"small"`
		CrowdWidth int     `json:"crowdWidth"`
		Crowded    int     `json:"crowded"`
		CrowdInk   int     `json:"crowdInk"`
		Bold       float64 `json:"bold"`
		Flag       int     `json:"flag"` // how far the room of a fault's label may reach beyond the next fault
	} `json:"layout"`
}

// WriteHTML writes the timeline as a page that needs nothing else: the picture, which is there without its program too;
// the story, which can be stepped through; and what holds at the cursor.
func WriteHTML(w io.Writer, t *Timeline) error {
	p := newPicture(t, pageWidth)
	p.draw()
	data := embedded{Timeline: t, Points: p.scale.points}
	l := &data.Layout
	l.Gutter, l.Names, l.Axis, l.Overlap, l.Lanes, l.Gap = p.lay.gutter, p.lay.names, p.lay.axis, p.lay.overlap, p.lay.bottom, laneGap
	l.Char, l.Small, l.Bold, l.CrowdWidth, l.Crowded, l.CrowdInk = charWidth, smallCharWidth, boldCharWidth, crowdWidth, crowded, crowdInk
	l.Flag = flagPad
	l.Wires = []int{}
	for i, lane := range p.lay.lanes {
		if i == 0 {
			l.Lanes = lane.top
		}
		l.Wires = append(l.Wires, lane.wire)
	}
	block, err := json.Marshal(data)
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
		Picture        template.HTML
		Data           template.JS // escaped by json.Marshal: it has no "<"
		Program        template.JS
		Legend         []example
		Width, Height  int
		Axis, AxisText int
		Polling        bool // there are folded messages to be shown
	}{T: t, Head: page.Head{Title: fmt.Sprintf("%s: %s — %s — redlocksim", t.Name, t.Title, t.Verdict), Style: pageStyle + pictureStyle, Scripts: []string{pageProgram}}, Data: template.JS(block), Program: template.JS(pageProgram),
		Width: pageWidth, Height: p.lay.bottom, Axis: p.lay.axis, AxisText: p.lay.axis + 11,
		Polling: slices.ContainsFunc(t.Arrows, func(a Arrow) bool { return a.Folded })}
	fill.Picture = template.HTML(defs + fmt.Sprintf("<clipPath id=\"clip\"><rect x=\"%d\" y=\"-4\" width=\"%d\" height=\"%d\"/></clipPath>\n",
		p.lay.gutter-2, pageWidth-p.lay.gutter-2, p.lay.bottom+8) + p.String())
	for _, s := range legend(t) {
		fill.Legend = append(fill.Legend, example{template.HTML(s.drawing), s.text})
	}
	return pageOf.Execute(w, fill)
}
