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

// page says what was noticed of a target's bugs.
func (r Results) page(t target) string {
	var bugs, apart []Result
	for _, m := range r.Bugs {
		if m.Judged != (Judged{}) {
			apart = append(apart, m)
		} else {
			bugs = append(bugs, m)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, powerHead, t.about, "`"+r.Seed+"`", r.Sample, r.measured(), r.columnList(t), r.Limit)
	fmt.Fprintf(&b, "## What is noticed\n\n%s\n%s\n", r.headline(t, bugs), r.classTable(t, bugs))
	fmt.Fprintf(&b, "## Processor time to notice\n\nWithout building.\n\n%s\n", r.costTable(t, bugs))
	section := func(title, about string, all []Result, is func(Result) bool) {
		if all = slices.DeleteFunc(slices.Clone(all), func(m Result) bool { return !is(m) }); len(all) > 0 {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", title, about)
		}
		for _, m := range all {
			b.WriteString(m.described())
		}
	}
	is := func(verdict string) func(Result) bool {
		return func(m Result) bool { return m.Judged.Verdict == verdict }
	}
	section("Survivors", "Nothing notices these.", bugs, func(m Result) bool { return !m.caught(allColumns...) })
	section("Noticed by unit tests alone", "A lock without unit tests would keep these.", bugs,
		func(m Result) bool { return m.caught(Tests) && !m.caught(ours...) })
	section("Equivalent", "Nothing can notice these, as each says. They are not counted above.", apart, is(equivalent))
	section("Performance only", "These cost time, memory or messages, and nothing else. They are not counted above.", apart, is(performance))
	return b.String()
}

// described is a bug with its diff.
func (r Result) described() string {
	text := fmt.Sprintf("`%s`, line %d", r.Name, r.Line)
	if !r.isReached(simulated...) {
		text += ", reached by no scenario or search"
	} else if !r.isReached(Search, Explore) {
		text += ", reached by no search"
	}
	if r.caught(Tests) {
		text += ": " + r.Columns[Tests].By
	}
	if r.Judged.Why != "" {
		text += ": " + r.Judged.Why
	}
	return text + fmt.Sprintf("\n\n```diff\n%s```\n\n", r.Edit.Diff())
}

// columns are those that were measured for any bug.
func (r Results) columns(t target) []string {
	return slices.DeleteFunc(slices.Clone(t.columns), func(c string) bool {
		return !slices.ContainsFunc(r.Bugs, func(m Result) bool { _, has := m.Columns[c]; return has })
	})
}

// columnList says what the columns are.
func (r Results) columnList(t target) string {
	about := map[string]string{
		Tests:   "the unit tests; one that fails must fail twice.",
		Suite:   "every scenario on tiers model and wire.",
		Search:  t.search,
		Explore: "a random search as `redlocksim explore` makes it without a file: each run draws its settings as well.",
		Live:    "a few seconds on tier live, under a race detector, for what none of those three noticed; what fails must fail twice, unless by a data race.",
	}
	var lines []string
	for _, c := range r.columns(t) {
		lines = append(lines, fmt.Sprintf("- %s: %s", c, about[c]))
	}
	return strings.Join(lines, "\n")
}

// measured says how far the measurement is, and with what sources.
func (r Results) measured() string {
	var sources []string
	for _, m := range r.Bugs {
		sources = append(sources, "`"+m.Sources+"`")
	}
	slices.Sort(sources)
	return fmt.Sprintf("Measured are %d, with the sources %s. `go run ./mutants/measure %s` measures what is missing, and\nwith `-all` also what was measured with other sources, and writes this file.",
		len(r.Bugs), strings.Join(slices.Compact(sources), ", "), r.Target)
}

// headline is the figures that the measurement is for.
func (r Results) headline(t target, all []Result) string {
	if len(all) == 0 {
		return "Nothing was measured yet.\n"
	}
	share := func(by ...string) string {
		n := count(all, by...)
		return fmt.Sprintf("%d of %d (%d %%)", n, len(all), 100*n/len(all))
	}
	text := fmt.Sprintf("Suite and searches together: **%s**.", share(ours...))
	if slices.Contains(r.columns(t), Explore) {
		text += fmt.Sprintf(" Search without any scenario: **%s**. All columns: %s.", share(Explore), share(allColumns...))
		if n := count(all, ours...) - count(all, simulated...); n > 0 {
			text += fmt.Sprintf(" The suite noticed %d only on tier live.", n)
		}
	}
	return text + "\n"
}

func count(all []Result, by ...string) int {
	n := 0
	for _, m := range all {
		if m.caught(by...) {
			n++
		}
	}
	return n
}

func (r Results) classTable(t target, all []Result) string {
	w := table.NewWriter()
	header := table.Row{"class", "bugs"}
	for _, c := range r.columns(t) {
		header = append(header, c)
	}
	w.AppendHeader(append(header, "suite or search", "nothing", "reached by no scenario or search"))
	row := func(name string, of []Result) table.Row {
		row := table.Row{name, len(of)}
		for _, c := range r.columns(t) {
			row = append(row, count(of, c))
		}
		reached := slices.DeleteFunc(slices.Clone(of), func(m Result) bool { return !m.isReached(simulated...) })
		return append(row, count(of, ours...), len(of)-count(of, allColumns...), len(of)-len(reached))
	}
	for _, c := range generate.Classes() {
		of := slices.DeleteFunc(slices.Clone(all), func(m Result) bool { return m.Class != c })
		if len(of) > 0 {
			w.AppendRow(row(string(c), of))
		}
	}
	w.AppendRow(row("all", all))
	return w.RenderMarkdown() + "\n"
}

func (r Results) costTable(t target, all []Result) string {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"column", "bugs noticed", "median", "90 %"})
	row := func(name string, by ...string) {
		var took []float64
		for _, m := range all {
			if cost, noticed := m.cost(by...); noticed {
				took = append(took, cost)
			}
		}
		slices.Sort(took)
		row := table.Row{name, len(took), "–", "–"}
		if n := len(took); n > 0 {
			row[2], row[3] = fmt.Sprintf("%.1f s", took[(n-1)/2]), fmt.Sprintf("%.1f s", took[(9*n+9)/10-1])
		}
		w.AppendRow(row)
	}
	for _, c := range r.columns(t) {
		row(c, c)
	}
	row("suite, then searches", simulated...)
	return w.RenderMarkdown() + "\n"
}
