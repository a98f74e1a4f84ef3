package heatmap

import (
	"fmt"
	"html"
	"io"
	"strings"

	"redlocksim/internal/mark"
	"redlocksim/internal/page"
	"redlocksim/internal/printable"
	"redlocksim/scenarios"
	"redlocksim/search/sweep"
)

// Sizes in pixels. Widths of text are estimates, on the wide side.
const (
	width      = 480 // small enough for words to be read on a phone
	mapHeight  = 330 // of one map, with what is around it
	shownWidth = 720
	titleRoom  = 22
	bottomRoom = 40
	nameRoom   = 20 // left of the words of the axis that goes up
	edge       = 14
	charWidth  = 6.2
	crossed    = 8 // how large a field is at least that has a cross
	yoursText  = "your settings"
)

// WriteSVG draws a chart as one picture, on a light ground, with its maps one below the other.
func WriteSVG(w io.Writer, c *sweep.Chart) error {
	drawn := picture(mapsOf(c), c.Name)
	if drawn == "" {
		return ErrEmpty
	}
	head, rest, _ := strings.Cut(drawn, ">")
	_, err := fmt.Fprintf(w, "%s xmlns=\"http://www.w3.org/2000/svg\">\n%s\n<title>%s</title>\n<style>svg{--ground:#fff;--ink:#1a1a1a}\n%s</style>\n%s\n",
		head, mark.XML, text(c.Name), page.Map, rest)
	return err
}

// picture draws maps below each other, each under a title; it is empty if there is none. Its colours are those of page.Map.
func picture(maps []panel, title string) string {
	if len(maps) == 0 {
		return ""
	}
	b := &strings.Builder{}
	height := mapHeight * len(maps)
	fmt.Fprintf(b, `<svg class="map" viewBox="0 0 %d %d" width="%d" height="%d">`, width, height, shownWidth, height*shownWidth/width)
	fmt.Fprintf(b, `<rect class="paper" width="%d" height="%d"/>`, width, height)
	for i := range maps {
		words := maps[i].rest
		if title != "" {
			words = append([]string{title}, words...)
		}
		fmt.Fprintf(b, "\n<g transform=\"translate(0 %d)\">", i*mapHeight)
		maps[i].draw(b, strings.Join(words, ", "))
		b.WriteString("</g>")
	}
	return b.String() + "\n</svg>"
}

// canvas is the part of a picture that one map has, from its left and its bottom.
type canvas struct {
	*strings.Builder
	left, bottom float64
	column, row  float64 // the size of a field
}

func (c *canvas) x(at float64) float64 { return c.left + (at+.5)*c.column }
func (c *canvas) y(at float64) float64 { return c.bottom - (at+.5)*c.row }

func (p *panel) draw(b *strings.Builder, title string) {
	left := nameRoom + 10 + float64(p.up.longest())*charWidth
	c := &canvas{b, left, mapHeight - bottomRoom, (width - edge - left) / float64(len(p.across)),
		(mapHeight - bottomRoom - titleRoom) / float64(len(p.up))}
	fmt.Fprintf(c, `<text class="title" x="%d" y="16">%s</text>`, width/2, text(title))
	for _, f := range p.fields {
		c.field(f)
	}
	c.line("formula", p.formula, len(p.across))
	c.line("frontier", p.border, len(p.across))
	fmt.Fprintf(c, `<path class="axes" d="M%.1f %dV%.1fH%d"/>`, c.left, titleRoom, c.bottom, width-edge)
	for i, step := 0, 1+int(float64(p.across.longest()+2)*charWidth/c.column); i < len(p.across); i += step {
		fmt.Fprintf(c, `<text class="across" x="%.1f" y="%.1f">%s</text>`, c.x(float64(i)), c.bottom+15, text(p.across[i].Word))
	}
	for i, step := 0, 1+int(14/c.row); i < len(p.up); i += step {
		fmt.Fprintf(c, `<text class="up" x="%.1f" y="%.1f">%s</text>`, c.left-5, c.y(float64(i))+4, text(p.up[i].Word))
	}
	fmt.Fprintf(c, `<text class="title" x="%.1f" y="%d">%s</text>`, (c.left+width-edge)/2, mapHeight-6, text(p.acrossName))
	fmt.Fprintf(c, `<text class="title" transform="translate(%d %.1f) rotate(-90)">%s</text>`, nameRoom-6, (titleRoom+c.bottom)/2, text(p.upName))
	if p.yours != nil {
		c.yours(*p.yours)
	}
}

// field fills a field, and crosses one that is broken where there is room.
func (c *canvas) field(f field) {
	class := f.verdict
	if class == scenarios.NothingTested {
		class = "untested"
	}
	x, y, wide, high := c.x(f.left), c.y(f.high), (f.right-f.left)*c.column, (f.high-f.low)*c.row
	fmt.Fprintf(c, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, wide, high)
	if size := min(wide, high, 5*crossed) / 5; f.verdict == "broken" && 5*size >= crossed {
		fmt.Fprintf(c, `<path class="cross" d="M%.1f %.1fl%.1f %.1fm0 %.1fl%.1f %.1f"/>`, x+wide/2-size, y+high/2-size, 2*size, 2*size, -2*size, -2*size, 2*size)
	}
}

func (c *canvas) line(class string, at levels, columns int) {
	path := ""
	for i := range columns {
		y, ok := at[i]
		if !ok {
			continue
		}
		if _, goesOn := at[i-1]; goesOn {
			path += fmt.Sprintf("V%.1f", c.y(y))
		} else {
			path += fmt.Sprintf("M%.1f %.1f", c.x(float64(i)-.5), c.y(y))
		}
		path += fmt.Sprintf("H%.1f", c.x(float64(i)+.5))
	}
	if path != "" {
		fmt.Fprintf(c, `<path class="%s" d="%s"/>`, class, path)
	}
}

// yours draws the mark of somebody's own settings, with its name on the side on which there is room.
func (c *canvas) yours(at point) {
	x, y, long := c.x(at.x), c.y(at.y), float64(len(yoursText))*charWidth+8
	from := x + 10
	if from+long > width {
		from = x - 10 - long
	}
	middle := min(max(y, titleRoom+9), c.bottom-9)
	fmt.Fprintf(c, `<g class="yours"><circle cx="%.1f" cy="%.1f" r="5"/><rect x="%.1f" y="%.1f" width="%.1f" height="18"/><text x="%.1f" y="%.1f">%s</text></g>`,
		x, y, from, middle-9, long, from+4, middle+4, yoursText)
}

// longest is how many characters its longest word has.
func (s scale) longest() (n int) {
	for _, v := range s {
		n = max(n, len([]rune(v.Word)))
	}
	return n
}

// text is a text as XML has it.
func text(words string) string { return html.EscapeString(printable.Line(words)) }
