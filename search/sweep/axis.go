package sweep

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Axis is a setting, by its path in a settings file, and the values that it takes.
type Axis struct {
	Path   string
	Values []Value
}

// Limits, so that a typing error does not run for years.
const (
	// maxPoints bounds the points of a sweep.
	maxPoints = 100_000
	// MaxRuns bounds its runs at all points together.
	MaxRuns = 10_000_000
)

var axisPath = regexp.MustCompile(`^[a-z0-9-]+(\[[0-9]{1,6}\])?(\.[a-z0-9-]+(\[[0-9]{1,6}\])?)*$`)

// ParseAxis reads "lock.ttl=1s,2s,5s" or "budget.clock-rate=0%:10%:1%": a path, and values or ranges from, to and step,
// both ends included. Ranges are exact: in nanoseconds, decimals or whole numbers.
func ParseAxis(text string) (Axis, error) {
	path, values, ok := strings.Cut(text, "=")
	if !ok {
		return Axis{}, fmt.Errorf(`%q is not an axis, as "lock.ttl=1s,2s,5s" or "budget.clock-rate=0%%:10%%:1%%"`, text)
	}
	return newAxis(strings.TrimSpace(path), split(values))
}

func newAxis(path string, parts []string) (Axis, error) {
	a := Axis{Path: path}
	if !axisPath.MatchString(path) {
		return a, fmt.Errorf(`%q is not a path to a setting, as "lock.drift.factor"`, path)
	}
	for _, part := range parts {
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
		a.Values = append(a.Values, ParseValue(part))
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
	from, to, step := ParseValue(strings.TrimSpace(ends[0])), ParseValue(strings.TrimSpace(ends[1])), ParseValue(strings.TrimSpace(ends[2]))
	for _, end := range []Value{from, to, step} {
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
	steps, _ := to.Number.Sub(from.Number).QuoRem(step.Number, 0)
	if n := steps.Add(one); n.GreaterThan(number(maxPoints)) {
		return fmt.Errorf("the range %q has %s values, at most %d are allowed", text, n, maxPoints)
	}
	for i := int64(0); i <= steps.IntPart(); i++ {
		a.Values = append(a.Values, quantity(from.Unit, from.Number.Add(step.Number.Mul(number(i)))))
	}
	return nil
}

// unit is that of all values; empty if they have none in common.
func (a Axis) unit() Unit {
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

// points are all combinations of the values of some axes.
func points(axes []Axis) [][]Setting {
	lists := make([][]Setting, len(axes))
	for i, a := range axes {
		for _, v := range a.Values {
			lists[i] = append(lists[i], Setting{a.Path, v.Word})
		}
	}
	return product(lists)
}

// product is all combinations of an element of each list, the last varying fastest; one empty combination without lists.
func product[T any](lists [][]T) [][]T {
	all := [][]T{nil}
	for _, list := range lists {
		var longer [][]T
		for _, one := range all {
			for _, v := range list {
				longer = append(longer, append(slices.Clip(one), v))
			}
		}
		all = longer
	}
	return all
}
