package locktable

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/mark"
	"redlocksim/internal/shell"
	"redlocksim/reports"
	"redlocksim/scenarios/verdict"
)

const intro = `# Locks people use

The libraries that people use, under the faults of the catalogue. They run unmodified; what an adapter adds is said below. Those in Go run
in the simulator, compiled to WebAssembly. On tier live a lock is a process of the machine, against real servers behind fault proxies.
Settings are the libraries' defaults unless the row says otherwise, the lease is as long as the scenario has it, and a lock on one Redis
is given the node that the faults happen to.

Each run is [graded](lock-programs.md#grades) beside a sound Redlock under the same faults. Redlock breaks, too, where a node's clock jumps
or a node forgets, so a lock that breaks only there is as sound. Locks that renew their leases by themselves are not judged less available
while somebody believes in one. On tier live only locks that wait by themselves can busy-wait, and keys that are left behind count only
without a time to live.

Runs in the simulator are deterministic: the commands repeat them, with the story and, with ` + "`--html`" + `, the timeline.
`

// Markdown writes the table as a page.
func Markdown(w io.Writer, t *Table) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n%s\nMade by `%s`, of %d cases.\n\n", mark.XML, intro, t.Repeat, t.Scenarios)
	b.WriteString("| lock | version | tier | licence | runs | as sound | weaker | less available | leaks | busy-waits |\n|---|---|---|---|--:|--:|--:|--:|--:|--:|\n")
	for i := range t.Locks {
		l := &t.Locks[i]
		if l.NotBuilt != "" {
			fmt.Fprintf(b, "| [%s](%s) | not built here | %s | %s | | | | | | |\n", t.heading(l), l.Source, l.where(), l.Licence)
			continue
		}
		fmt.Fprintf(b, "| [%s](%s) | %s | %s | %s | %d | %d | %s | %s | %s | %s |\n", t.heading(l), l.Source, l.Version, l.where(), l.Licence, len(l.Cells)-l.count(verdict.NotApplicable),
			l.count(verdict.AsSound), some(l.count(verdict.Weaker)), some(l.count(verdict.LessAvailable)), some(l.count(verdict.LeavesKeys)), some(l.count(verdict.BusyWaits)))
	}
	b.WriteString("\n## Where they differ\n\nOf the cases in which a lock does worse than Redlock. ✓ holds; ◆ does not hold, like Redlock; – not applicable.\n\n")
	t.matrix(b)
	for i := range t.Locks {
		t.Locks[i].chapter(b, t.heading(&t.Locks[i]))
	}
	list(b, "Runs that failed", t.failed())
	list(b, "Without a known cause", t.Unexplained())
	list(b, "Known causes that explained nothing", t.Unused)
	_, err := io.WriteString(w, b.String())
	return err
}

// list is a chapter with what is missing in the table; nothing if nothing is.
func list[T fmt.Stringer](b *strings.Builder, heading string, all []T) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", heading)
	for _, x := range all {
		fmt.Fprintf(b, "- %v\n", x)
	}
}

// some is a number that stands out unless it is 0.
func some(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("**%d**", n)
}

func (t *Table) matrix(b *strings.Builder) {
	rows := t.rows()
	if rows == nil {
		b.WriteString("There is none.\n")
		return
	}
	b.WriteString("| case |")
	for i := range t.Locks {
		fmt.Fprintf(b, " %s |", t.heading(&t.Locks[i]))
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(t.Locks)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s |", r.name)
		for _, c := range r.cells {
			fmt.Fprintf(b, " %s |", symbol(c))
		}
		b.WriteString("\n")
	}
}

// symbol is a cell in a word. A lock that is as sound as Redlock does not hold where Redlock does not.
func symbol(c *Cell) string {
	switch {
	case c == nil || slices.Contains(c.Grade, verdict.NotApplicable):
		return "–"
	case slices.Contains(c.Grade, verdict.AsSound) && c.Word == checker.Holds:
		return "✓"
	case slices.Contains(c.Grade, verdict.AsSound):
		return "◆ " + string(c.Word)
	}
	return reports.GradeText(c.Grade)
}

// chapter is what to say of a lock: each case in which it does worse, by what caused it.
func (l *Lock) chapter(b *strings.Builder, heading string) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n", heading, l.About)
	if l.Adapter != "" {
		fmt.Fprintf(b, "\nAdded by the adapter: %s\n", l.Adapter)
	}
	if l.NotBuilt != "" {
		fmt.Fprintf(b, "\nIt was not built here: %s\n", l.NotBuilt)
		return
	}
	fmt.Fprintf(b, "\n`redlocksim suite --lock %s`\n", shell.Quote(l.Command))
	type group struct {
		Why
		grade verdict.Grade
		cells []*Cell
	}
	var groups []*group
	for i := range l.Cells {
		c := &l.Cells[i]
		if !c.isWorse() {
			continue
		}
		for j, g := range c.Grade {
			k := slices.IndexFunc(groups, func(x *group) bool { return x.Why == c.Why[j] && x.grade == g })
			if k < 0 {
				groups = append(groups, &group{c.Why[j], g, nil})
				k = len(groups) - 1
			}
			groups[k].cells = append(groups[k].cells, c)
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return slices.Index(verdict.WorseGrades(), a.grade) - slices.Index(verdict.WorseGrades(), b.grade)
	})
	if groups == nil {
		b.WriteString("\nNowhere does it do worse than Redlock.\n")
	}
	for _, g := range groups {
		fmt.Fprintf(b, "\n- **%s.** %s%s\n", reports.GradeText([]verdict.Grade{g.grade}), g.Cause, g.reference())
		for _, c := range g.cells {
			fmt.Fprintf(b, "  - %s: %s\n", c.Case, c.Says)
		}
	}
	if groups != nil {
		fmt.Fprintf(b, "\nTo see one: `%s`\n", groups[0].cells[0].Repeat)
	}
}

// reference is where to read more.
func (w *Why) reference() string {
	switch {
	case w.See == "":
		return ""
	case w.Documented:
		return fmt.Sprintf(" ([documented](%s))", w.See)
	}
	return fmt.Sprintf(" ([see](%s))", w.See)
}
