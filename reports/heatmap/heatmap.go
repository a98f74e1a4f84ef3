// Package heatmap draws the charts of package sweep: where the lock is safe, the frontier, and the line that the formula
// of the literature gives.
package heatmap

import (
	"bytes"
	"errors"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"redlocksim/internal/mark"
	"redlocksim/scenarios"
	"redlocksim/sweep"
)

// The colours are told apart by those who see no red or no green as well, and what is broken has a cross besides.
var (
	safeColour    = color.RGBA{0xb5, 0xdf, 0xf2, 0xff}
	brokenColour  = color.RGBA{0xe6, 0x8a, 0x4f, 0xff}
	missedColour  = color.RGBA{0xf4, 0xe0, 0x7a, 0xff}
	invalidColour = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	lineColour    = color.RGBA{0x22, 0x22, 0x22, 0xff}
	formulaColour = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	yoursColour   = color.RGBA{0x11, 0x11, 0x11, 0xff}
	paperColour   = color.RGBA{0xfe, 0xfe, 0xfe, 0xff} // white in dark mode, too
)

// ErrEmpty: the chart has no points, as where a sweep was interrupted at once.
var ErrEmpty = errors.New("the chart is empty, there is nothing to draw")

// size is how large a map is.
type size struct{ width, height vg.Length }

var (
	// documentSize is that of a picture by itself, and pageSize that of one in a page, whose words can be read on a phone, too.
	documentSize = size{8 * vg.Inch, 4.5 * vg.Inch}
	pageSize     = size{5 * vg.Inch, 3.6 * vg.Inch}
)

// WriteSVG draws a chart as one picture. Its frontier's axis goes up, the last of the other axes goes to the right, and
// there is one map below the other for every combination of the rest.
func WriteSVG(w io.Writer, c *sweep.Chart) error {
	maps := mapsOf(c)
	for i := range maps {
		maps[i].title = strings.Join(append([]string{c.Name}, maps[i].rest...), ", ")
	}
	return writeMaps(w, maps, documentSize)
}

