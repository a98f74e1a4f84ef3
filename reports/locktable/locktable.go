// Package locktable writes how the locks of others did in the scenarios, beside a sound Redlock under the same faults.
package locktable

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"redlocksim/checker"
	"redlocksim/reports"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// Cell is a case on a lock.
type Cell struct {
	Lock     string         `json:"lock"`
	Version  string         `json:"version"`
	Settings string         `json:"settings"`
	Case     string         `json:"case"`
	Tier     scenarios.Tier `json:"tier"`
	Verdict  string         `json:"verdict"`
	// Says is the verdict for people, and Word the worst word of it; empty if it was not run.
	Says string       `json:"says,omitempty"`
	Word checker.Word `json:"word,omitempty"`
	// Grade is all grades that apply, the worst first; empty if the run failed.
	Grade []verdict.Grade `json:"grade"`
	// HistoryHash is empty on tier live, where each run is another.
	HistoryHash string `json:"history_hash"`
	// Why is, for each of the Grades but as-sound, what caused it, or why the case does not apply or the run failed.
	Why []Why `json:"why"`
	// Repeat is the command that repeats it; empty if it was not run.
	Repeat string `json:"repeat"`
}

// Why is what caused a grade.
type Why struct {
	Cause string `json:"cause"`
	// See is an address where the library's own people talk of it; may be empty.
	See string `json:"see,omitempty"`
	// Documented says that the library documents it as a limit.
	Documented bool `json:"documented,omitempty"`
}

// NoCause is the cause of a grade of which nobody knows the cause.
const NoCause = "Nobody has said yet what causes it."

// Lock is a lock with some settings on a tier: a column.
type Lock struct {
	Name, Settings, Version, Source, Licence, About string
	// Adapter says what of it is not the library's, as the end of a sentence; empty if nothing is.
	Adapter string
	Tier    scenarios.Tier
	// Command is what --lock takes.
	Command string
	Cells   []Cell
	// NotBuilt is why it was not run; empty if it was.
	NotBuilt string
}

// Table is the locks, each after the other.
type Table struct {
	Locks []Lock
	// Scenarios is how many cases there are.
	Scenarios int
	// Repeat is the command that makes the table.
	Repeat string
	// Unused are the known causes that explained nothing.
	Unused []Unused
}

// Unused is a known cause of a lock that explained nothing.
type Unused struct {
	Lock string `json:"lock"`
	// Cases is the expression for the cases that it was to explain.
	Cases string        `json:"cases"`
	Grade verdict.Grade `json:"grade"`
	Cause string        `json:"cause"`
}

func (u Unused) String() string {
	return fmt.Sprintf("%s: %s, %s: %s", u.Lock, u.Cases, reports.GradeText([]verdict.Grade{u.Grade}), u.Cause)
}

// Unexplained is a grade of which no cause is known.
type Unexplained struct {
	Lock     string         `json:"lock"`
	Settings string         `json:"settings"`
	Tier     scenarios.Tier `json:"tier"`
	Case     string         `json:"case"`
	Grade    verdict.Grade  `json:"grade"`

	// Heading is that of the column.
	Heading string `json:"-"`
}

func (u Unexplained) String() string {
	return fmt.Sprintf("%s: %s: %s", u.Heading, u.Case, reports.GradeText([]verdict.Grade{u.Grade}))
}

// Unexplained are the grades of which no cause is known.
func (t *Table) Unexplained() []Unexplained {
	all := []Unexplained{}
	for i := range t.Locks {
		for _, c := range t.Locks[i].Cells {
			for j, why := range c.Why {
				if why.Cause == NoCause {
					all = append(all, Unexplained{c.Lock, c.Settings, c.Tier, c.Case, c.Grade[j], t.heading(&t.Locks[i])})
				}
			}
		}
	}
	return all
}

// failed is a run that did, and the heading of its column.
type failed struct {
	heading string
	*Cell
}

