//go:build linux

package main

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"strconv"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// drawn is one figure of a chart.
type drawn struct {
	title string
	of    func(row) float64
}

var drawnFigures = []drawn{
	{"time for one lock and unlock, µs", func(r row) float64 { return r.micros }},
	{"p50, ms", func(r row) float64 { return milliseconds(r.p50) }},
	{"p99, ms", func(r row) float64 { return milliseconds(r.p99) }},
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 10 * vg.Centimeter
)

// writeChart draws the rows, which differ in contestant and in how many are in parallel, as SVG: a panel for each figure,
// side by side, and a line for each contestant.
func writeChart(w io.Writer, rows []row) error {
	var plots []*plot.Plot
	for _, d := range drawnFigures {
		p, err := panel(d, rows)
		if err != nil {
			return err
		}
		plots = append(plots, p)
	}
	legend := panelWidth * 2 / 3
	canvas := vgsvg.New(panelWidth*vg.Length(len(plots))+legend, panelHeight)
	dc := draw.New(canvas)
	corners := []vg.Point{dc.Min, {X: dc.Max.X, Y: dc.Min.Y}, dc.Max, {X: dc.Min.X, Y: dc.Max.Y}}
	dc.FillPolygon(color.White, corners) // pages may be dark
	for i, p := range plots {
		left := panelWidth * vg.Length(i)
		right := left + panelWidth
		p.Draw(draw.Crop(dc, left, right-dc.Max.X, 0, 0))
	}
	l := plot.NewLegend()
	l.Top, l.Left = true, true
	if err := lines(rows, func(row) float64 { return 1 }, func(name string, line *plotter.Line, points *plotter.Scatter) {
		l.Add(name, line, points)
	}); err != nil {
		return err
	}
	l.Draw(draw.Crop(dc, dc.Max.X-legend, 0, 0, -vg.Centimeter))
	_, err := canvas.WriteTo(w)
	return err
}

func panel(d drawn, rows []row) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = d.title
	p.X.Label.Text = "in parallel"
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = plot.LogTicks{Prec: -1}
	p.X.Tick.Marker = plot.ConstantTicks(parallelTicks(rows))
	p.Add(plotter.NewGrid())
	err := lines(rows, d.of, func(_ string, line *plotter.Line, points *plotter.Scatter) { p.Add(line, points) })
	p.Y.Min, p.Y.Max = decades(p.Y.Min, p.Y.Max)
	return p, err
}

// decades widens a range to powers of ten, which are the ones that the axis names.
func decades(low, high float64) (float64, float64) {
	if low <= 0 || high < low { // nothing was measured, and the axis cannot begin at zero
		return 1, 10
	}
	below, above := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	return math.Pow(10, below), math.Pow(10, max(above, below+1))
}

// lines makes the line of each contestant, and hands it on.
func lines(rows []row, of func(row) float64, add func(string, *plotter.Line, *plotter.Scatter)) error {
	ticks := parallelTicks(rows)
	for i := range contestants {
		who := &contestants[i]
		var points plotter.XYs
		for _, r := range rows {
			if r.contestant != who || r.rounds == 0 {
				continue
			}
			for _, tick := range ticks {
				if tick.Label == strconv.Itoa(r.parallel) {
					points = append(points, plotter.XY{X: tick.Value, Y: of(r)})
				}
			}
		}
		if len(points) == 0 {
			continue
		}
		line, scatter, err := plotter.NewLinePoints(points)
		if err != nil {
			return fmt.Errorf("chart: %s: %w", who.name, err)
		}
		line.Color, line.Width = plotutil.Color(i), vg.Points(1.5)
		line.Dashes = plotutil.Dashes(i / len(plotutil.DefaultColors)) // where colors come again
		scatter.Color, scatter.Shape = plotutil.Color(i), plotutil.Shape(i)
		add(who.name, line, scatter)
	}
	return nil
}

// parallelTicks gives each number of callers its place, all equally far apart.
func parallelTicks(rows []row) (ticks []plot.Tick) {
	for _, r := range rows {
		label := strconv.Itoa(r.parallel)
		known := false
		for _, t := range ticks {
			known = known || t.Label == label
		}
		if !known {
			ticks = append(ticks, plot.Tick{Value: float64(len(ticks)), Label: label})
		}
	}
	return ticks
}
