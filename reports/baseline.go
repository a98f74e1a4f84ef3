package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/internal/plural"
	"redlocksim/scenarios/verdict"
)

// Comparison is how the runs of a lock differ from those of a baseline: the results that an earlier suite wrote as JSON.
type Comparison struct {
	// Worse are causes, by case, that the baseline does not have, and Better those that it alone has.
	Worse, Better []Change
	// New are cases that the baseline does not have. Their causes are Worse, too.
	New []string
	// Gone are cases that were tested for the baseline and were not now, with why.
	Gone []string

	asBefore int
}

// Change is a cause that came or went.
type Change struct {
	Case string
	verdict.Cause
}

func (c Change) String() string {
	return fmt.Sprintf("%s: %s, %s", c.Case, GradeText([]verdict.Grade{c.Grade}), c.Says())
}

// tested says that a run of somebody's lock came to a grade.
func (c *Case) tested() bool {
	return c.Skipped == "" && len(c.Grades) > 0 && !slices.Contains(c.Grades, verdict.NotApplicable)
}

// Compare compares runs with a baseline. missed says whether one of its cases that is not among the runs should be.
func Compare(before *Document, now []Case, missed func(name string) bool) *Comparison {
	x := &Comparison{}
	place := func(all []Case, name string) int {
		return slices.IndexFunc(all, func(c Case) bool { return c.Name == name })
	}
	for i := range now {
		c := &now[i]
		if c.Skipped != "" {
			continue
		}
		known := place(before.Scenarios, c.Name)
		var old []verdict.Cause
		if known < 0 {
			x.New = append(x.New, c.Name)
		} else {
			old = before.Scenarios[known].Causes
		}
		came := without(c.Causes, old)
		for _, cause := range came {
			x.Worse = append(x.Worse, Change{c.Name, cause})
		}
		if known >= 0 && len(came) == 0 {
			x.asBefore++
		}
		if c.tested() {
			for _, cause := range without(old, c.Causes) {
				x.Better = append(x.Better, Change{c.Name, cause})
			}
		}
	}
	for i := range before.Scenarios {
		b := &before.Scenarios[i]
		at := place(now, b.Name)
		switch {
		case !b.tested(), at >= 0 && now[at].tested():
		case at < 0 && missed(b.Name):
			x.Gone = append(x.Gone, b.Name+": there is no such case any more")
		case at >= 0 && now[at].Skipped != "":
			x.Gone = append(x.Gone, now[at].Skipped)
		case at >= 0:
			x.Gone = append(x.Gone, b.Name+": "+strings.Join(now[at].Problems, "; "))
		}
	}
	return x
}

// without are the causes that are not among others.
func without(all, others []verdict.Cause) []verdict.Cause {
	return slices.DeleteFunc(slices.Clone(all), func(c verdict.Cause) bool { return slices.Contains(others, c) })
}

// Known are the cases as they count beside the baseline: one that shows nothing new is as expected.
func (x *Comparison) Known(cases []Case) []Case {
	cases = slices.Clone(cases)
	for i := range cases {
		c := &cases[i]
		if !slices.ContainsFunc(x.Worse, func(w Change) bool { return w.Case == c.Name }) && c.tested() {
			c.OK, c.Problems, c.Class = true, nil, ""
		}
	}
	return cases
}

// Write says what differs, the bad news first.
func (x *Comparison) Write(w io.Writer, name string, look Look) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\ncompared with %s: %s nothing new\n", name, plural.Count(x.asBefore, "run")+" with")
	for _, c := range x.Worse {
		fmt.Fprintf(&b, "  worse: %s\n", look.Bad(c.String()))
	}
	for _, why := range x.Gone {
		fmt.Fprintf(&b, "  not tested any more: %s\n", look.Bad(why))
	}
	for _, c := range x.Better {
		fmt.Fprintf(&b, "  no longer: %s\n", c)
	}
	for _, c := range x.New {
		fmt.Fprintf(&b, "  not in the baseline: %s\n", c)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
