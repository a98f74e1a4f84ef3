package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"redlocksim/mutants/generate"
)

const powerHead = `# Detection power

How many bugs that nobody chose are noticed, in %s.
Operators over syntax trees ([generate](generate)) make every slip that they know at every place where it fits. The seed
%s draws %d of them: each statement as likely as any other, and each class that
fits it. Option checks, texts of errors, observers with what they are told, and subscriptions have none. A bug that does not
compile, or that the compiler turns into the code that there is without it, is not drawn.

%s

%s

A column ends with the first thing that it notices, and a search after %d s of processor time. Deadlocks, panics and endless loops
count as noticed. Without a bug no scenario and no search notices anything: that is checked first. What a column does not reach
without the bug counts as missed, and is not run.

`

// page is what was noticed of a target's bugs, for people.
type page struct {
	target
	records
	bugs    []record // those that count
	columns []string // that were measured
}

// those are the results of which something is so.
func those(all []record, is func(record) bool) []record {
	return slices.DeleteFunc(slices.Clone(all), func(r record) bool { return !is(r) })
}

// caughtBy says of a result whether any of the columns noticed the bug.
func caughtBy(by ...string) func(record) bool {
	return func(r record) bool { return r.caught(by...) }
}

// page is the page of the target.
func (r records) page(t target) string {
	p := page{t, r, those(r.Bugs, func(r record) bool { return r.Judged == judgement{} }), nil}
	for _, c := range t.columns {
		if slices.ContainsFunc(r.Bugs, func(r record) bool { _, has := r.Columns[c]; return has }) {
			p.columns = append(p.columns, c)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, powerHead, t.about, "`"+r.Seed+"`", r.Sample, p.measured(), p.columnList(), r.Limit)
	fmt.Fprintf(&b, "## What is noticed\n\n%s\n%s\n", p.headline(), p.classTable())
	fmt.Fprintf(&b, "## Processor time to notice\n\nWithout building.\n\n%s\n", p.costTable())
	section := func(title, about string, all []record) {
		if len(all) > 0 {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", title, about)
		}
		for _, r := range all {
			b.WriteString(r.described())
		}
	}
	judged := func(verdict string) []record {
		return those(r.Bugs, func(r record) bool { return r.Judged.Verdict == verdict })
	}
	section("Survivors", "Nothing notices these.", those(p.bugs, func(r record) bool { return !r.caught(allColumns...) }))
	section("Noticed by unit tests alone", "A lock without unit tests would keep these.",
		those(p.bugs, func(r record) bool { return r.caught(columnTests) && !r.caught(ours...) }))
	section("Equivalent", "Nothing can notice these, as each says. They are not counted above.", judged(equivalent))
	section("Performance only", "These cost time, memory or messages, and nothing else. They are not counted above.", judged(performance))
	return b.String()
}

// described is a bug with its diff.
func (r record) described() string {
	text := fmt.Sprintf("`%s`, line %d", r.Name, r.Line)
	if !r.isReached(simulated...) {
		text += ", reached by no scenario or search"
	} else if !r.isReached(columnSearch, columnExplore) {
		text += ", reached by no search"
	}
	for _, why := range []string{r.Columns[columnTests].By, r.Judged.Why} {
		if why != "" {
			text += ": " + why
		}
	}
	return text + fmt.Sprintf("\n\n```diff\n%s```\n\n", r.Edit.Diff())
}

// columnList says what the columns are.
func (p page) columnList() string {
	about := map[string]string{
		columnTests:   "the unit tests; one that fails must fail twice.",
		columnSuite:   "every scenario on tiers model and wire.",
		columnSearch:  p.search,
		columnExplore: "a random search as `redlocksim explore` makes it without a file: each run draws its settings as well.",
		columnLive:    "a few seconds on tier live, under a race detector, for what none of those three noticed; what fails must fail twice, unless by a data race.",
	}
	var lines []string
	for _, c := range p.columns {
		lines = append(lines, fmt.Sprintf("- %s: %s", c, about[c]))
	}
	return strings.Join(lines, "\n")
}

// measured says how far the measurement is, and with what sources.
func (p page) measured() string {
	var sources []string
	for _, r := range p.Bugs {
		sources = append(sources, "`"+r.Sources+"`")
	}
	slices.Sort(sources)
	return fmt.Sprintf("Measured are %d, with the sources %s. `go run ./mutants/measure %s` measures what is missing, and\n"+
		"with `-all` also what was measured with other sources, and writes this file.", len(p.Bugs), strings.Join(slices.Compact(sources), ", "), p.name)
}

// headline is the figures that the measurement is for.
func (p page) headline() string {
	if len(p.bugs) == 0 {
		return "Nothing was measured yet.\n"
	}
	share := func(by ...string) string {
		n := len(those(p.bugs, caughtBy(by...)))
		return fmt.Sprintf("%d of %d (%d %%)", n, len(p.bugs), 100*n/len(p.bugs))
	}
	text := fmt.Sprintf("Suite and searches together: **%s**.", share(ours...))
	if slices.Contains(p.columns, columnExplore) {
		text += fmt.Sprintf(" Search without any scenario: **%s**. All columns: %s.", share(columnExplore), share(allColumns...))
		if n := len(those(p.bugs, func(r record) bool { return r.caught(columnLive) && !r.caught(simulated...) })); n > 0 {
			text += fmt.Sprintf(" The suite noticed %d only on tier live.", n)
		}
	}
	return text + "\n"
}

func (p page) classTable() string {
	w := table.NewWriter()
	header := table.Row{"class", "bugs"}
	for _, c := range p.columns {
		header = append(header, c)
	}
	w.AppendHeader(append(header, "suite or search", "nothing", "reached by no scenario or search"))
	row := func(name string, of []record) {
		row := table.Row{name, len(of)}
		for _, c := range p.columns {
			row = append(row, len(those(of, caughtBy(c))))
		}
		w.AppendRow(append(row, len(those(of, caughtBy(ours...))), len(of)-len(those(of, caughtBy(allColumns...))),
			len(those(of, func(r record) bool { return !r.isReached(simulated...) }))))
	}
	for _, c := range generate.Classes() {
		if of := those(p.bugs, func(r record) bool { return r.Class == c }); len(of) > 0 {
			row(string(c), of)
		}
	}
	row("all", p.bugs)
	return w.RenderMarkdown() + "\n"
}

func (p page) costTable() string {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"column", "bugs noticed", "median", "90 %"})
	row := func(name string, by ...string) {
		row := table.Row{name, 0, "–", "–"}
		var took []float64
		for _, r := range those(p.bugs, caughtBy(by...)) {
			took = append(took, r.cost(by...))
		}
		slices.Sort(took)
		if n := len(took); n > 0 {
			row = table.Row{name, n, fmt.Sprintf("%.1f s", took[(n-1)/2]), fmt.Sprintf("%.1f s", took[(9*n+9)/10-1])}
		}
		w.AppendRow(row)
	}
	for _, c := range p.columns {
		row(c, c)
	}
	row("suite, then searches", simulated...)
	return w.RenderMarkdown() + "\n"
}
