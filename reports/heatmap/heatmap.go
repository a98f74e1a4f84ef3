// Package heatmap draws the charts of package sweep: where the lock is safe, the frontier, and the line that the formula
// of the literature gives.
package heatmap

import (
	"errors"
	"math"
	"slices"

	"redlocksim/scenarios"
	"redlocksim/scenarios/variant"
	"redlocksim/search/sweep"
)

// ErrEmpty: the chart has no points, as where a sweep was interrupted at once.
var ErrEmpty = errors.New("the chart is empty, there is nothing to draw")

// panel is one map. Places on it count the values of its axes, from 0.
type panel struct {
	rest       []string // the values of the axes that it has none for, with their names
	across, up scale    // across has one empty word if there is no axis to the right
	acrossName string
	upName     string
	fields     []field
	border     levels // the frontier
	formula    levels
	yours      *point // somebody's own settings
}

// point is a place on a map.
type point struct{ x, y float64 }

// field is a rectangle of one verdict.
type field struct {
	left, right, low, high float64
	verdict                string
}

// levels is a line that is level across each column: its place, by the column. It has a gap where a column has none of it.
type levels map[int]float64

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

// mapsOf takes a chart apart. Its frontier's axis goes up, the last of the other axes goes to the right, and there is one map
// for every combination of the rest.
func mapsOf(c *sweep.Chart) []panel {
	along := slices.IndexFunc(c.Axes, func(a sweep.ChartAxis) bool { return a.Path == c.Along })
	if along < 0 || len(c.Cells) == 0 {
		return nil
	}
	others := slices.Delete(slices.Clone(c.Axes), along, along+1)
	across := sweep.ChartAxis{Values: []string{""}}
	if len(others) > 0 {
		across, others = others[len(others)-1], others[:len(others)-1]
	}
	var maps []panel
	for _, rest := range sweep.Combinations(others) {
		p := panel{across: newScale(across.Values), acrossName: across.Path, up: newScale(c.Axes[along].Values), upName: c.Along,
			border: levels{}, formula: levels{}}
		for i, word := range rest {
			p.rest = append(p.rest, others[i].Path+" "+word)
		}
		for _, cell := range c.Cells {
			if at, isOn := p.place(cell.At, along, rest); isOn && !c.Bisected {
				p.fields = append(p.fields, field{at.x - .5, at.x + .5, at.y - .5, at.y + .5, cell.Verdict()})
			}
		}
		for i := range c.Frontier {
			if x, isOn := p.column(c.Frontier[i].At, rest); isOn {
				p.row(int(x), &c.Frontier[i], c.Bisected)
			}
		}
		if len(c.Yours) == len(c.Axes) {
			if at, isOn := p.place(c.Yours, along, rest); isOn {
				p.yours = &at
			}
		}
		maps = append(maps, p)
	}
	return maps
}

// place is where the values of all axes are on the map with these of the rest, and whether they are on it.
func (p *panel) place(at []string, along int, rest []string) (point, bool) {
	y, isUp := p.up.of(at[along])
	x, isOn := p.column(slices.Delete(slices.Clone(at), along, along+1), rest)
	return point{x, y}, isUp && isOn
}

// column is where the values of all axes but that which goes up are, from the left.
func (p *panel) column(at, rest []string) (x float64, isOn bool) {
	if len(at) > 0 {
		if x, isOn = p.across.of(at[len(at)-1]); !isOn {
			return 0, false
		}
		at = at[:len(at)-1]
	}
	return x, slices.EqualFunc(at, rest, func(a, b string) bool { return variant.ParseValue(a).Equal(variant.ParseValue(b)) })
}

// row takes the frontier in a column over and, where it was looked for alone, the two sides of it.
func (p *panel) row(x int, r *sweep.Row, isBisected bool) {
	left, right, bottom, top := float64(x)-.5, float64(x)+.5, -.5, float64(len(p.up))-.5
	safe, isSafe := p.up.of(r.Safe)
	broken, isBroken := p.up.of(r.Broken)
	if isSafe && isBroken {
		p.border[x] = (safe + broken) / 2
	}
	switch {
	case !isBisected:
	case isSafe && isBroken:
		low, high := "safe", "broken"
		if broken < safe {
			low, high = high, low
		}
		p.fields = append(p.fields, field{left, right, bottom, p.border[x], low}, field{left, right, p.border[x], top, high})
	case isBroken:
		p.fields = append(p.fields, field{left, right, bottom, top, "broken"})
	case isSafe:
		p.fields = append(p.fields, field{left, right, bottom, top, "safe"})
	default:
		p.fields = append(p.fields, field{left, right, bottom, top, scenarios.NothingTested})
	}
	if y, ok := p.up.of(r.Formula); ok && r.Formula != "" {
		if !isBisected {
			y = between(y, safe, broken, isSafe && isBroken)
		}
		p.formula[x] = y
	}
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
