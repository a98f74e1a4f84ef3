// Package heatmap draws the charts of package sweep as pages: where the lock is safe, the frontier, and where the formula of
// the literature puts it.
package heatmap

import (
	_ "embed"
	"errors"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"redlocksim/internal/page"
	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/scenarios/verdict"
	"redlocksim/search/sweep"
)

// ErrEmpty: the chart has no points, as where a sweep was interrupted at once.
var ErrEmpty = errors.New("the chart is empty, there is nothing to draw")

//go:embed page.html
var pageText string

var pageOf = page.Template(pageText, template.FuncMap{"digits": digits})

// WriteHTML writes a page with the maps of a chart and the numbers behind them. It needs nothing else and opens from a disk.
func WriteHTML(w io.Writer, c *sweep.Chart) error {
	maps := mapsOf(c)
	if len(maps) == 0 {
		return ErrEmpty
	}
	cells := c.Cells
	if c.Bisected {
		cells = nil // they are those next to the frontier, which is there
	}
	return pageOf.Execute(w, map[string]any{"Head": page.Head{Title: c.Name + " – redlocksim sweep"}, "Chart": c, "Maps": maps,
		"Yours": yoursOf(c, maps), "Others": c.Axes[:len(c.Axes)-1], "Cells": cells, "Failed": c.Failures.Text("", "")})
}

// grid is one map, a table: places on it count the values of its axes, from 0.
type grid struct {
	Rest         []string // the values of the axes that it has none for, with their names
	Across, Up   string   // its axes; there may be none across
	Columns      []string
	columns, ups scale
	// Rows begin with the highest, over which there is the heading.
	Heading []field
	Rows    []row
	yours   bool // somebody's own settings are on it
}

type row struct {
	Word   string
	Fields []field
}

// field is a point. Frontier and Formula say that the one, or the other, is between it and the one below it.
type field struct {
	Word                     string // of a heading
	Verdict                  string
	Frontier, Formula, Yours bool
}

// Class is that of the field for a style sheet.
func (f field) Class() string {
	class := strings.ReplaceAll(f.Verdict, " ", "-")
	for _, mark := range []struct {
		is   bool
		name string
	}{{f.Frontier, " frontier"}, {f.Formula, " formula"}} {
		if mark.is {
			class += mark.name
		}
	}
	return strings.TrimSpace(class)
}

// at is the field at a place; that above the highest is in the heading.
func (g *grid) at(x, y int) *field {
	if y == len(g.Rows) {
		return &g.Heading[x]
	}
	return &g.Rows[len(g.Rows)-1-y].Fields[x]
}

// mapsOf takes a chart apart. Its frontier's axis goes up, the last of the other axes goes to the right, and there is one map
// for every combination of the rest.
func mapsOf(c *sweep.Chart) (maps []grid) {
	if len(c.Cells) == 0 {
		return nil
	}
	along := len(c.Axes) - 1
	others := c.Axes[:along]
	across := sweep.ChartAxis{Values: []string{""}}
	if len(others) > 0 {
		across, others = others[len(others)-1], others[:len(others)-1]
	}
	up := c.Axes[along].Values
	for _, rest := range sweep.Combinations(others) {
		g := grid{Across: across.Path, Up: c.Along, Columns: across.Values, columns: newScale(across.Values), ups: newScale(up)}
		for i, word := range rest {
			g.Rest = append(g.Rest, others[i].Path+" "+word)
		}
		for _, word := range across.Values {
			g.Heading = append(g.Heading, field{Word: word})
		}
		for _, word := range slices.Backward(up) {
			g.Rows = append(g.Rows, row{word, make([]field, len(across.Values))})
		}
		place := func(at []string) (f *field) {
			x, isOn := g.column(at[:along], rest)
			if y, isUp := g.ups.of(at[along]); isOn && isUp {
				f = g.at(int(math.Round(x)), int(math.Round(y)))
			}
			return f
		}
		for _, cell := range c.Cells {
			if f := place(cell.At); f != nil && !c.Bisected {
				f.Verdict = cell.Verdict()
			}
		}
		for i := range c.Frontier {
			if x, isOn := g.column(c.Frontier[i].At, rest); isOn {
				g.row(int(x), &c.Frontier[i], c.Bisected)
			}
		}
		if len(c.Yours) == len(c.Axes) {
			if f := place(c.Yours); f != nil {
				f.Yours, g.yours = true, true
			}
		}
		maps = append(maps, g)
	}
	return maps
}

