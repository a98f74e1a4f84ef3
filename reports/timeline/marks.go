package timeline

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rounded"
)

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
		case acceptedMark, refusedMark:
			acts := at.bands[actsBand].top
			shape := map[MarkKind]string{acceptedMark: "M0 9-4 2H4z", refusedMark: "M-4 2 4 10M4 2-4 10"}[m.Kind]
			if p.t.isDecisive(m) {
				shape = "M0 11-8-3H8z"
			}
			p.f(`<g class="mark %s" data-i="%d" data-top="%d" transform="translate(%s %d)"><title>%s</title><path d="%s"/></g>`, m.Kind, j, acts, n(x), acts, esc(m.Text), shape)
			if l.Kind != clientLane && !m.isRead() {
				last = p.drawLabel(labelled{m.Kind, j, x, acts}, last, 7, 10, m.Label, "", math.Inf(1))
			}
		default:
			// Faults at the same time are one mark.
			label, sentence, text := m.Label, m.Sentence, m.Text
			first := j
			for j+1 < len(l.Marks) && l.Marks[j+1].At == m.At && (l.Marks[j+1].Kind == faultMark || l.Marks[j+1].Kind == crashMark) {
				j++
				label += ", " + l.Marks[j].Label
				sentence += ", " + cmp.Or(l.Marks[j].Sentence, l.Marks[j].Label)
				text += "; " + l.Marks[j].Text
			}
			p.f(`<g class="mark fault" data-i="%d" data-top="0" transform="translate(%s 0)"><title>%s</title><path d="M0 2V%dM0 2 8 6 0 10z"/></g>`, first, n(x), esc(text), at.height)
			last = p.drawLabel(labelled{faultMark, first, x, 0}, last, 10, at.labels+9, label, sentence, p.nextFault(l, j+1))
		}
	}
}

// isDecisive says that a mark is the effect that breaks the lock.
func (t *Timeline) isDecisive(m *Mark) bool {
	return t.Violation != nil && t.Violation.Kind == "stale-write" && m.Kind == acceptedMark && m.At == t.Violation.To
}

// isRead says that a mark is of a read, which has no label in the picture: the write that follows needs the room.
func (m *Mark) isRead() bool { return m.Kind == acceptedMark && strings.HasSuffix(m.Label, "read") }

// nextFault is where the next fault of a lane is, or the right edge.
func (p *picture) nextFault(l *Lane, from int) float64 {
	for i := from; i < len(l.Marks); i++ {
		if m := &l.Marks[i]; m.Kind == faultMark || m.Kind == crashMark {
			return min(p.x(m.At), float64(p.width))
		}
	}
	return float64(p.width)
}

// flagPad is how far the room that a label takes may reach beyond the next flag: it is measured with some to spare.
const flagPad = 4

// labelled is a mark that has a label: what it looks like, its place in the lane's list, and where it is.
type labelled struct {
	kind MarkKind
	i    int
	x    float64
	top  int
}

// drawLabel writes the label of a mark behind it, or before it at the right edge, or hides it where the last one ends
// later, where the next mark's flag would stand in it, or where the mark itself is out of sight. The sentence takes its place
// if there is room up to there. It returns where the labels so far end.
func (p *picture) drawLabel(m labelled, last float64, dx, y int, label, sentence string, next float64) float64 {
	x := m.x
	size := func(text string) float64 { return float64(len([]rune(text)))*smallCharWidth + 14 }
	written := label
	if sentence != "" && x >= last && x+size(sentence) <= next {
		written = sentence
	}
	width := size(written)
	back, hidden, end := "", "", x+width
	if x+width > float64(p.width) {
		back, end = ` class="back"`, x
	}
	if !p.shows(x) || end-width < last || back == "" && end > next+flagPad {
		hidden, end = ` display="none"`, last
	}
	fmt.Fprintf(&p.labels, `<g class="label %s" data-mark="%d" transform="translate(%s %d)"><text x="%d" y="%d"%s%s data-label="%s" data-sentence="%s">%s</text></g>`,
		m.kind, m.i, n(x), m.top, dx, y, back, hidden, esc(label), esc(sentence), esc(written))
	return end
}