// writeMaps draws maps of this size.
func writeMaps(w io.Writer, maps []panel, each size) error {
	if len(maps) == 0 {
		return ErrEmpty
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(each.width, each.height*vg.Length(len(maps))))
	plots := make([][]*plot.Plot, len(maps))
	for i, m := range maps {
		plots[i] = []*plot.Plot{m.plot()}
	}
	tiles := draw.Tiles{Rows: len(maps), Cols: 1, PadX: vg.Millimeter, PadY: 4 * vg.Millimeter, PadTop: 2 * vg.Millimeter,
		PadBottom: 2 * vg.Millimeter, PadLeft: 2 * vg.Millimeter, PadRight: 4 * vg.Millimeter}
	for i, row := range plot.Align(plots, tiles, draw.New(canvas)) {
		plots[i][0].Draw(row[0])
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(withFallback(bytes.Replace(b.Bytes(), []byte("<svg"), []byte(mark.XML+"\n<svg"), 1)))
	return err
}

// withFallback names a kind of font where the picture names one that few machines have.
func withFallback(svg []byte) []byte {
	return bytes.ReplaceAll(svg, []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,sans-serif;"))
}

// panel is one map.
type panel struct {
	title   string
	rest    []string // the values of the axes that it has none for, with their names
	across  []string // the words of the axis to the right; one empty word if there is none
	up      scale
	acrossN string // the axes' names
	upN     string
	fields  []field
	border  []plotter.XYs // the frontier
	formula []plotter.XYs
	yours   *plotter.XY // somebody's own settings
}

// field is a rectangle of one verdict, in the units of the axes.
type field struct {
	left, right, low, high float64
	verdict                string
}

// scale places the values of an axis evenly, in their order, and others between them.
type scale []sweep.Value

func newScale(a sweep.ChartAxis) scale {
	var s scale
	for _, word := range a.Values {
		s = append(s, sweep.ParseValue(word))
	}
	return s
}

// of is the place of a value on the scale, and whether it is on it.
func (s scale) of(word string) (float64, bool) {
	v := sweep.ParseValue(word)
	if i := slices.IndexFunc(s, v.Equal); i >= 0 {
		return float64(i), true
	}
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		if v.Unit == "" || a.Unit != v.Unit || b.Unit != v.Unit {
			continue
		}
		low, high := a, b
		if low.Number.GreaterThan(high.Number) {
			low, high = high, low
		}
		if v.Number.LessThan(low.Number) || v.Number.GreaterThan(high.Number) || a.Number.Equal(b.Number) {
			continue
		}
		return float64(i-1) + v.Number.Sub(a.Number).Div(b.Number.Sub(a.Number)).InexactFloat64(), true
	}
	return 0, false
}

// mapsOf takes a chart apart.
func mapsOf(c *sweep.Chart) []panel {
	along := slices.IndexFunc(c.Axes, func(a sweep.ChartAxis) bool { return a.Path == c.Along })
	if along < 0 || len(c.Cells) == 0 {
		return nil
	}
	others := slices.Delete(slices.Clone(c.Axes), along, along+1)
	var across sweep.ChartAxis
	if len(others) > 0 {
		across, others = others[len(others)-1], others[:len(others)-1]
	} else {
		across.Values = []string{""}
	}
	var maps []panel
	for _, rest := range sweep.Combinations(others) {
		p := panel{across: across.Values, acrossN: across.Path, up: newScale(c.Axes[along]), upN: c.Along}
		for i, word := range rest {
			p.rest = append(p.rest, others[i].Path+" "+word)
		}
		if !c.Bisected {
			p.grid(c, along, rest)
		}
		p.rows(c, rest)
		p.mark(c, along, rest)
		maps = append(maps, p)
	}
	return maps
}

// grid takes the points of a map over.
func (p *panel) grid(c *sweep.Chart, along int, rest []string) {
	for i := range c.Cells {
		at := slices.Clone(c.Cells[i].At)
		y, _ := p.up.of(at[along])
		at = slices.Delete(at, along, along+1)
		x := 0
		if len(at) > 0 {
			x = slices.Index(p.across, at[len(at)-1])
			at = at[:len(at)-1]
		}
		if slices.Equal(at, rest) {
			p.fields = append(p.fields, field{float64(x) - .5, float64(x) + .5, y - .5, y + .5, c.Cells[i].Verdict()})
		}
	}
}

// rows takes the frontier over and, where it was looked for alone, the two sides of it.
func (p *panel) rows(c *sweep.Chart, rest []string) {
	var border, formula steps
	for _, r := range c.Frontier {
		at, x := r.At, 0
		if len(at) > 0 {
			x = slices.Index(p.across, at[len(at)-1])
			at = at[:len(at)-1]
		}
		if !slices.Equal(at, rest) {
			continue
		}
		left, right := float64(x)-.5, float64(x)+.5
		safe, isSafe := p.up.of(r.Safe)
		broken, isBroken := p.up.of(r.Broken)
		top, bottom := float64(len(p.up))-.5, -.5
		if isSafe && isBroken {
			middle := (safe + broken) / 2
			border.add(x, middle)
			if c.Bisected {
				low, high := "safe", "broken"
				if broken < safe {
					low, high = high, low
				}
				p.fields = append(p.fields, field{left, right, bottom, middle, low}, field{left, right, middle, top, high})
			}
		} else if c.Bisected {
			verdict := scenarios.NothingTested
			switch {
			case isBroken:
				verdict = "broken"
			case isSafe:
				verdict = "safe"
			}
			p.fields = append(p.fields, field{left, right, bottom, top, verdict})
		}
		if y, ok := p.up.of(r.Formula); ok && r.Formula != "" {
			if !c.Bisected {
				y = between(y, safe, broken, isSafe && isBroken)
			}
			formula.add(x, y)
		}
	}
	p.border, p.formula = border.lines, formula.lines
}

// between is the edge between two cells at which a formula with the value y puts the frontier. A value of the axis itself is on
// the side on which it was found to be.
func between(y, safe, broken float64, found bool) float64 {
	switch {
	case y != math.Trunc(y):
		return math.Floor(y) + .5
	case found && safe < broken:
		return y + .5
	}
	return y - .5
}

// steps is a line that is level across each column, and broken where a column has none of it.
type steps struct {
	lines []plotter.XYs
	last  int // the column of the last step
}

func (s *steps) add(column int, y float64) {
	if len(s.lines) == 0 || s.last != column-1 {
		s.lines = append(s.lines, nil)
	}
	s.last = column
	line := &s.lines[len(s.lines)-1]
	*line = append(*line, plotter.XY{X: float64(column) - .5, Y: y}, plotter.XY{X: float64(column) + .5, Y: y})
}

// mark places somebody's own settings, if they are on this map.
func (p *panel) mark(c *sweep.Chart, along int, rest []string) {
	if len(c.Yours) != len(c.Axes) {
		return
	}
	at := slices.Clone(c.Yours)
	y, isOn := p.up.of(at[along])
	at = slices.Delete(at, along, along+1)
	x := 0.
	if len(at) > 0 {
		var isAcross bool
		across := sweep.ChartAxis{Values: p.across}
		x, isAcross = newScale(across).of(at[len(at)-1])
		isOn, at = isOn && isAcross, at[:len(at)-1]
	}
	isSame := func(a, b string) bool { return sweep.ParseValue(a).Equal(sweep.ParseValue(b)) }
	if isOn && slices.EqualFunc(at, rest, isSame) {
		p.yours = &plotter.XY{X: x, Y: y}
	}
}

func (p *panel) plot() *plot.Plot {
	out := plot.New()
	sans := font.Font{Typeface: "Liberation", Variant: "Sans"}
	for _, f := range []*font.Font{&out.Title.TextStyle.Font, &out.X.Label.TextStyle.Font, &out.Y.Label.TextStyle.Font,
		&out.X.Tick.Label.Font, &out.Y.Tick.Label.Font} {
		f.Typeface, f.Variant = sans.Typeface, sans.Variant
	}
	out.Title.Text = p.title
	out.Title.Padding = 2 * vg.Millimeter
	out.X.Label.Text, out.Y.Label.Text = p.acrossN, p.upN
	out.X.Min, out.X.Max = -.5, float64(len(p.across))-.5
	out.Y.Min, out.Y.Max = -.5, float64(len(p.up))-.5
	var up []string
	for _, v := range p.up {
		up = append(up, v.Word)
	}
	out.X.Tick.Marker, out.Y.Tick.Marker = ticks(p.across, 10), ticks(up, 16)
	out.Add(fields(p.fields))
	for _, xys := range p.formula {
		out.Add(lineOf(xys, 6, formulaColour))
	}
	for _, xys := range p.border {
		out.Add(lineOf(xys, 2, lineColour))
	}
	if p.yours != nil {
		out.Add(yours(*p.yours))
	}
	return out
}

func lineOf(xys plotter.XYs, width float64, in color.Color) *plotter.Line {
	line, _ := plotter.NewLine(xys)
	line.Width, line.Color = vg.Points(width), in
	return line
}

// yours is a plotter of the mark of somebody's own settings.
type yours plotter.XY

// yoursText names the mark.
const yoursText = "your settings"

// Plot draws a ring with its name, on the side on which there is room.
func (m yours) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := vg.Point{X: x(m.X), Y: y(m.Y)}
	for _, ring := range []struct {
		radius float64
		colour color.Color
	}{{7, paperColour}, {5.5, yoursColour}, {3, paperColour}} {
		c.DrawGlyph(draw.GlyphStyle{Color: ring.colour, Radius: vg.Points(ring.radius), Shape: draw.CircleGlyph{}}, at)
	}
	style := p.Title.TextStyle
	style.Font.Size, style.XAlign, style.YAlign, style.Color = vg.Points(10), draw.XLeft, draw.YCenter, yoursColour
	width, height := style.Width(yoursText), style.Height(yoursText)*2/3
	left := at.X + vg.Points(9)
	if left+width > c.Max.X {
		left = at.X - vg.Points(9) - width
	}
	middle := min(max(at.Y, c.Min.Y+height), c.Max.Y-height)
	c.FillPolygon(paperColour, []vg.Point{{X: left - 2, Y: middle - height}, {X: left + width + 2, Y: middle - height}, {X: left + width + 2, Y: middle + height}, {X: left - 2, Y: middle + height}})
	c.FillText(style, vg.Point{X: left, Y: middle}, yoursText)
}

