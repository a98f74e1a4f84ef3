package reports

import (
	"fmt"
	"slices"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/plural"
	"redlocksim/scenarios/verdict"
)

// gradeWords are grades in words, the worst first.
var gradeWords = []struct {
	verdict.Grade
	words string
}{
	{verdict.Failed, "program failed"},
	{verdict.Weaker, "weaker"},
	{verdict.LessAvailable, "less available"},
	{verdict.LeavesKeys, "leaks"},
	{verdict.BusyWaits, "busy-waits"},
	{verdict.AsSound, "as sound as Redlock"},
	{verdict.NotApplicable, "not applicable"},
}

// GradeText is the grades of a run of somebody's lock in words. One without any has failed.
func GradeText(grades []verdict.Grade) string {
	var words []string
	for _, g := range gradeWords {
		if slices.Contains(grades, g.Grade) {
			words = append(words, g.words)
		}
	}
	if words == nil {
		return Failed
	}
	return strings.Join(words, ", ")
}

// mark is the verdict on a run in a word or two.
func (c *Case) mark(look Look) string {
	isSound := slices.Contains(c.Grades, verdict.AsSound)
	switch {
	case slices.Contains(c.Grades, verdict.NotApplicable) || isSound && c.Word == string(checker.Holds):
		return look.Good(GradeText(c.Grades))
	case c.Grades != nil && !isSound:
		return look.Bad(strings.ToUpper(GradeText(c.Grades)))
	case !c.OK:
		return look.Bad(c.Ending)
	case c.Word == string(checker.Holds):
		return look.Good(c.Ending)
	}
	return look.Doubtful(c.Ending)
}

// Totals counts runs in words.
func Totals(cases []Case) string {
	ran, bad, _ := tally(cases)
	counts := map[verdict.Grade]int{}
	broken, failed := 0, 0
	for i := range cases {
		if cases[i].Class == Failed && len(cases[i].Grades) == 0 {
			failed++
		}
		for _, g := range cases[i].Grades {
			if counts[g]++; g == verdict.AsSound && cases[i].Word != string(checker.Holds) {
				broken++
			}
		}
	}
	text := plural.Count(ran, "run")
	if len(counts) == 0 {
		return fmt.Sprintf("%s, %d as expected, %d not", text, ran-bad, bad)
	}
	for _, g := range gradeWords {
		if n := counts[g.Grade]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, g.words)
			if g.Grade == verdict.AsSound && broken > 0 {
				text += fmt.Sprintf(" (%d of them broken like Redlock)", broken)
			}
		}
	}
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}
