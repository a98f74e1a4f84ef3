package timeline

import (
	"cmp"
	"fmt"
	"math"
	"strings"
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
			shape := map[MarkKind]string{acceptedMark: "M0 9-4 2H4z", refusedMark: "M-4 2 4 10M4 2-4 10"}[m.Kind]
			if p.t.isDecisive(m) {
				shape = "M0 11-8-3H8z"
			}
			p.f(`<g class="mark %s%s" data-i="%d" data-top="%d" transform="translate(%s %d)"><title>%s</title><path d="%s"/></g>`, m.Kind, aside(m.Aside), j, at.acts, n(x), at.acts, esc(m.Text), shape)
			if l.Kind != clientLane && !m.isRead() {
				last = p.drawLabel(labelled{m.Kind, m.Aside, j, x, at.acts}, last, 7, 10, m.Label, "", math.Inf(1))
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
			p.f(`<g class="mark fault%s" data-i="%d" data-top="0" transform="translate(%s 0)"><title>%s</title><path d="M0 2V%dM0 2 8 6 0 10z"/></g>`, aside(m.Aside), first, n(x), esc(text), at.height)
			last = p.drawLabel(labelled{faultMark, m.Aside, first, x, 0}, last, 10, at.labels+9, label, sentence, p.nextFault(l, j+1))
		}
	}
}

// aside is the class of what has no part in the violation.
func aside(is bool) string {
	if is {
		return " aside"
	}
	return ""
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
	kind    MarkKind
	isAside bool
	i       int
	x       float64
	top     int
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
	fmt.Fprintf(&p.labels, `<g class="label %s%s" data-mark="%d" transform="translate(%s %d)"><text x="%d" y="%d"%s%s data-label="%s" data-sentence="%s">%s</text></g>`,
		m.kind, aside(m.isAside), m.i, n(x), m.top, dx, y, back, hidden, esc(label), esc(sentence), esc(written))
	return end
}