// ticks names every value of an axis, or of many some.
func ticks(words []string, most int) plot.ConstantTicks {
	step := (len(words) + most - 1) / most
	var all plot.ConstantTicks
	for i, word := range words {
		label := ""
		if i%step == 0 {
			label = strings.TrimSpace(word)
		}
		all = append(all, plot.Tick{Value: float64(i), Label: label})
	}
	return all
}

// fields is a plotter.
type fields []field

// Plot fills the fields, and crosses those that are broken out where there is room.
func (all fields) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, f := range all {
		l, r, b, t := x(f.left), x(f.right), y(f.low), y(f.high)
		colour := safeColour
		switch f.verdict {
		case "broken":
			colour = brokenColour
		case scenarios.NothingTested:
			colour = missedColour
		case "invalid":
			colour = invalidColour
		}
		c.FillPolygon(colour, c.ClipPolygonXY([]vg.Point{{X: l, Y: b}, {X: r, Y: b}, {X: r, Y: t}, {X: l, Y: t}}))
		white := draw.LineStyle{Color: color.White, Width: vg.Points(.5)}
		c.StrokeLines(white, []vg.Point{{X: l, Y: b}, {X: r, Y: b}, {X: r, Y: t}, {X: l, Y: t}, {X: l, Y: b}})
		if size := min(r-l, t-b) / 5; f.verdict == "broken" && size > vg.Points(1) {
			size = min(size, vg.Points(5))
			mx, my := (l+r)/2, (b+t)/2
			dark := draw.LineStyle{Color: color.RGBA{0x7a, 0x2d, 0x00, 0xff}, Width: vg.Points(.8)}
			c.StrokeLines(dark, []vg.Point{{X: mx - size, Y: my - size}, {X: mx + size, Y: my + size}},
				[]vg.Point{{X: mx - size, Y: my + size}, {X: mx + size, Y: my - size}})
		}
	}
}