func (p *picture) drawArrow(i int) {
	a := &p.t.Arrows[i]
	if p.leavesOut(a.Sent, a.Ended) {
		return
	}
	x1, x2, y1, y2 := p.x(a.Sent), p.x(a.Ended), p.wire(a.From), p.wire(a.To)
	y2 = y1 + reach(a)*(y2-y1)
	class := "arrow " + p.style(a.client()) + " " + string(a.Fate)
	if a.IsReply {
		class += " reply"
	}
	look := ""
	if a.Folded {
		look = ` display="none"`
	}
	p.f(`<line class="%s" data-i="%d" x1="%s" y1="%s" x2="%s" y2="%s"%s/>`, class, i, n(x1), n(y1), n(x2), n(y2), look)
}

// reach is how far an arrow gets on its way: to the lane that it is for, also if it is lost, and near it if it is still
// under way.
func reach(a *Arrow) float64 {
	if a.Fate == underWayFate {
		return .85
	}
	return 1
}

// drawBand writes the band of the violation, which lies behind the lanes.
func (p *picture) drawBand() {
	v := p.t.Violation
	if v == nil {
		return
	}
	x, end := p.x(v.From), p.x(v.To)
	p.f(`<g class="violation" clip-path="url(#clip)"><title>%s</title><rect class="band" x="%s" y="%d" width="%s" height="%d"/>`,
		esc(v.Text), n(x), p.lay.overlap, n(max(end-x, 1.5)), p.lay.bottom-p.lay.overlap)
	p.f(`<path class="bounds" d="M%s %dV%dM%s %dV%d"/></g>`, n(x), p.lay.overlap, p.lay.bottom, n(end), p.lay.overlap, p.lay.bottom)
}

// drawViolation writes the name of the violation, above its band, and the outlines of the windows that it rests on.
func (p *picture) drawViolation() {
	v := p.t.Violation
	if v == nil {
		return
	}
	x, end := p.x(v.From), p.x(v.To)
	text := v.Name()
	half := float64(len([]rune(text)))*boldCharWidth/2 + 6
	middle := (max(x, float64(p.lay.gutter)) + min(end, float64(p.width-edge))) / 2
	middle = min(max(middle, float64(p.lay.gutter)+half), float64(p.width-edge)-half)
	p.f(`<g clip-path="url(#clip)"><g class="flag" transform="translate(%s %d)"><title>%s</title><rect x="%s" y="1" width="%s" height="%d" rx="3"/><text y="12" data-full="%s" data-short="%s">%s</text></g></g>`,
		n(middle), p.lay.overlap, esc(v.Text), n(-half), n(2*half), overlapHeight-3, esc(text), esc(v.Short()), esc(text))
	for i, w := range v.Windows {
		top, height := 0, 0
		l := &p.t.Lanes[w.Lane]
		for j := range l.Spans {
			if s := &l.Spans[j]; s.Kind == believedSpan && s.Grant == w.Grant && s.From == w.From {
				top, height = p.lay.lanes[w.Lane].bar(s)
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
	on := "the lock"
	if v.Resource != "" {
		on = shortened(v.Resource)
	}
	long := rounded.Duration(time.Duration(v.To - v.From))
	switch v.Kind {
	case "lease-overlap":
		return fmt.Sprintf("both hold %s: %v", on, long)
	case "stale-write":
		if v.Resource != "" {
			return fmt.Sprintf("late write to %s, %v after its lease ended", on, long)
		}
		return fmt.Sprintf("late write, %v after its lease ended", long)
	case "unprotected":
		return strings.TrimPrefix(fmt.Sprintf("%s unprotected: %v", on, long), "the lock ")
	case "needlessly-unavailable":
		return fmt.Sprintf("nobody is granted %s: %v", on, long)
	}
	return v.Short()
}

// Short says it in as few words as there are.
func (v *Violation) Short() string {
	if v.Kind == "lease-overlap" {
		return fmt.Sprintf("both: %v", rounded.Duration(time.Duration(v.To-v.From)))
	}
	return string(checker.Kind(v.Kind).Word())
}
