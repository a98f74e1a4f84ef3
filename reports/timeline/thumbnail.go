package timeline

import "io"

// Sizes of a thumbnail, in pixels.
const (
	thumbnailWidth = 180
	thumbnailLane  = 8
)

// WriteThumbnail writes the shape of Timeline.Focus as a small SVG image, without text: who believes in the lock, which
// nodes keep whose key, and where the violation is. Its colours are the variables of picture.css, which the page has to set.
func WriteThumbnail(w io.Writer, t *Timeline) error {
	p := &picture{t: t, width: thumbnailWidth + edge, scale: told(t, Stretch{t.From, t.To})}
	p.left = p.scale.place(t.Focus.From)
	p.over = p.scale.place(t.Focus.To) - p.left
	height := max(len(t.Lanes), 1) * thumbnailLane
	p.f(`<svg class="thumbnail" viewBox="0 0 %d %d" width="%d" height="%d" aria-hidden="true">`, thumbnailWidth, height, thumbnailWidth, height)
	for i, l := range t.Lanes {
		p.f(`<rect class="ground" y="%d" width="%d" height="%d"/>`, i*thumbnailLane, thumbnailWidth, thumbnailLane-1)
		for j := range l.Spans {
			s := &l.Spans[j]
			high := map[SpanKind]int{believedSpan: 7, keySpan: 4, askingSpan: 1, pausedSpan: 7, suspendedSpan: 7, downSpan: 7, offSpan: 7, crashedSpan: 7}[s.Kind]
			if high == 0 || !t.Focus.has(s.From, s.To) {
				continue
			}
			from, to := max(s.From, t.Focus.From), min(s.To, t.Focus.To)
			p.f(`<rect class="%s %s" x="%s" y="%d" width="%s" height="%d"/>`, s.Kind, p.style(s.Owner), n(p.x(from)), i*thumbnailLane+(thumbnailLane-1-high)/2, n(max(p.x(to)-p.x(from), 1)), high)
		}
	}
	if v := t.Violation; v != nil {
		p.f(`<rect class="violation" x="%s" y="0.5" width="%s" height="%d"/>`, n(min(p.x(v.From), thumbnailWidth-2)), n(max(p.x(v.To)-p.x(v.From), 2)), height-1)
	}
	p.f("</svg>")
	_, err := io.WriteString(w, p.String())
	return err
}
