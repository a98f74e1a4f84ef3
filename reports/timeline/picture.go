package timeline

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/printable"
)

// picture draws the lanes of a timeline as elements of SVG. What they look like is said by picture.css.
//
// The page's program moves these same elements when it zooms; it finds them by their classes and by data-lane and data-i,
// which are places in the timeline's lists.
type picture struct {
	strings.Builder
	t          *Timeline
	lay        layout
	width      int
	scale      scale
	left, over float64 // the place at the left edge of the plot, and how much of the scale the plot shows
	isStill    bool    // it cannot be moved, and what lies outside of the plot need not be there
}

func newPicture(t *Timeline, width int) *picture {
	p := &picture{t: t, lay: arrangeLanes(t), width: width, scale: told(t, Stretch{t.From, t.To})}
	p.left = p.scale.place(t.Focus.From)
	p.over = p.scale.place(t.Focus.To) - p.left
	return p
}

// x is where an instant is, between the edges of the plot or a little outside of them.
func (p *picture) x(at Instant) float64 {
	part := (p.scale.place(at) - p.left) / p.over
	return float64(p.lay.gutter) + min(max(part, -1), 2)*p.plot()
}

// leavesOut says that nothing is to be drawn from one instant to another.
func (p *picture) leavesOut(from, to Instant) bool { return p.isStill && !p.t.Focus.has(from, to) }

// plot is how wide the plot is.
func (p *picture) plot() float64 { return float64(p.width - p.lay.gutter - edge) }

func (p *picture) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// n writes a coordinate, to a tenth of a pixel.
func n(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", math.Round(x*10)/10), ".0")
}

// esc is a text as XML has it, in which control characters cannot be said at all.
func esc(text string) string { return html.EscapeString(printable.Line(text)) }

// style is the class of what belongs to a client's lane: one of six colours with their patterns.
func (p *picture) style(lane int) string {
	if lane < 0 || p.t.Lanes[lane].Kind != Client {
		return "nobody"
	}
	return fmt.Sprintf("c%d", lane%styles)
}

// styles is how many clients look different.
const styles = 6

// defs are the patterns and arrow heads; the classes of picture.css refer to them.
const defs = `<defs>
<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="head" d="M0 .8 8 4 0 7.2z"/></marker>
<marker id="late" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="late-head" d="M.6 1 7.4 4 .6 7z"/></marker>
<marker id="cross" viewBox="0 0 10 10" refX="5" refY="5" markerWidth="8" markerHeight="8" orient="0"><path class="cross" d="M1 1 9 9M9 1 1 9"/></marker>
<pattern id="p0" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f0" width="6" height="6"/><path class="s0" d="M-1 7 7-1"/></pattern>
<pattern id="p1" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f1" width="6" height="6"/><circle class="d1" cx="3" cy="3" r="1.1"/></pattern>
<pattern id="p2" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f2" width="6" height="6"/><path class="s2" d="M3 0V6"/></pattern>
<pattern id="p3" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f3" width="6" height="6"/><path class="s3" d="M-1-1 7 7"/></pattern>
<pattern id="p4" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="f4" width="6" height="6"/><path class="s4" d="M0 3H6"/></pattern>
<pattern id="p5" width="8" height="8" patternUnits="userSpaceOnUse"><rect class="f5" width="8" height="8"/><path class="s5" d="M4 0V8M0 4H8"/></pattern>
<pattern id="stopped" width="8" height="8" patternUnits="userSpaceOnUse"><path class="hatch" d="M-2 6 6-2M2 10 10 2"/></pattern>
<pattern id="both" width="7" height="7" patternUnits="userSpaceOnUse"><path class="both-hatch" d="M-1-1 8 8M-1 8 8-1"/></pattern>
</defs>
`

// draw writes the whole picture of the lanes.
func (p *picture) draw() {
	p.f(`<g class="steps">`)
	p.drawSteps()
	p.f("</g>\n<g class=\"axis\">")
	p.drawAxis()
	p.f("</g>\n")
	for i := range p.t.Lanes {
		p.drawLane(i)
	}
	p.f(`<g class="arrows" clip-path="url(#clip)">`)
	many := p.crowds()
	for i := range p.t.Arrows {
		p.drawArrow(i, many[p.crowd(&p.t.Arrows[i])])
	}
	p.f("</g>\n")
	p.drawViolation()
}

