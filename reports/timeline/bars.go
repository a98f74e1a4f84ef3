package timeline

import (
	"fmt"
	"slices"
)

func (p *picture) drawLane(i int) {
	l, at := &p.t.Lanes[i], p.lay.lanes[i]
	p.f(`<g class="lane %s" data-lane="%d" data-height="%d" transform="translate(0 %d)">`, l.Kind, i, at.height, at.top)
	p.f(`<rect class="ground" width="%d" height="%d"/>`, p.width, at.height)
	p.drawName(l, at, i)
	p.f(`<g class="plot" clip-path="url(#clip)">`)
	fmt.Fprintf(&p.labels, `<g class="labels %s" data-lane="%d" transform="translate(0 %d)"><g class="plot" clip-path="url(#clip)">`, l.Kind, i, at.top)
	for _, shades := range []bool{true, false} {
		for j := range l.Spans {
			if l.Spans[j].isShade() == shades {
				p.drawSpan(i, j)
			}
		}
	}
	p.drawMarks(i)
	p.f("</g></g>\n")
	p.labels.WriteString("</g></g>\n")
}

func (p *picture) drawName(l *Lane, at lanePlace, i int) {
	style := ""
	if l.Kind == clientLane {
		style = " " + p.style(i)
		p.f(`<rect class="swatch %s" x="3" y="%d" width="9" height="%d"/>`, p.style(i), at.bands[believedBand].top, believedHeight-2)
	}
	squeezed := ""
	if room := p.lay.names - 20; float64(len([]rune(l.Name)))*nameCharWidth > float64(room) {
		squeezed = fmt.Sprintf(` textLength="%d" lengthAdjust="spacingAndGlyphs"`, room)
	}
	p.f(`<text class="name%s" x="16" y="%d"%s>%s</text>`, style, at.wire+4, squeezed, esc(l.Name))
	for _, s := range rowsOf(l) {
		row := *s
		if row.Kind == askingSpan {
			row.Kind = believedSpan // whose row it is
		}
		top, height := at.bar(&row)
		p.f(`<text class="row resource" x="%d" y="%d"><title>%s</title>%s</text>`, p.lay.gutter-6, top+height/2+4, esc(s.Resource), esc(shortened(s.Resource)))
	}
	if votes := at.bands[votesBand]; votes.rows > 0 {
		p.f(`<text class="row" x="16" y="%d">%s</text>`, votes.top+votesHeight-4, map[bool]string{false: "votes", true: "lock"}[p.t.IsOnOne])
	}
	if acts := at.bands[actsBand]; acts.rows > 0 && l.Kind == clientLane {
		p.f(`<text class="row" x="16" y="%d">acts</text>`, acts.top+actsHeight-2)
	}
}

// rowsOf is a window, a call or a key of each row of a lane that is of a resource.
func rowsOf(l *Lane) []*Span {
	var rows []*Span
	for i := range l.Spans {
		s := &l.Spans[i]
		if (s.Kind == believedSpan || s.Kind == askingSpan || s.Kind == keySpan) && s.Resource != "" && !slices.ContainsFunc(rows, func(o *Span) bool { return o.Row == s.Row }) {
			rows = append(rows, s)
		}
	}
	return rows
}

func (p *picture) drawSpan(lane, j int) {
	l, at := &p.t.Lanes[lane], p.lay.lanes[lane]
	s := &l.Spans[j]
	top, height := at.bar(s)
	if height == 0 || p.leavesOut(s.From, s.To) {
		return
	}
	x, end := p.x(s.From), p.x(s.To)
	// Acting windows may be no longer than one effect; they can be seen all the same.
	width := max(end-x, map[bool]float64{true: 2, false: .8}[s.Kind == actingSpan])
	class := string(s.Kind)
	if s.Owner >= 0 {
		class += " " + p.style(s.Owner)
	}
	if s.Quorum {
		class += " quorum"
	}
	if s.Open {
		class += " open"
	}
	title := ""
	if p.isStill { // a page has the texts of spans in its data
		title = "<title>" + esc(s.Text) + "</title>"
	}
	p.f(`<g class="span %s" data-i="%d">%s<rect x="%s" y="%d" width="%s" height="%d"/></g>`, class, j, title, n(x), top, n(width), height)
	if p.isLabelled(s) {
		visible := min(end, float64(p.width-edge)) - max(x, float64(p.lay.gutter))
		fits := func(label string) bool { return float64(len([]rune(label)))*charWidth+6 <= visible }
		label, hidden := s.Label, ""
		if !fits(label) && s.Short != "" {
			label = s.Short
		}
		if !fits(label) {
			hidden = ` display="none"`
		}
		base := top + height/2 + 4
		if s.isShade() {
			base = at.height - 4
			switch {
			case at.shade > 0:
				base = at.shade + labelHeight - 3
			case at.bands[obstaclesBand].rows > 0:
				base = at.bands[obstaclesBand].top - 3
			}
		}
		fmt.Fprintf(&p.labels, `<g class="label %s" data-span="%d"><text x="%s" y="%d"%s>%s</text></g>`, class, j, n(max(x, float64(p.lay.gutter))+4), base, hidden, esc(label))
	}
}

func (p *picture) isLabelled(s *Span) bool {
	return s.Kind != askingSpan && s.Kind != actingSpan
}
