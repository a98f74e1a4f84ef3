package heatmap

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios/variant"
	"redlocksim/search/sweep"
)

// chart is 2 by 3 points, with a frontier between 2 s and 3 s where the clocks are right, and none where they are not.
func chart() *sweep.Chart {
	cell := func(verdict string, at ...string) sweep.Cell {
		c := sweep.Cell{At: at}
		switch verdict {
		case "broken":
			c.Breaches = []sweep.Breach{{Schedule: "clocks", What: "<overlap>"}}
		case "invalid":
			c.Invalid = "too short"
		}
		return c
	}
	return &sweep.Chart{
		Name: "a < b", Along: "lock.ttl", Schedules: []string{"clocks"},
		Axes: []sweep.ChartAxis{{Path: "budget.clock-rate", Unit: variant.Percent, Values: []string{"0%", "1%"}},
			{Path: "lock.ttl", Unit: variant.Nanoseconds, Values: []string{"1s", "2s", "4s"}}},
		Cells: []sweep.Cell{
			cell("invalid", "0%", "1s"), cell("broken", "0%", "2s"), cell("safe", "0%", "4s"),
			cell("broken", "1%", "1s"), cell("broken", "1%", "2s"), cell("broken", "1%", "4s"),
		},
		Frontier: []sweep.Row{
			{At: []string{"0%"}, Safe: "4s", Broken: "2s", Formula: "2.5s", Agrees: sweep.Agrees},
			{At: []string{"1%"}, Broken: "4s", Formula: "5s"},
		},
	}
}

func TestGrid(t *testing.T) {
	maps := mapsOf(chart())
	if len(maps) != 1 {
		t.Fatalf("%d maps", len(maps))
	}
	m := maps[0]
	want := []field{
		{-.5, .5, -.5, .5, "invalid"}, {-.5, .5, .5, 1.5, "broken"}, {-.5, .5, 1.5, 2.5, "safe"},
		{.5, 1.5, -.5, .5, "broken"}, {.5, 1.5, .5, 1.5, "broken"}, {.5, 1.5, 1.5, 2.5, "broken"},
	}
	for i, w := range want {
		if m.fields[i] != w {
			t.Errorf("field %d: %v, want %v", i, m.fields[i], w)
		}
	}
	// Between 2 s and 4 s, level across the column. The formula's 2.5 s lies between the same cells; its 5 s are not on the
	// axis.
	step := levels{0: 1.5}
	if !reflect.DeepEqual(m.border, step) || !reflect.DeepEqual(m.formula, step) {
		t.Errorf("frontier %v, formula %v, want %v", m.border, m.formula, step)
	}
	if m.yours != nil {
		t.Errorf("%v is marked", m.yours)
	}
}

// The formula is drawn at the edge between the cells that it tells apart, in a step for each column, and has a gap where it
// has no value.
func TestFormulaIsStepped(t *testing.T) {
	c := chart()
	c.Axes[0].Values = []string{"0%", "1%", "2%", "3%"}
	c.Frontier = []sweep.Row{
		{At: []string{"0%"}, Safe: "4s", Broken: "2s", Formula: "3.9s"},
		{At: []string{"1%"}, Safe: "2s", Broken: "1s", Formula: "2s"}, // found to be safe itself
		{At: []string{"2%"}, Formula: "9s"},
		{At: []string{"3%"}, Safe: "1s", Broken: "2s", Formula: "1s"}, // safe below
	}
	want := levels{0: 1.5, 1: .5, 3: .5}
	m := mapsOf(c)[0]
	if !reflect.DeepEqual(m.formula, want) {
		t.Errorf("formula %v, want %v", m.formula, want)
	}
	var b strings.Builder
	(&canvas{&b, 0, 300, 10, 100}).line("formula", m.formula, 4)
	if want := `<path class="formula" d="M0.0 100.0H10.0V200.0H20.0M30.0 200.0H40.0"/>`; b.String() != want {
		t.Errorf("drawn as %s, want %s", &b, want)
	}
}

// Somebody's own settings are marked where they are, between values, too; and the page says if they are nowhere.
func TestYours(t *testing.T) {
	for _, x := range []struct {
		yours []string
		at    *point
		text  string
	}{
		{nil, nil, ""},
		{[]string{"0.5%", "3s"}, &point{.5, 1.5}, "The ring marks your settings: budget.clock-rate 0.5%, lock.ttl 3s."},
		{[]string{"1%", "2000ms"}, &point{1, 1}, "The ring marks your settings: budget.clock-rate 1%, lock.ttl 2000ms."},
		{[]string{"1%", "8s"}, nil, "Your settings (budget.clock-rate 1%, lock.ttl 8s) are not on the chart."},
		{[]string{"", "2s"}, nil, "Your settings are not marked: they have no single value of their own, and no default that is on the chart, for budget.clock-rate."},
	} {
		c := chart()
		c.Yours = x.yours
		if m := mapsOf(c)[0]; !reflect.DeepEqual(m.yours, x.at) {
			t.Errorf("%v: %v, want %v", x.yours, m.yours, x.at)
		}
		var page bytes.Buffer
		if err := WriteHTML(&page, c); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), x.text) || strings.Contains(page.String(), ">"+yoursText+"<") != (x.at != nil) {
			t.Errorf("%v: the page does not say %q", x.yours, x.text)
		}
		if x.text == "" && (strings.Contains(page.String(), "our settings are") || strings.Contains(page.String(), "marks your settings")) {
			t.Error("the page of a chart of nobody's speaks of settings")
		}
	}
}

