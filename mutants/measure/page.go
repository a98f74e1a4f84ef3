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
count as noticed. Without a bug no column notices anything: that is checked first.

`

// page is what was noticed of a target's bugs, for people.
type page struct {
	target
	records
	bugs []record // those that count
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
	p := page{t, r, those(r.Bugs, func(r record) bool { return r.Judged == "" })}
	var b strings.Builder
	fmt.Fprintf(&b, powerHead, t.about, "`"+r.Seed+"`", r.Sample, p.measured(), p.columnList(), r.Limit)
	fmt.Fprintf(&b, "## What is noticed\n\n%s\n%s\n", p.headline(), p.classTable())
	section := func(title, about string, all []record) {
		if len(all) > 0 {
			fmt.Fprintf(&b, "## %s\n\n%s\n\n", title, about)
		}
		for _, r := range all {
			b.WriteString(r.described())
		}
	}
	section("Survivors", "Nothing notices these.", those(p.bugs, func(r record) bool { return !r.caught(t.columns...) }))
	section("Noticed by unit tests alone", "A lock without unit tests would keep these.",
		those(p.bugs, func(r record) bool { return r.caught(columnTests) && !r.caught(ours...) }))
	section("No bugs", "These change nothing but time, memory or messages, as each says. They are not counted above.",
		those(r.Bugs, func(r record) bool { return r.Judged != "" }))
	return b.String()
}

// described is a bug with its diff.
func (r record) described() string {
	text := fmt.Sprintf("`%s`, line %d", r.Name, r.Line)
	for _, why := range []string{r.Columns[columnTests].By, r.Judged} {
		if why != "" {
			text += ": " + why
		}
	}
	return text + fmt.Sprintf("\n\n```diff\n%s```\n\n", r.Edit.Diff())
}

// columnList says what the columns are.
func (p page) columnList() string {
	search := "a random search as `redlocksim explore` makes it without a file: each run draws its settings as well."
	if p.settings != nil {
		search = "a random search with each of [these settings](settings.go) in turn. What an implementation is known to violate does not count."
	}
	about := map[string]string{
		columnTests:  "the unit tests; one that fails must fail twice.",
		columnSuite:  "every scenario on tiers model and wire.",
		columnSearch: search,
		columnLive:   "a few seconds on tier live, under a race detector, for what none of those three noticed; what fails must fail twice, unless by a data race.",
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
	return fmt.Sprintf("Suite and searches together: **%s**. Search without any scenario: **%s**. All columns: %s.\n",
		share(ours...), share(columnSearch), share(p.columns...))
}

func (p page) classTable() string {
	w := table.NewWriter()
	header := table.Row{"class", "bugs"}
	for _, c := range p.columns {
		header = append(header, c)
	}
	w.AppendHeader(append(header, "suite or search", "nothing"))
	row := func(name string, of []record) {
		row := table.Row{name, len(of)}
		for _, c := range p.columns {
			row = append(row, len(those(of, caughtBy(c))))
		}
		w.AppendRow(append(row, len(those(of, caughtBy(ours...))), len(of)-len(those(of, caughtBy(p.columns...)))))
	}
	for _, c := range generate.Classes() {
		if of := those(p.bugs, func(r record) bool { return r.Class == c }); len(of) > 0 {
			row(string(c), of)
		}
	}
	row("all", p.bugs)
	return w.RenderMarkdown() + "\n"
}