func (p *picture) drawSteps() {
	last := math.Inf(-1)
	for i, s := range p.t.Story {
		if p.leavesOut(s.At, s.At) {
			continue
		}
		x, text := p.x(s.At), fmt.Sprint(s.Number)
		half := float64(len(text))*smallCharWidth/2 + 4
		hidden := ""
		if x-half < last || !p.shows(x) {
			hidden = ` display="none"`
		} else {
			last = x + half
		}
		p.f(`<g class="step" data-i="%d" transform="translate(%s)"%s><rect x="%s" y="1" width="%s" height="14" rx="7"/><text y="12">%s</text></g>`,
			i, n(x), hidden, n(-half), n(2*half), text)
	}
}

// shows says whether a place lies within the plot.
func (p *picture) shows(x float64) bool {
	return x >= float64(p.lay.gutter)-.5 && x <= float64(p.width)
}

// drawAxis writes the true times of what happens, as many as there is room for: the violation's first, then
// those of the story.
func (p *picture) drawAxis() {
	p.f(`<line x1="%d" y1="%d" x2="%d" y2="%d"/>`, p.lay.gutter, p.lay.axis+axisHeight-2, p.width-edge, p.lay.axis+axisHeight-2)
	type label struct {
		x    float64
		text string
	}
	var labels []label
	add := func(at Instant) {
		l := label{p.x(at), brief(at)}
		half := float64(len(l.text))*smallCharWidth/2 + 5
		if !p.shows(l.x) || l.x-half < float64(p.lay.gutter)-30 || l.x+half > float64(p.width)+2 {
			return
		}
		for _, o := range labels {
			if math.Abs(o.x-l.x) < half+float64(len(o.text))*smallCharWidth/2+5 {
				return
			}
		}
		labels = append(labels, l)
	}
	if v := p.t.Violation; v != nil {
		add(v.From)
		add(v.To)
	}
	add(p.t.Focus.From)
	for _, s := range p.t.Story {
		add(s.At)
	}
	for _, at := range p.scale.points {
		add(at)
	}
	slices.SortFunc(labels, func(a, b label) int { return int(math.Copysign(1, a.x-b.x)) })
	for _, l := range labels {
		p.f(`<path d="M%s %dv4"/><text x="%s" y="%d">%s</text>`, n(l.x), p.lay.axis+axisHeight-4, n(l.x), p.lay.axis+11, l.text)
	}
}

// brief is an instant as short as it can be to a tenth of a millisecond.
func brief(at Instant) string {
	text := strings.TrimRight(fmt.Sprintf("%.4f", time.Duration(at).Seconds()), "0")
	return strings.TrimSuffix(text, ".") + "s"
}

func (p *picture) drawLane(i int) {
	l, at := &p.t.Lanes[i], p.lay.lanes[i]
	p.f(`<g class="lane %s" data-lane="%d" data-height="%d" transform="translate(0 %d)">`, l.Kind, i, at.height, at.top)
	p.f(`<rect class="ground" width="%d" height="%d"/>`, p.width, at.height)
	p.drawName(l, at, i)
	p.f(`<g class="plot" clip-path="url(#clip)">`)
	for j := range l.Spans {
		p.drawSpan(i, j)
	}
	p.drawMarks(i)
	p.f("</g></g>\n")
}

