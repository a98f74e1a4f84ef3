package heatmap

import (
	"bytes"
	"errors"
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

// drawn is a map in letters, the heading first: what is safe, broken, refused or not tested, with _ if the frontier is below
// it, = if the formula puts it there, and * for somebody's own settings.
func drawn(g grid) string {
	var b strings.Builder
	write := func(fields []field) {
		for _, f := range fields {
			b.WriteString(map[string]string{"": " ", "safe": "s", "broken": "b", "invalid": "-", "not tested": "?"}[f.Verdict])
			for _, mark := range []struct {
				is   bool
				sign string
			}{{f.Frontier, "_"}, {f.Formula, "="}, {f.Yours, "*"}} {
				if mark.is {
					b.WriteString(mark.sign)
				}
			}
		}
	}
	write(g.Heading)
	for _, r := range g.Rows {
		b.WriteString("/")
		write(r.Fields)
	}
	return b.String()
}

func only(t *testing.T, c *sweep.Chart) string {
	t.Helper()
	maps := mapsOf(c)
	if len(maps) != 1 {
		t.Fatalf("%d maps", len(maps))
	}
	return drawn(maps[0])
}

// The frontier and the formula are between the points that they tell apart, and nowhere where they are beyond the axis. A value
// of the axis that is the formula's own is on the side on which it was found to be.
func TestGrid(t *testing.T) {
	// Between 2 s and 4 s; so is the formula's 2.5 s, and its 5 s are not on the axis.
	if got, want := only(t, chart()), "  /s_=b/bb/-b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	c := chart()
	c.Axes[0].Values = []string{"0%", "1%", "2%", "3%"}
	c.Cells = c.Cells[:1]
	c.Frontier = []sweep.Row{
		{At: []string{"0%"}, Safe: "4s", Broken: "2s", Formula: "3.9s"},
		{At: []string{"1%"}, Safe: "2s", Broken: "1s", Formula: "2s"}, // found to be safe itself
		{At: []string{"2%"}, Formula: "9s"},
		{At: []string{"3%"}, Safe: "2s", Broken: "4s", Formula: "4s"}, // safe below, and there, too
	}
	if got, want := only(t, c), "    =/ _=   _/  _=  /-   "; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Somebody's own settings are marked where they are, between values, too; and the page says if they are nowhere.
func TestYours(t *testing.T) {
	for _, x := range []struct {
		yours      []string
		want, text string
	}{
		{nil, "  /s_=b/bb/-b", ""},
		{[]string{"0.4%", "3.2s"}, "  /s_=*b/bb/-b", "The ring marks your settings: budget.clock-rate 0.4%, lock.ttl 3.2s."},
		{[]string{"1%", "2000ms"}, "  /s_=b/bb*/-b", "The ring marks your settings: budget.clock-rate 1%, lock.ttl 2000ms."},
		{[]string{"1%", "8s"}, "  /s_=b/bb/-b", "Your settings (budget.clock-rate 1%, lock.ttl 8s) are not on the chart."},
		{[]string{"", "2s"}, "  /s_=b/bb/-b", "Your settings are not marked: they have no single value of their own, and no default that is on the chart, for budget.clock-rate."},
	} {
		c := chart()
		c.Yours = x.yours
		if got := only(t, c); got != x.want {
			t.Errorf("%v: %s, want %s", x.yours, got, x.want)
		}
		var page bytes.Buffer
		if err := WriteHTML(&page, c); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page.String(), x.text) || strings.Contains(page.String(), "<b>yours</b>") != strings.Contains(x.want, "*") {
			t.Errorf("%v: the page does not say %q", x.yours, x.text)
		}
		if x.text == "" && strings.Contains(page.String(), "our settings") {
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
	if got, want := only(t, c), "  /s_=b/bb/bb"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// One map for each value of a third axis, with the settings of somebody on the one that has theirs, however it is written; and
// one column where there is a single axis.
func TestMoreAndFewerAxes(t *testing.T) {
	c := chart()
	c.Axes = append([]sweep.ChartAxis{{Path: "budget.delay", Unit: variant.Nanoseconds, Values: []string{"0.5s", "2s"}}}, c.Axes...)
	var cells []sweep.Cell
	for _, word := range c.Axes[0].Values {
		for _, cell := range c.Cells {
			cell.At = append([]string{word}, cell.At...)
			cells = append(cells, cell)
		}
	}
	c.Cells, c.Frontier, c.Yours = cells, nil, []string{"2000ms", "1%", "2s"}
	maps := mapsOf(c)
	if len(maps) != 2 || maps[1].Rest[0] != "budget.delay 2s" || drawn(maps[0]) != "  /sb/bb/-b" || drawn(maps[1]) != "  /sb/bb*/-b" {
		t.Errorf("maps %+v", maps)
	}
	c = chart()
	c.Axes, c.Cells, c.Frontier = c.Axes[1:], c.Cells[:3], nil
	for i := range c.Cells {
		c.Cells[i].At = c.Cells[i].At[1:]
	}
	if got := only(t, c); got != " /s/b/-" {
		t.Errorf("%s", got)
	}
}

// A page has every number, and needs nothing from anywhere.
func TestPages(t *testing.T) {
	var html bytes.Buffer
	if err := WriteHTML(&html, chart()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a &lt; b", "2.5s", "too short", "clocks: &lt;overlap&gt;", `<td class="broken">broken</td>`, `<td class="safe frontier formula" title="safe">`} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, not := range []string{"<overlap>", "src=", "<script", "@import"} {
		if strings.Contains(html.String(), not) {
			t.Errorf("the page has %q", not)
		}
	}
	if err := WriteHTML(&html, &sweep.Chart{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty chart: %v", err)
	}
}