// column is where the values of all axes but that which goes up are, from the left.
func (g *grid) column(at, rest []string) (x float64, isOn bool) {
	if len(at) > 0 {
		if x, isOn = g.columns.of(at[len(at)-1]); !isOn {
			return 0, false
		}
		at = at[:len(at)-1]
	}
	return x, slices.EqualFunc(at, rest, func(a, b string) bool { return variant.ParseValue(a).Equal(variant.ParseValue(b)) })
}

// row takes the frontier in a column over and, where it was looked for alone, what is on either side of it.
func (g *grid) row(x int, r *sweep.Row, isBisected bool) {
	safe, isSafe := g.ups.of(r.Safe)
	broken, isBroken := g.ups.of(r.Broken)
	border := (safe + broken) / 2
	if isSafe && isBroken {
		g.at(x, above(border)).Frontier = true
	}
	for y := range g.Rows {
		f := g.at(x, y)
		switch isUpper := float64(y) > border; {
		case !isBisected:
		case isSafe && isBroken && isUpper == (safe > broken), isSafe && !isBroken:
			f.Verdict = scenarios.Safe
		case isBroken:
			f.Verdict = "broken"
		default:
			f.Verdict = verdict.NothingTested
		}
	}
	// A value of the axis itself is on the side on which it was found to be.
	if y, is := g.ups.of(r.Formula); is && isSafe && isBroken && safe < broken && y == math.Trunc(y) {
		g.at(x, int(y)+1).Formula = true
	} else if is {
		g.at(x, above(y)).Formula = true
	}
}

// above is the first place that is not below another.
func above(y float64) int { return int(math.Ceil(y)) }

// scale places the values of an axis evenly, in their order, and others between them.
type scale []variant.Value

func newScale(words []string) scale {
	var s scale
	for _, word := range words {
		s = append(s, variant.ParseValue(word))
	}
	return s
}

// of is the place of a value on the scale, and whether it is on it.
func (s scale) of(word string) (float64, bool) {
	v := variant.ParseValue(word)
	if i := slices.IndexFunc(s, v.Equal); i >= 0 {
		return float64(i), true
	}
	for i := 1; i < len(s); i++ {
		a, b := s[i-1], s[i]
		if v.Unit == "" || a.Unit != v.Unit || b.Unit != v.Unit || a.Number.Equal(b.Number) {
			continue
		}
		part := v.Number.Sub(a.Number).Div(b.Number.Sub(a.Number)).InexactFloat64()
		if part >= 0 && part <= 1 {
			return float64(i-1) + part, true
		}
	}
	return 0, false
}

// digits is a percentage to five digits that matter; other words are as they are.
func digits(word string) string {
	number, isPercent := strings.CutSuffix(word, "%")
	x, err := decimal.NewFromString(number)
	if !isPercent || err != nil || x.IsZero() {
		return word
	}
	return x.Round(int32(5-x.NumDigits())-x.Exponent()).String() + "%"
}

// yoursOf says where on the maps somebody's own settings are; empty if the chart is of nobody's.
func yoursOf(c *sweep.Chart, maps []grid) string {
	var parts, unset []string
	for i, word := range c.Yours {
		if word == "" {
			unset = append(unset, c.Axes[i].Path)
		}
		parts = append(parts, c.Axes[i].Path+" "+word)
	}
	switch {
	case c.Yours == nil:
		return ""
	case unset != nil:
		return "Your settings are not marked: they have no single value of their own, and no default that is on the chart, for " + strings.Join(unset, ", ") + "."
	case !slices.ContainsFunc(maps, func(g grid) bool { return g.yours }):
		return "Your settings (" + strings.Join(parts, ", ") + ") are not on the chart."
	}
	return "The ring marks your settings: " + strings.Join(parts, ", ") + "."
}
