package sweep

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/scenarios/variant"
)

// Axis is a setting, by its path in a settings file, and the values that it takes.
type Axis struct {
	Path   string
	Values []variant.Value
}

// maxPoints bounds the points of a sweep, so that a typing error does not run for years.
const maxPoints = 100_000

// ParseAxis reads "lock.ttl=1s,2s,5s" or "budget.clock-rate=0%:10%:1%": a path, and values or ranges from, to and step,
// both ends included. Ranges are exact: in nanoseconds, decimals or whole numbers.
func ParseAxis(text string) (Axis, error) {
	path, values, ok := strings.Cut(text, "=")
	if !ok {
		return Axis{}, fmt.Errorf(`%q is not an axis, as "lock.ttl=1s,2s,5s" or "budget.clock-rate=0%%:10%%:1%%"`, text)
	}
	path = strings.TrimSpace(path)
	a := Axis{Path: path}
	if !variant.IsPath(path) {
		return a, fmt.Errorf(`%q is not a path to a setting, as "lock.drift.factor"`, path)
	}
	for _, part := range split(values) {
		part = strings.TrimSpace(part)
		if part == "" {
			return a, fmt.Errorf("%s: a value is missing", path)
		}
		if ends := strings.Split(part, ":"); len(ends) > 1 && !strings.ContainsAny(part, "{[") {
			if err := a.addRange(part, ends); err != nil {
				return a, fmt.Errorf("%s: %w", path, err)
			}
			continue
		}
		a.Values = append(a.Values, variant.ParseValue(part))
	}
	seen := map[string]bool{}
	for _, v := range a.Values {
		if seen[v.Word] {
			return a, fmt.Errorf("%s: the value %s is there twice", path, v.Word)
		}
		seen[v.Word] = true
	}
	return a, nil
}

func (a *Axis) addRange(text string, ends []string) error {
	if len(ends) != 3 {
		return fmt.Errorf(`the range %q is not from:to:step, as "0ms:50ms:5ms"`, text)
	}
	var all [3]variant.Value
	for i, end := range ends {
		all[i] = variant.ParseValue(strings.TrimSpace(end))
	}
	from, to, step := all[0], all[1], all[2]
	for _, end := range all {
		switch {
		case end.Unit == "":
			return fmt.Errorf("the range %q: %q is not a duration, a percentage or a whole number", text, end.Word)
		case end.Unit != from.Unit:
			return fmt.Errorf("the range %q mixes units: %s and %s", text, from.Word, end.Word)
		}
	}
	switch {
	case !step.Number.IsPositive():
		return fmt.Errorf("the range %q: the step %s is not positive", text, step.Word)
	case to.Number.LessThan(from.Number):
		return fmt.Errorf("the range %q ends before it begins", text)
	}
	values := variant.NewScale(from, to, step.Number)
	if values.Last >= maxPoints {
		return fmt.Errorf("the range %q has %d values, at most %d are allowed", text, values.Last+1, maxPoints)
	}
	for i := range values.Last + 1 {
		a.Values = append(a.Values, values.At(i))
	}
	return nil
}

// unit is that of all values; empty if they have none in common.
func (a Axis) unit() variant.Unit {
	u := a.Values[0].Unit
	for _, v := range a.Values {
		if v.Unit != u {
			return ""
		}
	}
	return u
}

// split is strings.Split at commas outside brackets.
func split(text string) []string {
	var parts []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, text[start:i])
				start = i + 1
			}
		}
	}
	return append(parts, text[start:])
}

// chart is the axis as a chart has it.
func (a Axis) chart() ChartAxis {
	c := ChartAxis{Path: a.Path, Unit: a.unit()}
	for _, v := range a.Values {
		c.Values = append(c.Values, v.Word)
	}
	return c
}

// ChartAxis is an axis of a Chart.
type ChartAxis struct {
	Path   string       `json:"path"`
	Unit   variant.Unit `json:"unit"`
	Values []string     `json:"values"`
}

// Combinations are all combinations of the values of some axes, the last one varying fastest; one empty combination without
// axes.
func Combinations(axes []ChartAxis) [][]string {
	all := [][]string{nil}
	for _, a := range axes {
		var longer [][]string
		for _, one := range all {
			for _, word := range a.Values {
				longer = append(longer, append(slices.Clip(one), word))
			}
		}
		all = longer
	}
	return all
}

// points are all combinations of the values of some axes.
func points(axes []Axis) (all [][]variant.Setting) {
	var charts []ChartAxis
	for _, a := range axes {
		charts = append(charts, a.chart())
	}
	for _, at := range Combinations(charts) {
		point := []variant.Setting{}
		for i, word := range at {
			point = append(point, variant.Setting{Path: axes[i].Path, Word: word})
		}
		all = append(all, point)
	}
	return all
}

func words(at []variant.Setting) []string {
	all := []string{}
	for _, a := range at {
		all = append(all, a.Word)
	}
	return all
}
