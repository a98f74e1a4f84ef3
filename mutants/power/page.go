package power

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"redlocksim/mutants/generate"
)

// ours are the columns that a lock without unit tests would have, and simulated those of them whose statements are counted.
var (
	ours      = []Column{Suite, Search, Explore, Live}
	simulated = []Column{Suite, Search, Explore}
)

const powerHead = `# Detection power

How many bugs that nobody chose are noticed, in %s.
Operators over syntax trees ([generate](generate)) make every slip that they know at every place where it fits. The seed
%s draws %d of them: each statement as likely as any other, and each class that
fits it. Option checks, texts of errors, observers with what they are told, and subscriptions have none. A bug that does not
compile, or that the compiler turns into the code that there is without it, is not drawn.

%s

%s

A column ends with the first thing that it notices, and a search after %s of processor time. Deadlocks, panics and endless loops
count as noticed. Without a bug no scenario and no search notices anything: that is checked first. What a column does not reach
without the bug counts as missed, and is not run.

`

// Page is mutants/POWER.md, or that of another target.
func (r Results) Page(judged []Judged) string {
	var bugs, apart []Result
	for _, m := range r.Mutants {
		if of(judged, m).Verdict == "" {
			bugs = append(bugs, m)
		} else {
			apart = append(apart, m)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, powerHead, targets[r.Target].about, "`"+r.Seed+"`", r.Sample, r.measured(), r.columnList(), r.limits())
	fmt.Fprintf(&b, "## What is noticed\n\n%s\n%s\n", r.headline(bugs), r.classTable(bugs))
	fmt.Fprintf(&b, "## Processor time to notice\n\nWithout building.\n\n%s\n", r.costTable(bugs))
	section(&b, "Survivors", "Nothing notices these.", judged, bugs, func(m Result) bool { return !m.caught(allColumns...) })
	section(&b, "Noticed by unit tests alone", "A lock without unit tests would keep these.", judged, bugs,
		func(m Result) bool { return m.caught(Tests) && !m.caught(ours...) })
	section(&b, "Equivalent", "Nothing can notice these; [judged.yaml](judged.yaml) argues each. They are not counted above.", judged, apart,
		func(m Result) bool { return of(judged, m).Verdict == Equivalent })
	section(&b, "Performance only", "These cost time, memory or messages, and nothing else. They are not counted above.", judged, apart,
		func(m Result) bool { return of(judged, m).Verdict == Performance })
	return b.String()
}

// columns are those that were measured for any bug.
func (r Results) columns() []Column {
	return slices.DeleteFunc(slices.Clone(targets[r.Target].columns), func(c Column) bool {
		return !slices.ContainsFunc(r.Mutants, func(m Result) bool { _, has := m.Columns[c]; return has })
	})
}

// columnList says what the columns are.
func (r Results) columnList() string {
	about := map[Column]string{
		Tests:   "the unit tests; one that fails must fail twice.",
		Suite:   "every scenario on tiers model and wire.",
		Search:  targets[r.Target].search,
		Explore: "a random search as `redlocksim explore` makes it without a file: each run draws its settings as well.",
		Live:    "a few seconds on tier live, under a race detector, for what none of those three noticed; what fails must fail twice, unless by a data race.",
	}
	var lines []string
	for _, c := range r.columns() {
		lines = append(lines, fmt.Sprintf("- %s: %s", c, about[c]))
	}
	return strings.Join(lines, "\n")
}

// measured says how far the measurement is, and with what sources.
func (r Results) measured() string {
	var sources []string
	for _, m := range r.Mutants {
		sources = append(sources, "`"+m.Sources[:8]+"`")
	}
	slices.Sort(sources)
	command := "go run ./mutants/measure"
	if r.Target != generate.Library {
		command += " -target " + string(r.Target)
	}
	return fmt.Sprintf("Measured are %d, with the sources %s. `%s` measures what is missing or outdated, and writes\nthis file.",
		len(r.Mutants), strings.Join(slices.Compact(sources), ", "), command)
}

func (r Results) limits() string {
	var limits []string
	for _, m := range r.Mutants {
		limits = append(limits, fmt.Sprintf("%d s", m.Limit))
	}
	slices.Sort(limits)
	return strings.Join(slices.Compact(limits), " or ")
}

// headline is the figures that the measurement is for.
func (r Results) headline(all []Result) string {
	if len(all) == 0 {
		return "Nothing was measured yet.\n"
	}
	share := func(by ...Column) string {
		n := count(all, by...)
		return fmt.Sprintf("%d of %d (%d %%)", n, len(all), 100*n/len(all))
	}
	text := fmt.Sprintf("Suite and searches together: **%s**.", share(ours...))
	if slices.Contains(r.columns(), Explore) {
		text += fmt.Sprintf(" Search without any scenario: **%s**. All columns: %s.", share(Explore), share(allColumns...))
		if n := count(all, ours...) - count(all, simulated...); n > 0 {
			text += fmt.Sprintf(" The suite noticed %d only on tier live.", n)
		}
	}
	return text + "\n"
}

func count(all []Result, by ...Column) int {
	n := 0
	for _, m := range all {
		if m.caught(by...) {
			n++
		}
	}
	return n
}

func (r Results) classTable(all []Result) string {
	w := table.NewWriter()
	header := table.Row{"class", "bugs"}
	for _, c := range r.columns() {
		header = append(header, string(c))
	}
	w.AppendHeader(append(header, "suite or search", "nothing", "reached by no scenario or search"))
	row := func(name string, of []Result) table.Row {
		row := table.Row{name, len(of)}
		for _, c := range r.columns() {
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

func (r Results) costTable(all []Result) string {
	w := table.NewWriter()
	w.AppendHeader(table.Row{"column", "bugs noticed", "median", "90 %"})
	row := func(name string, by ...Column) {
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
	for _, c := range r.columns() {
		row(string(c), c)
	}
	row("suite, then searches", simulated...)
	return w.RenderMarkdown() + "\n"
}

// section lists bugs with their diffs, where there are any.
func section(b *strings.Builder, title, about string, judged []Judged, all []Result, is func(Result) bool) {
	all = slices.DeleteFunc(slices.Clone(all), func(m Result) bool { return !is(m) })
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "## %s\n\n%s\n\n", title, about)
	for _, m := range all {
		fmt.Fprintf(b, "`%s`, line %d", m.Name, m.Line)
		if !m.isReached(simulated...) {
			b.WriteString(", reached by no scenario or search")
		} else if !m.isReached(Search, Explore) {
			b.WriteString(", reached by no search")
		}
		if m.caught(Tests) {
			fmt.Fprintf(b, ": %s", m.Columns[Tests].By)
		}
		if why := of(judged, m).Why; why != "" {
			fmt.Fprintf(b, ": %s", strings.TrimSpace(why))
		}
		fmt.Fprintf(b, "\n\n```diff\n%s```\n\n", m.diff())
	}
}
