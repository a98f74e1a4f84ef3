package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"redlocksim/checker"
	"redlocksim/internal/wordwrap"
	"redlocksim/scenarios"
)

// List writes a table of scenarios, with where each is from if sources is set. In a terminal the columns are narrowed to
// its width; elsewhere each scenario has one line, as long as it takes.
func List(w io.Writer, all []*scenarios.Scenario, sources bool, look Look) error {
	t := look.NewTable()
	header := table.Row{"scenario", "verdict", "title"}
	if sources {
		header = append(header, "source")
	}
	t.AppendHeader(header)
	for _, s := range all {
		row := table.Row{s.Name, s.Says(), s.Title}
		if sources {
			row = append(row, s.Source)
		}
		t.AppendRow(row)
	}
	if look.Width > 0 {
		t.SetColumnConfigs(narrowed(look.Width, len(header)))
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

// narrowed are the widths of the columns of a list that has so many: what is left of the terminal for the last ones, and
// no more than a third of it for the names, which are broken where their cases begin.
func narrowed(width, columns int) []table.ColumnConfig {
	const between, least = 2, 10
	name := max(least, width/3)
	verdict := max(least, width/4)
	rest := width - name - verdict - columns*between
	configs := []table.ColumnConfig{
		{Number: 1, WidthMax: name, WidthMaxEnforcer: breakName},
		{Number: 2, WidthMax: verdict, WidthMaxEnforcer: text.WrapSoft},
	}
	for n := 3; n <= columns; n++ {
		configs = append(configs, table.ColumnConfig{Number: n, WidthMax: max(least, rest/(columns-2)), WidthMaxEnforcer: text.WrapSoft})
	}
	return configs
}

// breakName breaks a scenario's name that is too long before the name of its case.
func breakName(name string, width int) string {
	if text.StringWidthWithoutEscSequences(name) <= width {
		return name
	}
	file, of, _ := strings.Cut(name, "/")
	lines := text.WrapHard(file, width)
	if of != "" {
		lines += "\n" + text.WrapHard("/"+of, width)
	}
	return lines
}

// Overview writes the scenarios by theme, a line for each file: whether the lock holds in it, in how many cases it breaks, and
// what it is about. In a terminal that is too narrow for that, what it is about has a line of its own.
func Overview(w io.Writer, all []*scenarios.Scenario, look Look) error {
	files := byFile(all)
	widest, verdict, topic := 0, 0, 0
	for _, f := range files {
		widest, verdict, topic = max(widest, len(f.name)), max(verdict, len(f.verdict())), max(topic, len(f.cases[0].Topic))
	}
	isNarrow := look.Width > 0 && 2+widest+2+verdict+2+topic > look.Width
	var b strings.Builder
	for _, theme := range scenarios.Themes() {
		first := true
		for _, f := range files {
			if f.cases[0].Theme != theme {
				continue
			}
			if first {
				fmt.Fprintf(&b, "%s\n", theme.Title())
				first = false
			}
			line := fmt.Sprintf("  %-*s  %-*s", widest, f.name, verdict, f.verdict())
			if isNarrow {
				line = strings.TrimRight(line, " ") + "\n      " + f.cases[0].Topic
			} else {
				line += "  " + f.cases[0].Topic
			}
			fmt.Fprintln(&b, line)
		}
	}
	fmt.Fprintf(&b, "\n%d scenarios with %d cases; redlocksim list WORD lists the cases about something, redlocksim run NAME runs one\n", len(files), len(all))
	report := b.String()
	if look.Width > 0 {
		report = wordwrap.Report(report, look.Width)
	}
	_, err := io.WriteString(w, report)
	return err
}

// ofFile is a scenario file with its cases.
type ofFile struct {
	name  string
	cases []*scenarios.Scenario
}

// byFile are the files of scenarios, in their order.
func byFile(all []*scenarios.Scenario) (files []*ofFile) {
	for _, s := range all {
		name, _, _ := strings.Cut(s.Name, "/")
		if len(files) == 0 || files[len(files)-1].name != name {
			files = append(files, &ofFile{name: name})
		}
		last := files[len(files)-1]
		last.cases = append(last.cases, s)
	}
	return files
}

// verdict says in a few words how the lock does.
func (f *ofFile) verdict() string {
	counts := map[string]int{}
	for _, s := range f.cases {
		counts[s.InOne()]++
	}
	var some []string
	for _, word := range []string{"breaks", string(checker.Stuck), string(checker.Leaks)} {
		switch n := counts[word]; {
		case n == len(f.cases):
			return word
		case n > 0:
			some = append(some, fmt.Sprintf("%d %s", n, strings.TrimSuffix(word, "s")))
		}
	}
	if some == nil {
		return string(checker.Holds)
	}
	return strings.Replace(strings.Join(some, ", "), " ", fmt.Sprintf(" of %d ", len(f.cases)), 1)
}