func TestDigits(t *testing.T) {
	for word, want := range map[string]string{"33.3333333375%": "33.333%", "-0.0248248875%": "-0.024825%", "0.8001998%": "0.8002%", "18%": "18%", "0%": "0%", "123456%": "123460%",
		"29.698s": "29.698s", "any": "any", "": "", "x%": "x%"} {
		if got := digits(word); got != want {
			t.Errorf("%s is %s, want %s", word, got, want)
		}
	}
}

// A bisected chart shows both sides of each frontier, also where all values are on one.
func TestBisected(t *testing.T) {
	c := chart()
	c.Bisected, c.Cells = true, c.Cells[1:3]
	c.Frontier[0].Broken, c.Frontier[0].Safe = "2.499s", "2.5s"
	m := mapsOf(c)[0]
	if len(m.fields) != 3 || m.fields[0].verdict != "broken" || m.fields[1].verdict != "safe" || m.fields[0].high != m.fields[1].low ||
		math.Abs(m.fields[0].high-1.24975) > 1e-9 || m.fields[2] != (field{.5, 1.5, -.5, 2.5, "broken"}) {
		t.Errorf("fields %v", m.fields)
	}
}

// withThird is the chart with an axis before the others.
func withThird(axis sweep.ChartAxis) *sweep.Chart {
	c := chart()
	c.Axes = append([]sweep.ChartAxis{axis}, c.Axes...)
	var cells []sweep.Cell
	for _, word := range axis.Values {
		for _, cell := range c.Cells {
			cell.At = append([]string{word}, cell.At...)
			cells = append(cells, cell)
		}
	}
	c.Cells, c.Frontier = cells, nil
	return c
}

// Somebody's own settings are marked on the one map that has their value of the third axis, however it is written.
func TestYoursOnOneMap(t *testing.T) {
	for word, want := range map[string][]bool{"500ms": {true, false}, "2s": {false, true}, "2000ms": {false, true}, "1s": {false, false}} {
		c := withThird(sweep.ChartAxis{Path: "budget.delay", Unit: variant.Nanoseconds, Values: []string{"0.5s", "2s"}})
		c.Yours = []string{word, "1%", "2s"}
		var marked []bool
		maps := mapsOf(c)
		for _, m := range maps {
			marked = append(marked, m.yours != nil)
		}
		if !slices.Equal(marked, want) {
			t.Errorf("%s is marked on the maps %v, want %v", word, marked, want)
		}
		text, says := yoursOf(c, maps), "The ring marks your settings: budget.delay "+word
		if !slices.Contains(want, true) {
			says = "Your settings (budget.delay " + word + ", budget.clock-rate 1%, lock.ttl 2s) are not on the chart."
		}
		if !strings.HasPrefix(text, says) {
			t.Errorf("%s: %s", word, text)
		}
	}
}

// One map for each value of a third axis, and one column where there is a single axis.
func TestMoreAndFewerAxes(t *testing.T) {
	c := withThird(sweep.ChartAxis{Path: "nodes.persistence", Values: []string{"none", "always"}})
	if maps := mapsOf(c); len(maps) != 2 || !slices.Equal(maps[1].rest, []string{"nodes.persistence always"}) || len(maps[1].fields) != 6 {
		t.Errorf("maps %+v", maps)
	}
	c = chart()
	c.Axes, c.Cells, c.Frontier = c.Axes[1:], c.Cells[:3], nil
	for i := range c.Cells {
		c.Cells[i].At = c.Cells[i].At[1:]
	}
	if m := mapsOf(c); len(m) != 1 || len(m[0].fields) != 3 || m[0].fields[2] != (field{-.5, .5, 1.5, 2.5, "safe"}) {
		t.Errorf("maps %+v", m)
	}
}

// Pages and pictures are the same every time, have every number, and need nothing from anywhere.
func TestPages(t *testing.T) {
	var first, second, html bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &second} {
		if err := WriteSVG(w, chart()); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two pictures of one chart differ")
	}
	if err := WriteHTML(&html, chart()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a &lt; b", "2.5s", "too short", "clocks: &lt;overlap&gt;", `<td class="broken">broken</td>`, "<svg"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"<overlap>", "src=", "<script", "@import"} {
		if strings.Contains(html.String(), not) {
			t.Errorf("the page has %q", not)
		}
	}
	if err := WriteSVG(&first, &sweep.Chart{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty chart: %v", err)
	}
}

// The legend names the colours and lines that there are, and no others.
func TestLegend(t *testing.T) {
	const (
		line    = " The black line is the frontier that the sweep found."
		formula = " The wide blue line is where the formula puts the frontier, cell by cell."
		both    = " Where the two part, they differ; where only the black line can be seen, the formula has no value or leaves the chart."
	)
	untested := chart()
	untested.Cells, untested.Frontier = untested.Cells[:1], nil
	untested.Cells[0].Invalid, untested.Cells[0].NotTested = "", []sweep.Missed{{Schedule: "clocks"}}
	bare := chart()
	bare.Frontier[0].Formula = ""
	for _, x := range []struct {
		chart *sweep.Chart
		want  string
	}{
		{chart(), "Light blue is safe, orange with a cross is broken, grey cannot be run." + line + formula + both},
		{bare, "Light blue is safe, orange with a cross is broken, grey cannot be run." + line},
		{untested, "Yellow was not tested."},
	} {
		if got := legendOf(mapsOf(x.chart)); got != x.want {
			t.Errorf("%s\nwant\n%s", got, x.want)
		}
	}
}
