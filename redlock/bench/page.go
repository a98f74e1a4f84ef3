//go:build unix

package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"redlocksim/internal/outfile"
	"redlocksim/internal/rounded"
)

// The marks of a page, between which the tables are.
const (
	beginTables = "<!-- contention: go run . --json FILE --markdown PAGE -->\n"
	endTables   = "<!-- end of contention -->"
)

// replaceTables writes the tables into a page.
func replaceTables(path, tables string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, begins := strings.Cut(string(page), beginTables)
	_, after, ends := strings.Cut(rest, endTables)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the tables: %q, and later %q", path, beginTables, endTables)
	}
	return outfile.Rules{Force: true}.Write(path, []byte(before+beginTables+"\n"+tables+endTables+after))
}

// tables are Markdown: one for each condition. It is an error if a cell of the plan is missing.
func (all results) tables(plan []cell, rounds int) (string, error) {
	for round := 1; round <= rounds; round++ {
		for _, of := range plan {
			if all.find(round, of) == nil {
				return "", fmt.Errorf("there is no result yet of round %d: %v", round, of)
			}
		}
	}
	var b strings.Builder
	for _, on := range conditions {
		those := slices.DeleteFunc(slices.Clone(plan), func(of cell) bool { return of.On != on.name })
		if len(those) > 0 {
			fmt.Fprintf(&b, "### %s\n\n%s", on.title, all.table(those, rounds))
		}
	}
	return b.String(), nil
}

// table has a row for each contestant and work, and a column for each number of contenders.
func (all results) table(of []cell, rounds int) string {
	var numbers []int
	var rows []cell // without a number
	var below string
	for _, one := range of {
		if one.OneClient {
			below += fmt.Sprintf("%d goroutines of one client, %s of work: %s\n\n", one.Contenders, one.Work, all.summary(one, 1, rounds))
			continue
		}
		numbers = append(numbers, one.Contenders)
		one.Contenders = 0
		rows = append(rows, one)
	}
	if rows == nil {
		return below
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	head, rule := "| contestant | work |", "|---|--:|"
	for _, n := range numbers {
		head += fmt.Sprintf(" %d |", n)
		rule += "--:|"
	}
	lines := []string{head, rule}
	for _, row := range slices.Compact(rows) {
		line := fmt.Sprintf("| %s | %s |", row.With, row.Work)
		for _, row.Contenders = range numbers {
			line += " " + all.summary(row, 1, rounds) + " |"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n") + "\n\n" + below
}

// summary is the median of each figure of a cell over some rounds, and the least number of contenders that were served, if not
// all were. In brackets is the median of what the overhead is beside redsync's in the same round, if that was measured. It is
// empty if the cell was not.
func (all results) summary(of cell, first, last int) string {
	var overheads, parts, commands []float64
	var waits []time.Duration
	served := of.Contenders
	for round := first; round <= last; round++ {
		r := all.find(round, of)
		if r == nil {
			return ""
		}
		overheads, commands = append(overheads, r.Overhead), append(commands, r.Commands)
		waits = append(waits, time.Duration(r.LongestWait*float64(time.Millisecond)))
		served = min(served, r.Served)
		peer := of
		peer.With, peer.OneClient = redsyncAtBest, false
		if p := all.find(round, peer); p != nil && of.With != redsyncAtBest {
			parts = append(parts, r.Overhead/p.Overhead)
		}
	}
	text := fmt.Sprintf("%.1f", median(overheads))
	if len(parts) == len(overheads) {
		text += fmt.Sprintf(" (%.2f)", median(parts))
	}
	if n := median(commands); n > 0 {
		text += fmt.Sprintf(" · %.0f", n)
	}
	text += fmt.Sprintf(" · %v", rounded.Duration(median(waits)))
	if served < of.Contenders {
		text += fmt.Sprintf(" · %d served", served)
	}
	return text
}

// median is that of an odd number of values, or of an even one the upper of two.
func median[T cmp.Ordered](of []T) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
