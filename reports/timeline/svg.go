package timeline

import (
	_ "embed"
	"fmt"
	"io"
	"strings"

	"redlocksim/internal/mark"
)

// What the elements of a picture look like. The colours of clients are those of Okabe and Ito, "Color Universal Design",
// 2008, darker or lighter where the ground asks for it; each has a pattern of its own as well.
//
//go:embed picture.css
var pictureStyle string

// lightColours are those of a picture in a document.
const lightColours = `--ground:#fff;--ink:#1a1a1a;--muted:#5c6370;--lane:#f4f5f7;--lane-client:#fafafa;--halo:#fff;--shade:#b9bec7;--bad:#c23b00;--on-bad:#fff;` +
	`--c0:#0072b2;--c1:#b87a00;--c2:#007a58;--c3:#a8488a;--c4:#2a86bf;--c5:#6b6200`

// documentWidth is how wide a picture for documents is, in pixels.
const documentWidth = 900

// maxTold is how many sentences a picture for documents tells; a longer story is in the other forms.
const maxTold = 16

// WriteSVG writes the timeline as a picture for documents, on a light ground: its title, the lanes in Timeline.Focus, the
// violation and a short story. It needs no program and nothing from elsewhere.
func WriteSVG(w io.Writer, t *Timeline) error {
	p := newPicture(t, documentWidth)
	p.isStill = true
	head, foot := &strings.Builder{}, &strings.Builder{}
	y := 4
	line := func(b *strings.Builder, class, text string, height int) {
		y += height
		fmt.Fprintf(b, `<text class="%s" x="8" y="%d">%s</text>`+"\n", class, y, esc(text))
	}
	for _, text := range wrapped(t.Name+": "+t.Title, 90) {
		line(head, "title", text, 19)
	}
	for _, text := range wrapped(t.Source, 150) {
		line(head, "small", text, 15)
	}
	line(head, "verdict", t.Verdicts(), 19)
	if v := t.Violation; v != nil {
		for _, text := range wrapped(v.Text, 135) {
			line(head, "plain", text, 16)
		}
	}
	y += 8
	lanes := y
	p.draw()
	y += p.lay.bottom + 6

	x := 8
	fmt.Fprintf(foot, `<g class="legend">`)
	for _, s := range legend(t) {
		width := 26 + 6 + int(float64(len(s.text))*5.9) + 16
		if x+width > documentWidth {
			x = 8
			y += 18
		}
		fmt.Fprintf(foot, `<g transform="translate(%d %d)">%s<text x="32" y="10">%s</text></g>`, x, y, s.drawing, esc(s.text))
		x += width
	}
	fmt.Fprintf(foot, "</g>\n")
	y += 18
	told := 0
	for _, s := range t.Story {
		if s.At >= t.Focus.From && s.At <= t.Focus.To {
			told++
		}
	}
	if told <= maxTold {
		y += 4
		for _, s := range t.Story {
			if s.At < t.Focus.From || s.At > t.Focus.To {
				continue
			}
			for i, text := range wrapped(s.Text, 120) {
				y += 16
				if i == 0 {
					fmt.Fprintf(foot, `<text class="number" x="30" y="%d">%d</text><text class="number" x="95" y="%d">%s</text>`, y, s.Number, y, seconds(s.At))
				}
				fmt.Fprintf(foot, `<text class="plain" x="108" y="%d">%s</text>`+"\n", y, esc(text))
			}
		}
	}
	for _, note := range t.notesOn(t.Focus) {
		for _, text := range wrapped(note, 150) {
			line(foot, "small", text, 15)
		}
	}
	line(foot, "repeat", t.Repeat, 20)
	y += 8

	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-labelledby="t d">`+"\n", documentWidth, y, documentWidth, y)
	fmt.Fprintln(&out, mark.XML)
	fmt.Fprintf(&out, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n", esc(t.Name+": "+t.Title), esc(t.Description()))
	fmt.Fprintf(&out, `<style>svg{%s}
text{font:12.5px system-ui,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.title{font-size:16px;font-weight:700}.verdict{font-weight:700;font-size:13.5px}.small,.legend text{font-size:11px;fill:var(--muted)}.number{text-anchor:end;fill:var(--muted)}.repeat{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:11.5px}
%s</style>
`, lightColours, pictureStyle)
	fmt.Fprintf(&out, `<rect width="%d" height="%d" fill="#fff"/>`+"\n%s", documentWidth, y, defs)
	fmt.Fprintf(&out, `<clipPath id="clip"><rect x="%d" y="-4" width="%d" height="%d"/></clipPath>`+"\n", p.lay.gutter-2, documentWidth-p.lay.gutter+2-edge/2, p.lay.bottom+8)
	out.WriteString(head.String())
	fmt.Fprintf(&out, "<g class=\"lanes\" transform=\"translate(0 %d)\">\n%s</g>\n", lanes, p.String())
	out.WriteString(foot.String())
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// Verdicts says what the run showed, and what was expected of it.
func (t *Timeline) Verdicts() string {
	if t.OK {
		return "verdict: " + t.Verdict + ", as expected"
	}
	return "verdict: " + t.Verdict + ", NOT AS EXPECTED (" + t.Expected + ")"
}

// Description says what can be seen, for those who cannot see it: the violation and the story.
func (t *Timeline) Description() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s. ", t.Verdicts())
	if t.Violation != nil {
		fmt.Fprintf(&b, "%s ", t.Violation.Text)
	}
	for _, s := range t.Story {
		if s.At >= t.Focus.From && s.At <= t.Focus.To {
			fmt.Fprintf(&b, "%d. %s %s. ", s.Number, seconds(s.At), s.Text)
		}
	}
	return strings.TrimSpace(b.String())
}

// notesOn are the notes of a picture that shows only a stretch.
func (t *Timeline) notesOn(s Stretch) []string {
	notes := t.Notes
	if s.From > t.From || s.To < t.To {
		notes = append(notes[:len(notes):len(notes)], fmt.Sprintf("This is %s to %s of %s.", seconds(s.From), seconds(s.To), seconds(t.To)))
	}
	return append(notes[:len(notes):len(notes)], "The axis is stretched where much happens; the times on it are true times.")
}
