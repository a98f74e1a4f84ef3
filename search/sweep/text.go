package sweep

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"

	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// WriteText writes a chart for a terminal: maps of its last two axes, one for each combination of the others, and the
// frontier.
func (c *Chart) WriteText(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", c.Name)
	if c.Lock != "" {
		fmt.Fprintf(&b, "lock       %s\n", c.Lock)
	}
	fmt.Fprintf(&b, "schedules  %s\n", strings.Join(c.Schedules, ", "))
	if c.Partial {
		b.WriteString("PARTIAL    interrupted: the missing points were not run\n")
	}
	if !c.Bisected {
		c.maps(&b)
	}
	c.frontier(&b)
	c.missed(&b)
	b.WriteString(c.Failures.Text("", ""))
	b.WriteString("\n")
	if err := c.Tally.Write(&b); err != nil {
		return err
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// The marks of a map.
const (
	markSafe    = "·"
	markBroken  = "█"
	markMissed  = "?"
	markInvalid = "-"
	markMissing = " "
)

func (c *Cell) mark() string {
	return map[string]string{scenarios.Safe: markSafe, "broken": markBroken, verdict.NothingTested: markMissed, "invalid": markInvalid}[c.Verdict()]
}

func (c *Chart) maps(b *strings.Builder) {
	marks := map[string]string{}
	for i := range c.Cells {
		marks[strings.Join(c.Cells[i].At, "\x00")] = c.Cells[i].mark()
	}
	y := c.Axes[len(c.Axes)-1]
	x := ChartAxis{Values: []string{""}}
	outer := c.Axes[:len(c.Axes)-1]
	if len(outer) > 0 {
		x, outer = outer[len(outer)-1], outer[:len(outer)-1]
	}
	for _, plane := range Combinations(outer) {
		b.WriteString("\n")
		for i, v := range plane {
			fmt.Fprintf(b, "%s = %s\n", outer[i].Path, v)
		}
		c.plane(b, plane, x, y, marks)
	}
	fmt.Fprintf(b, "\n%s safe  %s broken by a schedule  %s refused by the protocol", markSafe, markBroken, markInvalid)
	if n, _ := c.Untested(); n > 0 {
		fmt.Fprintf(b, "  %s not tested", markMissed)
	}
	b.WriteString("\n")
}

// plane draws one map, the last axis upward.
func (c *Chart) plane(b *strings.Builder, at []string, x, y ChartAxis, marks map[string]string) {
	margin, column := utf8.RuneCountInString(y.Path), 1
	for _, v := range y.Values {
		margin = max(margin, utf8.RuneCountInString(v))
	}
	for _, v := range x.Values {
		column = max(column, utf8.RuneCountInString(v))
	}
	labelled := (column+1)*len(x.Values) <= 100
	if !labelled {
		column = 0
	}
	pad := func(text string, width int) string {
		return strings.Repeat(" ", max(width-utf8.RuneCountInString(text), 0)) + text
	}
	fmt.Fprintf(b, "%s\n", y.Path)
	for i := len(y.Values) - 1; i >= 0; i-- {
		fmt.Fprintf(b, "%s ", pad(y.Values[i], margin))
		for _, v := range x.Values {
			point := append([]string(nil), at...)
			if x.Path != "" {
				point = append(point, v)
			}
			mark, ok := marks[strings.Join(append(point, y.Values[i]), "\x00")]
			if !ok {
				mark = markMissing
			}
			if labelled {
				b.WriteString(" ")
			}
			b.WriteString(pad(mark, column))
		}
		b.WriteString("\n")
	}
	switch {
	case x.Path == "":
	case labelled:
		b.WriteString(strings.Repeat(" ", margin+1))
		for _, v := range x.Values {
			b.WriteString(" " + pad(v, column))
		}
		fmt.Fprintf(b, "  %s\n", x.Path)
	default:
		fmt.Fprintf(b, "%s%s to %s  %s\n", strings.Repeat(" ", margin+1), x.Values[0], x.Values[len(x.Values)-1], x.Path)
	}
}

// frontier writes the table of the frontier.
func (c *Chart) frontier(b *strings.Builder) {
	if len(c.Frontier) == 0 {
		return
	}
	fmt.Fprintf(b, "\nfrontier along %s\n", c.Along)
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	t.SetStyle(style)
	header := table.Row{}
	for _, a := range c.Axes[:len(c.Axes)-1] {
		header = append(header, a.Path)
	}
	t.AppendRow(append(header, "safe", "broken", "formula", "difference", "agrees", ""))
	for _, r := range c.Frontier {
		row := table.Row{}
		for _, v := range r.At {
			row = append(row, v)
		}
		t.AppendRow(append(row, orDash(r.Safe), orDash(r.Broken), orDash(r.Formula), orDash(r.Difference), orDash(string(r.Agrees)), r.Note))
	}
	for _, line := range strings.Split(t.Render(), "\n") {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	compared := len(c.Frontier) - c.Count("")
	if compared == 0 {
		return
	}
	fmt.Fprintf(b, "the formula lies between safe and broken in %d of %d rows\n", c.Count(Agrees), compared)
	for _, other := range []struct {
		is   Agreement
		text string
	}{
		{Stricter, "it is stricter in %d: the lock holds beyond it, by no more than messages take\n"},
		{Disagrees, "it is CONTRADICTED in %d: either the formula is wrong or the search is\n"},
		{Weaker, "in %d the lock is WEAKER: it breaks where Redlock with the same settings holds\n"},
		{Safer, "in %d it is safer: it holds where Redlock with the same settings breaks\n"},
	} {
		if n := c.Count(other.is); n > 0 {
			fmt.Fprintf(b, other.text, n)
		}
	}
}

// missed writes what was not tested.
func (c *Chart) missed(b *strings.Builder) {
	n, why := c.Untested()
	if n > 0 {
		fmt.Fprintf(b, "\nNOT TESTED %d of %d points; the first: %s\n", n, len(c.Cells), why)
	}
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
