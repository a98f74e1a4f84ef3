package timeline

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/internal/mark"
	"redlocksim/internal/page"
	"redlocksim/internal/wordwrap"
)

// lightColours are those of a picture in a document.
const lightColours = `--ground:#fff;--ink:#1a1a1a;--muted:#5c6370;--lane:#e7eaee;--lane-client:#f3f5f7;--halo:#fff;--shade:#b9bec7;--bad:#c23b00;--on-bad:#fff;` +
	`--c0:#0072b2;--c1:#b87a00;--c2:#007a58;--c3:#a8488a;--c4:#2a86bf;--c5:#6b6200`

// documentWidth is how wide a picture for documents is, in pixels.
const documentWidth = 900

// maxTold is how many sentences a picture for documents tells; a longer story is in the other forms.
const maxTold = 16

// WriteSVG writes the timeline as a picture for documents, on a light ground: its title, the lanes in Timeline.Focus, the
// violation and a short story. It needs no program and nothing from elsewhere.
func WriteSVG(w io.Writer, t *Timeline) error {
	d := &document{t: t, y: 4}
	d.heading()
	lanes := d.y
	p := newPicture(t, documentWidth)
	p.isStill = true
	p.draw()
	d.y += p.lay.bottom + 6
	d.legend()
	d.story()
	for _, note := range t.notesOn(t.Focus) {
		d.lines(&d.foot, "small", wordwrap.Lines(note, 150), 15)
	}
	d.lines(&d.foot, "repeat", []string{t.Repeat}, 20)
	d.y += 8

	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t d">`+"\n", documentWidth, d.y, documentWidth, d.y)
	fmt.Fprintln(&out, mark.XML)
	fmt.Fprintf(&out, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n", esc(t.Name+": "+t.Title), esc(t.Description()))
	colours := lightColours
	if t.IsKnown() {
		colours += ";--alarm:#5b3fa8"
	}
	fmt.Fprintf(&out, `<style>svg{%s}
text{font:12.5px system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.title{font-size:16px;font-weight:700}.verdict{font-weight:700;font-size:13.5px}.small,.legend text{font-size:11px;fill:var(--muted)}.number{text-anchor:end;fill:var(--muted)}.repeat{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:11.5px}
%s</style>
`, colours, page.Picture)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#fff"/>`+"\n%s", documentWidth, d.y, defs)
	fmt.Fprintf(&out, `<clipPath id="clip"><rect x="%d" y="-4" width="%d" height="%d"/></clipPath>`+"\n", p.lay.gutter-2, documentWidth-p.lay.gutter+2-edge/2, p.lay.bottom+8)
	out.WriteString(d.head.String())
	fmt.Fprintf(&out, "<g class=\"lanes\" transform=\"translate(0 %d)\">\n%s</g>\n", lanes, p.String())
	out.WriteString(d.foot.String())
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// draw writes the whole picture of the lanes.
func (p *picture) draw() {
	p.f(`<g class="steps">`)
	p.drawSteps()
	p.f("</g>\n<g class=\"axis\">")
	p.drawAxis()
	p.f("</g>\n")
	p.drawBand()
	for i := range p.t.Lanes {
		p.drawLane(i)
	}
	p.f(`<g class="arrows" clip-path="url(#clip)">`)
	for i := range p.t.Arrows {
		if p.isStill && p.t.Arrows[i].Folded {
			continue
		}
		p.drawArrow(i)
	}
	p.f("</g>\n")
	p.WriteString(p.labels.String())
	p.drawViolation()
}

// document is the text around a picture for documents, written from the top down.
type document struct {
	t          *Timeline
	y          int
	head, foot strings.Builder // above and below the lanes
}

func (d *document) lines(b *strings.Builder, class string, texts []string, height int) {
	for _, text := range texts {
		d.y += height
		fmt.Fprintf(b, `<text class="%s" x="8" y="%d">%s</text>`+"\n", class, d.y, esc(text))
	}
}

func (d *document) heading() {
	d.lines(&d.head, "title", wordwrap.Lines(d.t.Name+": "+d.t.Title, 90), 19)
	d.lines(&d.head, "small", wordwrap.Lines(d.t.Source, 150), 15)
	d.lines(&d.head, "verdict", wordwrap.Lines(d.t.Headline(), 110), 19)
	if v := d.t.Violation; v != nil {
		d.lines(&d.head, "plain", wordwrap.Lines(v.Text, 135), 16)
	}
	d.lines(&d.head, "plain", wordwrap.Lines(d.t.About, 135), 16)
	d.y += 8
}

func (d *document) legend() {
	x := 8
	d.foot.WriteString(`<g class="legend">`)
	for _, s := range legend(d.t) {
		width := 26 + 6 + int(float64(len(s.text))*5.9) + 16
		if x+width > documentWidth {
			x = 8
			d.y += 18
		}
		fmt.Fprintf(&d.foot, `<g transform="translate(%d %d)">%s<text x="32" y="10">%s</text></g>`, x, d.y, s.drawing, esc(s.text))
		x += width
	}
	d.foot.WriteString("</g>\n")
	d.y += 18
}

// story writes the sentences of the stretch that is drawn, if they are not too many.
func (d *document) story() {
	var told []Step
	for _, s := range d.t.Story {
		if d.t.Focus.has(s.At, s.At) {
			told = append(told, s)
		}
	}
	if len(told) > maxTold {
		return
	}
	d.y += 4
	for _, s := range told {
		for i, text := range wordwrap.Lines(s.Text, 120) {
			d.y += 16
			if i == 0 {
				fmt.Fprintf(&d.foot, `<text class="number" x="30" y="%d">%d</text><text class="number" x="95" y="%d">%s</text>`, d.y, s.Number, d.y, seconds(s.At))
			}
			fmt.Fprintf(&d.foot, `<text class="plain" x="108" y="%d">%s</text>`+"\n", d.y, esc(text))
		}
	}
}

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
			high := looks[s.Kind].thumbnail
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
