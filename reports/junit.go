package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/jstemmer/go-junit-report/v2/junit"

	"redlocksim/internal/mark"
)

// JUnit writes cases as JUnit XML, in the shape that Jenkins and Surefire read: a suite for each tier, a test for each
// case, with the story in the text of its failure.
func JUnit(w io.Writer, job *Job) error {
	all := junit.Testsuites{Name: job.Name, Time: inSeconds(job.Took)}
	for _, tier := range tiersOf(job.Cases) {
		suite := junit.Testsuite{Name: job.Name + " " + tier, ID: len(all.Suites)}
		var sum time.Duration
		for i := range job.Cases {
			if c := &job.Cases[i]; c.Tier == tier {
				suite.AddTestcase(testcase(c))
				sum += c.Took
			}
		}
		suite.Time = inSeconds(sum)
		all.AddSuite(suite)
	}
	if len(job.Cases) == 0 { // a part of a suite can have none, and importers take a file without tests for an error
		none := junit.Testsuite{Name: job.Name, Time: inSeconds(job.Took)}
		none.AddTestcase(junit.Testcase{Name: "no scenario", Classname: "redlocksim", Time: inSeconds(0),
			Skipped: &junit.Result{Message: "there was nothing to run"}})
		all.AddSuite(none)
	}
	all.Skipped = 0 // which suites say, and all of them together may not
	if _, err := io.WriteString(w, xml.Header+mark.XML+"\n"); err != nil {
		return err
	}
	return all.WriteXML(w)
}

// tiersOf lists the tiers in the order in which they come up.
func tiersOf(cases []Case) []string {
	var tiers []string
	known := map[string]bool{}
	for i := range cases {
		if t := cases[i].Tier; !known[t] {
			known[t] = true
			tiers = append(tiers, t)
		}
	}
	return tiers
}

func testcase(c *Case) junit.Testcase {
	// A point would be taken for the end of a package.
	t := junit.Testcase{Name: fmt.Sprintf("%s, seed %d", c.Name, c.Seed), Classname: "redlocksim." + strings.ReplaceAll(c.Tier, ".", "-"), Time: inSeconds(c.Took)}
	switch {
	case c.Skipped != "":
		t.Name = c.Name
		t.Skipped = &junit.Result{Message: inXML(c.Skipped)}
	case !c.OK:
		wrong := &junit.Result{Message: inXML(strings.Join(c.Problems, "; ")), Type: c.Class,
			Data: inXML(c.Story + "\nrepeat: " + c.Repeat + "\n")}
		if c.Class == Failed {
			t.Error = wrong
		} else {
			t.Failure = wrong
		}
	}
	return t
}

func inSeconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// inXML is a text without what XML cannot say.
func inXML(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || r == '\uFFFE' || r == '\uFFFF' {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
