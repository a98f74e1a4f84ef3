package timeline

import (
	"fmt"
	"strings"
	"time"

	"redlocksim/checker"
	"redlocksim/internal/rounded"
)

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
				top, height = p.bar(p.lay.lanes[w.Lane], s)
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
