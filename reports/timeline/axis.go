package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
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
		if x-half < last || !p.shows(x) {
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