func (f failed) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", f.heading, f.Case, f.Why[0].Cause, f.Repeat)
}

// failed are the runs that did.
func (t *Table) failed() (all []failed) {
	for i := range t.Locks {
		for j := range t.Locks[i].Cells {
			if c := &t.Locks[i].Cells[j]; len(c.Grade) == 0 {
				all = append(all, failed{t.heading(&t.Locks[i]), c})
			}
		}
	}
	return all
}

// count is how many cells have a grade.
func (l *Lock) count(g verdict.Grade) (n int) {
	for i := range l.Cells {
		if slices.Contains(l.Cells[i].Grade, g) {
			n++
		}
	}
	return n
}

// heading is the name of a column, with the tier if another differs only in that.
func (t *Table) heading(l *Lock) string {
	name := l.Name
	if l.Settings != "defaults" {
		name += ", " + l.Settings
	}
	if slices.ContainsFunc(t.Locks, func(x Lock) bool { return x.Name == l.Name && x.Settings == l.Settings && x.Tier != l.Tier }) {
		name += ", " + l.where()
	}
	return name
}

// where is where its program ran.
func (l *Lock) where() string {
	if l.Tier == scenarios.Program {
		return "simulator"
	}
	return string(l.Tier)
}

// of is the cell of a case; nil if it has none.
func (l *Lock) of(name string) *Cell {
	i := slices.IndexFunc(l.Cells, func(c Cell) bool { return c.Case == name })
	if i < 0 {
		return nil
	}
	return &l.Cells[i]
}

// isWorse says that a lock did worse in the cell than Redlock.
func (c *Cell) isWorse() bool {
	return !slices.Contains(c.Grade, verdict.AsSound) && !slices.Contains(c.Grade, verdict.NotApplicable)
}

// row is a case, with its cells in the order of the locks.
type row struct {
	name  string
	cells []*Cell // nil where a lock has none
}

// rows are the cases in which a lock did worse than Redlock, by their numbers.
func (t *Table) rows() (rows []row) {
	seen := map[string]bool{}
	for i := range t.Locks {
		for j := range t.Locks[i].Cells {
			c := &t.Locks[i].Cells[j]
			if seen[c.Case] || c.Repeat == "" || !c.isWorse() {
				continue
			}
			seen[c.Case] = true
			r := row{name: c.Case}
			for k := range t.Locks {
				r.cells = append(r.cells, t.Locks[k].of(c.Case))
			}
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(number(a.name), number(b.name)), cmp.Compare(a.name, b.name))
	})
	return rows
}

// number is what the name of a case begins with; those without a number come last.
func number(name string) int {
	digits, _, _ := strings.Cut(name, "-")
	n, err := strconv.Atoi(digits)
	if err != nil {
		return math.MaxInt
	}
	return n
}

// Document is the JSON form.
type Document struct {
	Cells []Cell `json:"cells"`
	// Unexplained are the grades of which no cause is known, and UnusedCauses the known causes that explained nothing.
	Unexplained  []Unexplained `json:"unexplained"`
	UnusedCauses []Unused      `json:"unused_causes"`
	// NotBuilt are the locks that could not be built here.
	NotBuilt []NotBuilt `json:"not_built"`
}

// NotBuilt is a lock that could not be built.
type NotBuilt struct {
	Lock string `json:"lock"`
	Why  string `json:"why"`
}

// NewDocument makes the JSON form of a table.
func NewDocument(t *Table) Document {
	d := Document{Cells: []Cell{}, Unexplained: t.Unexplained(), UnusedCauses: append([]Unused{}, t.Unused...), NotBuilt: []NotBuilt{}}
	for i := range t.Locks {
		if why := t.Locks[i].NotBuilt; why != "" {
			d.NotBuilt = append(d.NotBuilt, NotBuilt{t.Locks[i].Name, why})
		}
		d.Cells = append(d.Cells, t.Locks[i].Cells...)
	}
	return d
}
