package timeline

import (
	"fmt"
	"math"
	"slices"
	"time"

	"redlocksim/internal/rounded"
)

func (p *picture) drawSteps() {
	last := math.Inf(-1)
	for i, s := range p.t.Story {
		if p.leavesOut(s.At, s.At) {
			continue
		}
		x, text := p.x(s.At), fmt.Sprint(s.Number)
		half := float64(len(text))*smallCharWidth/2 + 4
		hidden := ""
		if x-half < last || !p.shows(x) || x+half > float64(p.width) {
			hidden = ` display="none"`
		} else {
			last = x + half
		}
		p.f(`<g class="step" data-i="%d" transform="translate(%s)"%s><rect x="%s" y="1" width="%s" height="14" rx="7"/><text y="12">%s</text></g>`,
			i, n(x), hidden, n(-half), n(2*half), text)
	}
}

// drawAxis writes the true times of what happens, as many as there is room for: the violation's first, then
// those of the story.
func (p *picture) drawAxis() {
	p.f(`<line x1="%d" y1="%d" x2="%d" y2="%d"/>`, p.lay.gutter, p.lay.axis+axisHeight-2, p.width-edge, p.lay.axis+axisHeight-2)
	for _, x := range p.breaks() {
		p.f(`<path class="break" d="%s"/>`, breakAt(x, p.lay.axis+axisHeight-2))
	}
	type label struct {
		x    float64
		text string
	}
	var labels []label
	add := func(at Instant) {
		l := label{p.x(at), p.t.Brief(at)}
		half := float64(len(l.text))*smallCharWidth/2 + 5
		if !p.shows(l.x) || l.x-half < float64(p.lay.gutter)-30 || l.x+half > float64(p.width)+2 {
			return
		}
		for _, o := range labels {
			if o.text == l.text || math.Abs(o.x-l.x) < half+float64(len(o.text))*smallCharWidth/2+5 {
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

// breaks are where the axis runs much faster than where it is slowest: in the middle of each such stretch between two things
// that happen.
func (p *picture) breaks() []float64 {
	type gap struct {
		middle float64
		length Instant
	}
	var gaps []gap
	shortest := Instant(math.MaxInt64)
	for i := 1; i < len(p.scale.points); i++ {
		x, end := p.x(p.scale.points[i-1]), p.x(p.scale.points[i])
		if end-x < breakRoom || !p.shows(x) || !p.shows(end) {
			continue
		}
		gaps = append(gaps, gap{(x + end) / 2, p.scale.points[i] - p.scale.points[i-1]})
		shortest = min(shortest, gaps[len(gaps)-1].length)
	}
	var all []float64
	for _, g := range gaps {
		if g.length/breakRatio >= shortest {
			all = append(all, g.middle)
		}
	}
	return all
}

const (
	breakRoom  = 24 // pixels that a stretch has at least
	breakRatio = 20 // how many times as long it is as the shortest one
)

// breakAt is the double stroke of a break.
func breakAt(x float64, y int) string {
	return fmt.Sprintf("M%s %dl4-8M%s %dl4-8", n(x-5), y+4, n(x), y+4)
}

// Brief is an instant for people, told apart from others in what is shown.
func (t *Timeline) Brief(at Instant) string { return brief(at, t.Focus.To-t.Focus.From) }

// brief is an instant for people: to three digits, or to more where these would not tell apart what is shown of a stretch.
func brief(at, over Instant) string {
	exact, fine := time.Duration(at), time.Duration(1)
	for fine*10*apart <= time.Duration(over) {
		fine *= 10
	}
	three, more := rounded.Duration(exact), exact.Round(fine)
	if (three - exact).Abs() <= (more - exact).Abs() {
		return three.String()
	}
	return more.String()
}

// apart is how many instants a stretch has that are told apart.
const apart = 200