func (p *picture) drawName(l *Lane, at lanePlace, i int) {
	style := ""
	if l.Kind == Client {
		style = " " + p.style(i)
		p.f(`<rect class="swatch %s" x="3" y="%d" width="9" height="%d"/>`, p.style(i), at.believed, believedHeight-2)
	}
	squeezed := ""
	if room := p.lay.names - 20; float64(len([]rune(l.Name)))*nameCharWidth > float64(room) {
		squeezed = fmt.Sprintf(` textLength="%d" lengthAdjust="spacingAndGlyphs"`, room)
	}
	p.f(`<text class="name%s" x="16" y="%d"%s>%s</text>`, style, at.wire+4, squeezed, esc(l.Name))
	for _, s := range rowsOf(l) {
		top, height := p.bar(l, at, s)
		p.f(`<text class="row resource" x="%d" y="%d"><title>%s</title>%s</text>`, p.lay.gutter-6, top+height/2+4, esc(s.Resource), esc(shortened(s.Resource)))
	}
	if at.granted >= 0 {
		p.f(`<text class="row" x="16" y="%d">granted</text>`, at.granted+grantedHeight-1)
	}
	if at.acts >= 0 && l.Kind == Client {
		p.f(`<text class="row" x="16" y="%d">acts</text>`, at.acts+actsHeight-2)
	}
}

// rowsOf is a window or a key of each row of a lane that is of a resource.
func rowsOf(l *Lane) []*Span {
	var rows []*Span
	for i := range l.Spans {
		s := &l.Spans[i]
		if (s.Kind == Believed || s.Kind == Key) && s.Resource != "" && !slices.ContainsFunc(rows, func(o *Span) bool { return o.Row == s.Row }) {
			rows = append(rows, s)
		}
	}
	return rows
}

// longestResource is how many characters of a resource's name are written before its row.
const longestResource = 14

// shortened is a resource's name as it is written before its row.
func shortened(name string) string {
	if all := []rune(name); len(all) > longestResource {
		return string(all[:longestResource-1]) + "…"
	}
	return name
}

// bar is a span's box in its lane: top and height. A shade covers the lane; what is not drawn has no height.
func (p *picture) bar(l *Lane, at lanePlace, s *Span) (top, height int) {
	switch s.Kind {
	case Asking:
		return at.believed + s.Row%max(1, at.believedRows)*believedHeight + believedHeight/2 - 2, 4
	case Believed:
		return at.believed + s.Row*believedHeight, believedHeight - 2
	case Granted:
		return at.granted + s.Row*grantedHeight, grantedHeight - 1
	case Acting:
		return at.acts + s.Row*actsHeight + 4, 4
	case Key:
		return at.keys + s.Row*keyHeight, keyHeight - 2
	case Cut, Held, Slow:
		return at.obstacles + min(s.Row, at.obstacleRows-1)*obstacleHeight, obstacleHeight - 1
	case Other:
		return 0, 0
	}
	return 0, at.height
}

func (p *picture) drawSpan(lane, j int) {
	l, at := &p.t.Lanes[lane], p.lay.lanes[lane]
	s := &l.Spans[j]
	top, height := p.bar(l, at, s)
	if height == 0 || p.leavesOut(s.From, s.To) {
		return
	}
	x, end := p.x(s.From), p.x(s.To)
	// Acting windows may be no longer than one effect; they can be seen all the same.
	width := max(end-x, map[bool]float64{true: 2, false: .8}[s.Kind == Acting])
	class := string(s.Kind)
	if s.Owner >= 0 {
		class += " " + p.style(s.Owner)
	}
	if s.Open {
		class += " open"
	}
	p.f(`<g class="span %s" data-i="%d"><title>%s</title><rect x="%s" y="%d" width="%s" height="%d"/>`, class, j, esc(s.Text), n(x), top, n(width), height)
	if p.isLabelled(s) {
		visible := min(end, float64(p.width-edge)) - max(x, float64(p.lay.gutter))
		fits := func(label string) bool { return float64(len([]rune(label)))*charWidth+6 <= visible }
		label, hidden := s.Label, ""
		if !fits(label) && s.Resource != "" {
			label = s.Resource
		}
		if !fits(label) {
			hidden = ` display="none"`
		}
		base := top + height/2 + 4
		if height > 2*keyHeight || s.Kind == Paused || s.Kind == Suspended || s.Kind == Down || s.Kind == Off || s.Kind == Crashed {
			base = at.height - 4
		}
		p.f(`<text x="%s" y="%d"%s>%s</text>`, n(max(x, float64(p.lay.gutter))+4), base, hidden, esc(label))
	}
	p.f("</g>")
}

