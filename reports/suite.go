package reports

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"redlocksim/internal/mark"
	"redlocksim/internal/rounded"
	"redlocksim/scenarios/reach"
)

// Document is the JSON form of a suite's results.
type Document struct {
	// Lock is somebody's lock that was run; none for the library.
	Lock      *Lock  `json:"lock,omitempty"`
	Scenarios []Case `json:"scenarios"`
	// NotRun are the scenarios that could not be run on the tier, or not on this machine.
	NotRun []NotRun `json:"not_run"`
	// Reached is which steps of the algorithm, faults, moments and rules of the checker the runs got to, and in how many of
	// them, and Unused the features that the scenarios turn on and no run used.
	Reached []reach.Row     `json:"reached"`
	Unused  []reach.Feature `json:"unused"`
	// OK says that every scenario was as expected.
	OK bool `json:"ok"`
}

// Lock is the JSON form of what a lock program says that it is.
type Lock struct {
	Library string `json:"library"`
	Version string `json:"version"`
}

// NotRun is the JSON form of a scenario that was not run.
type NotRun struct {
	Name string `json:"name"`
	Tier string `json:"tier"`
	Why  string `json:"why"`
}

// NewDocument makes the JSON form of a suite's results.
func NewDocument(cases []Case, reached *reach.Tally) Document {
	doc := Document{Scenarios: []Case{}, NotRun: []NotRun{}, Reached: reached.Reached.Rows(), Unused: append([]reach.Feature{}, reached.Unused...), OK: true}
	for _, c := range cases {
		if c.Skipped != "" {
			doc.NotRun = append(doc.NotRun, NotRun{c.Name, c.Tier, c.Skipped})
			continue
		}
		doc.Scenarios, doc.OK = append(doc.Scenarios, c), doc.OK && c.OK
	}
	return doc
}

// WriteJSON writes a JSON form, an object, as indented text with the mark of its generator.
func WriteJSON(w io.Writer, form any) error {
	data, err := mark.JSON(form)
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// Suite writes a suite's results as a table, with what was not as expected below it; if quiet, without the table. [Themes] is
// for all scenarios.
func Suite(w io.Writer, cases []Case, took time.Duration, quiet bool, look Look) error {
	t := look.NewTable()
	t.AppendHeader(table.Row{"scenario", "tier", "verdict", "unavailable", "history", ""})
	b := &strings.Builder{}
	names, others := 0, 0 // columns of the names, and of what stays beside names and verdicts
	const gaps, endings = 6, 20
	for i := range cases {
		c := &cases[i]
		if c.Skipped != "" {
			continue
		}
		names = max(names, text.LongestLineLen(c.Name))
		others = max(others, gaps+len(c.Tier)+min(endings, text.LongestLineLen(c.mark(look))))
		t.AppendRow(table.Row{c.Name, c.Tier, c.Says, rounded.Duration(time.Duration(c.UnavailableNS)), c.HistoryHash[:min(12, len(c.HistoryHash))], c.mark(look)})
	}
	if !quiet {
		room := max(20, look.Width-others)
		names = min(names, room*3/5) // verdicts get the rest
		fmt.Fprintln(b, look.fit(t, []table.ColumnConfig{{Number: 1, WidthMax: names, WidthMaxEnforcer: breakName},
			{Number: 3, WidthMax: room - names, WidthMaxEnforcer: text.WrapSoft},
			{Number: 6, WidthMax: endings, WidthMaxEnforcer: text.WrapSoft}}, 5, 4))
	}
	problems(b, cases, look)
	fmt.Fprintf(b, "%s, %v\n", Totals(cases), took.Round(10*time.Millisecond))
	_, err := io.WriteString(w, b.String())
	return err
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
