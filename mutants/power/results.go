package power

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/mutants"
	"redlocksim/mutants/generate"
	"redlocksim/mutants/internal/resultsfile"
)

// Results are what was measured, as it is kept in the repository: measuring takes hours.
type Results struct {
	// Target, Seed and Sample are those of [Options].
	Target generate.Target `json:"target"`
	Seed   string          `json:"seed"`
	Sample int             `json:"sample"`
	// Columns are the only ones that were measured, each until one before it noticed the bug; nil is all. A page is made of
	// all.
	Columns []Column `json:"columns,omitempty"`
	// Mutants are those that were measured so far, by name.
	Mutants []Result `json:"mutants"`
}

// Result is what became of one bug.
type Result struct {
	Name  string         `json:"name"`
	Class generate.Class `json:"class"`
	Line  int            `json:"line"`
	Edit  mutants.Edit   `json:"edit"`
	// Sources stands for the sources that it was measured with; see [mutants.Sources].
	Sources string `json:"sources"`
	// Limit is how many seconds of processor time each search had.
	Limit   int                `json:"limit"`
	Columns map[Column]Outcome `json:"columns"`
}

// Outcome is what became of a bug in one column.
type Outcome struct {
	// How it was noticed: the kind of verdict, or how the process ended; empty if it was not.
	How string `json:"how,omitempty"`
	// By is what noticed it: a unit test, a scenario and its tier, or a run of a search.
	By string `json:"by,omitempty"`
	// CPU is the processor time until then, in seconds, without building.
	CPU float64 `json:"cpu"`
	// NotReached says that nothing of the column executes the statement that the bug is in.
	NotReached bool `json:"not_reached,omitempty"`
}

// caught says whether any of the columns noticed the bug.
func (r Result) caught(by ...Column) bool {
	return slices.ContainsFunc(by, func(c Column) bool { return r.Columns[c].How != "" })
}

// cost is the processor time until the first of the columns noticed the bug, one after the other, in seconds.
func (r Result) cost(by ...Column) (cost float64, noticed bool) {
	for _, c := range by {
		if cost += r.Columns[c].CPU; r.caught(c) {
			return cost, true
		}
	}
	return cost, false
}

// isReached says whether any of the columns executes the statement that the bug is in.
func (r Result) isReached(by ...Column) bool {
	return slices.ContainsFunc(by, func(c Column) bool {
		out, has := r.Columns[c]
		return has && !out.NotReached
	})
}

func (r Result) diff() string { return generate.Mutant{Edit: r.Edit}.Diff() }

// String is the result in a line.
func (r Result) String() string {
	text := r.Name
	for _, c := range allColumns {
		out, has := r.Columns[c]
		switch {
		case !has:
		case out.NotReached:
			text += fmt.Sprintf("  %s: not reached", c)
		case out.How == "":
			text += fmt.Sprintf("  %s: – (%.1f s)", c, out.CPU)
		default:
			text += fmt.Sprintf("  %s: %s, %s (%.1f s)", c, out.How, out.By, out.CPU)
		}
	}
	return text
}

// Read reads results. A file that is not there has none.
func Read(path string) (r Results, err error) {
	err = resultsfile.Read(path, &r)
	return r, err
}

// Write replaces the file by the results, or leaves it as it was.
func (r Results) Write(path string) error { return resultsfile.Write(path, r) }

// Add puts a result in its place. Results that somebody has merged by hand may be in any order.
func (r *Results) Add(one Result) {
	r.Mutants = slices.DeleteFunc(r.Mutants, func(old Result) bool { return old.Name == one.Name })
	r.Mutants = append(r.Mutants, one)
	slices.SortFunc(r.Mutants, func(a, b Result) int { return strings.Compare(a.Name, b.Name) })
}

// Of is the result of a bug as it is now, measured with these sources and this limit.
func (r Results) Of(m generate.Mutant, sources string, limit int) (Result, bool) {
	i := slices.IndexFunc(r.Mutants, func(one Result) bool { return one.Name == m.Name })
	if i < 0 || r.Mutants[i].Edit != m.Edit || r.Mutants[i].Sources != sources || r.Mutants[i].Limit != limit {
		return Result{}, false
	}
	return r.Mutants[i], true
}