func (p *picture) isLabelled(s *Span) bool {
	return s.Kind != Asking && s.Kind != Granted && s.Kind != Acting
}

func (p *picture) drawMarks(lane int) {
	l, at := &p.t.Lanes[lane], p.lay.lanes[lane]
	last := math.Inf(-1)
	for j := 0; j < len(l.Marks); j++ {
		m := &l.Marks[j]
		if p.leavesOut(m.At, m.At) {
			continue
		}
		x := p.x(m.At)
		switch m.Kind {
		case Accepted, Refused:
			shape := map[MarkKind]string{Accepted: "M0 9-4 2H4z", Refused: "M-4 2 4 10M4 2-4 10"}[m.Kind]
			p.f(`<g class="mark %s" data-i="%d" data-top="%d" transform="translate(%s %d)"><title>%s</title><path d="%s"/>`, m.Kind, j, at.acts, n(x), at.acts, esc(m.Text), shape)
			if l.Kind != Client && !m.isRead() {
				last = p.drawLabel(x, last, 7, 10, m.Label)
			}
			p.f("</g>")
		default:
			// Faults at the same time are one mark.
			label, text := m.Label, m.Text
			first := j
			for j+1 < len(l.Marks) && l.Marks[j+1].At == m.At && (l.Marks[j+1].Kind == Fault || l.Marks[j+1].Kind == Crash) {
				j++
				label += ", " + l.Marks[j].Label
				text += "; " + l.Marks[j].Text
			}
			p.f(`<g class="mark fault" data-i="%d" data-top="0" transform="translate(%s 0)"><title>%s</title><path d="M0 2V%dM0 2 8 6 0 10z"/>`, first, n(x), esc(text), at.height)
			last = p.drawLabel(x, last, 10, at.labels+9, label)
			p.f("</g>")
		}
	}
}

// isRead says that a mark is of a read, which has no label in the picture: the write that follows needs the room.
func (m *Mark) isRead() bool { return m.Kind == Accepted && strings.HasSuffix(m.Label, "read") }

// drawLabel writes the label of a mark behind it, or before it at the right edge, or hides it where the last one ends
// later. It returns where the labels so far end.
func (p *picture) drawLabel(x, last float64, dx, y int, label string) float64 {
	width := float64(len([]rune(label)))*smallCharWidth + 14
	back, hidden, end := "", "", x+width
	if x+width > float64(p.width) {
		back, end = ` class="back"`, x
	}
	if end-width < last {
		hidden, end = ` display="none"`, last
	}
	p.f(`<text x="%d" y="%d"%s%s>%s</text>`, dx, y, back, hidden, esc(label))
	return end
}

// crowd is the messages of one client that are sent at about the same place of the picture. Where they are too many to be
// told apart, they are drawn the more faintly the more they are.
type crowd struct{ client, place int }

const (
	crowdWidth = 16 // pixels
	crowded    = 24
	crowdInk   = 4 // how many arrows in full strength a crowd amounts to
)

func (p *picture) crowd(a *Arrow) crowd { return crowd{a.Client, int(p.x(a.Sent)) / crowdWidth} }

func (p *picture) crowds() map[crowd]int {
	many := map[crowd]int{}
	for i := range p.t.Arrows {
		many[p.crowd(&p.t.Arrows[i])]++
	}
	return many
}

func (p *picture) drawArrow(i, crowd int) {
	a := &p.t.Arrows[i]
	if p.leavesOut(a.Sent, a.Ended) {
		return
	}
	x1, x2, y1, y2 := p.x(a.Sent), p.x(a.Ended), p.wire(a.From), p.wire(a.To)
	y2 = y1 + reach(a)*(y2-y1)
	class := "arrow " + p.style(a.Client) + " " + string(a.Fate)
	if a.IsReply {
		class += " reply"
	}
	faint := ""
	if crowd > crowded {
		class += " faint"
		faint = fmt.Sprintf(` opacity="%.3f"`, float64(crowdInk)/float64(crowd))
	}
	p.f(`<line class="%s" data-i="%d" x1="%s" y1="%s" x2="%s" y2="%s"%s/>`, class, i, n(x1), n(y1), n(x2), n(y2), faint)
}

// reach is how far an arrow gets on its way: a message that is lost at once half of it, one that is lost where it would
// arrive nearly all.
func reach(a *Arrow) float64 {
	switch {
	case a.Fate != Lost && a.Fate != UnderWay:
		return 1
	case a.Ended == a.Sent:
		return .5
	}
	return .85
}

// wire is the height at which messages leave and reach a lane.
func (p *picture) wire(lane int) float64 {
	return float64(p.lay.lanes[lane].top + p.lay.lanes[lane].wire)
}

// drawViolation writes the band of the violation, its name above, and the outlines of the windows that it rests on.
func (p *picture) drawViolation() {
	v := p.t.Violation
	if v == nil {
		return
	}
	x, end := p.x(v.From), p.x(v.To)
	p.f(`<g class="violation" clip-path="url(#clip)"><title>%s</title><rect class="band" x="%s" y="%d" width="%s" height="%d"/>`,
		esc(v.Text), n(x), p.lay.overlap, n(max(end-x, 1.5)), p.lay.bottom-p.lay.overlap)
	p.f(`<path class="bounds" d="M%s %dV%dM%s %dV%d"/>`, n(x), p.lay.overlap, p.lay.bottom, n(end), p.lay.overlap, p.lay.bottom)
	text := v.Name()
	half := float64(len([]rune(text)))*boldCharWidth/2 + 6
	middle := (max(x, float64(p.lay.gutter)) + min(end, float64(p.width-edge))) / 2
	middle = min(max(middle, float64(p.lay.gutter)+half), float64(p.width-edge)-half)
	p.f(`<g class="flag" transform="translate(%s %d)"><rect x="%s" y="1" width="%s" height="%d" rx="3"/><text y="12" data-full="%s" data-short="%s">%s</text></g></g>`,
		n(middle), p.lay.overlap, n(-half), n(2*half), overlapHeight-3, esc(text), esc(v.Short()), esc(text))
	for i, w := range v.Windows {
		top, height := 0, 0
		l := &p.t.Lanes[w.Lane]
		for j := range l.Spans {
			if s := &l.Spans[j]; s.Kind == Believed && s.Grant == w.Grant && s.From == w.From {
				top, height = p.bar(l, p.lay.lanes[w.Lane], s)
			}
		}
		if height == 0 {
			continue // an operation, and no window
		}
		p.f(`<rect class="witness" data-i="%d" data-lane="%d" data-top="%d" x="%s" y="%d" width="%s" height="%d"/>`,
			i, w.Lane, top-2, n(p.x(w.From)), p.lay.lanes[w.Lane].top+top-2, n(max(p.x(w.To)-p.x(w.From), 2)), height+4)
	}
}

// Name says in a few words what the violation is, and how long.
func (v *Violation) Name() string {
	d := time.Duration(v.To - v.From)
	switch v.Kind {
	case "lease-overlap":
		if v.Resource != "" {
			return fmt.Sprintf("both hold %s: %v", shortened(v.Resource), rounded(d))
		}
		return fmt.Sprintf("both hold the lock: %v", rounded(d))
	case "stale-write":
		if v.Resource != "" {
			return fmt.Sprintf("stale write to %s, %v after its lease ended", shortened(v.Resource), rounded(d))
		}
		return fmt.Sprintf("stale write, %v after its lease ended", rounded(d))
	}
	return v.Short()
}

// Short says it in as few words as there are.
func (v *Violation) Short() string {
	if v.Kind == "lease-overlap" {
		return fmt.Sprintf("both: %v", rounded(time.Duration(v.To-v.From)))
	}
	return strings.ReplaceAll(v.Kind, "-", " ")
}

// rounded keeps what can be read.
func rounded(d time.Duration) time.Duration {
	if d < 10*time.Millisecond {
		return d.Round(time.Microsecond)
	}
	return d.Round(100 * time.Microsecond)
}
