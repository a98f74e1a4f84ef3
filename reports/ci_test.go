package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"redlocksim/reports"
)

// cases are one of each, with texts in them that a format could take for its own.
func cases() []reports.Case {
	return []reports.Case{
		{Name: "one", Title: "as it should be", Tier: "model", Seed: 7, Expected: "safe", Verdict: "safe", OK: true, Took: 1500 * time.Millisecond, Repeat: "redlocksim run one"},
		{Name: "two/bad", Title: "a <b> & `c` | d", Tier: "wire", Expected: "safe", Verdict: "lease-overlap", Hoped: "holds", Says: "two holders (lease-overlap)", Class: "safety",
			Problems: []string{"found <x> at 50%, a|b", "and\r\nmore ]]> \x00"}, Story: "   1  a & b\n```\n]]>\x01 <story>\n",
			Repeat: "redlocksim run 'f,g:h.yaml' --case bad", File: "dir,x/f:g.yaml", Line: 12, Took: 20 * time.Millisecond},
		{Name: "three", Tier: "wire", Skipped: "cannot be shown: \"quoted\" <why>"},
	}
}

// shape is what the schema of Jenkins for the reports of JUnit and Surefire allows (xunit-plugin, junit-10.xsd): the
// attributes of each element, those that it must have marked, and what can be in it.
var shape = map[string]struct{ attributes, children string }{
	"testsuites": {"name time tests failures errors", "testsuite"},
	"testsuite":  {"name! tests! failures! errors! group time skipped timestamp hostname id package file log url", "testsuite properties testcase system-out system-err"},
	"testcase":   {"name! time classname group", "skipped error failure rerunFailure rerunError flakyFailure flakyError system-out system-err"},
	"failure":    {"type message", ""},
	"error":      {"type message", ""},
	"skipped":    {"type message", ""},
	"properties": {"", "property"},
	"property":   {"name! value!", ""},
	"system-out": {"", ""},
	"system-err": {"", ""},
}

var surefireTime = regexp.MustCompile(`^(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?$`)

func checkShape(in io.Reader) error {
	d := xml.NewDecoder(in)
	var open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			name := e.Name.Local
			rule, known := shape[name]
			if len(open) > 0 && !slices.Contains(strings.Fields(shape[open[len(open)-1]].children), name) || !known {
				return fmt.Errorf("%s in %v", name, open)
			}
			open = append(open, name)
			for _, a := range e.Attr {
				if !slices.Contains(strings.Fields(strings.ReplaceAll(rule.attributes, "!", "")), a.Name.Local) {
					return fmt.Errorf("%s has an attribute %s", name, a.Name.Local)
				}
				if a.Name.Local == "time" && !surefireTime.MatchString(a.Value) {
					return fmt.Errorf("%s took %q", name, a.Value)
				}
			}
			for _, a := range strings.Fields(rule.attributes) {
				if must, ok := strings.CutSuffix(a, "!"); ok && !slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == must }) {
					return fmt.Errorf("%s has no attribute %s", name, must)
				}
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		}
	}
}

func TestJUnitHasTheShapeThatJenkinsReads(t *testing.T) {
	var b bytes.Buffer
	if err := reports.JUnit(&b, &reports.Job{Name: "a & b", Cases: cases(), Took: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if err := checkShape(bytes.NewReader(b.Bytes())); err != nil {
		t.Fatalf("%v in\n%s", err, &b)
	}
	var read struct {
		Tests  int `xml:"tests,attr"`
		Suites []struct {
			Name    string `xml:"name,attr"`
			Tests   int    `xml:"tests,attr"`
			Skipped int    `xml:"skipped,attr"`
			Time    string `xml:"time,attr"`
			Cases   []struct {
				Name    string `xml:"name,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if read.Tests != 3 || len(read.Suites) != 2 || read.Suites[0].Name != "a & b model" || read.Suites[0].Time != "1.500" || read.Suites[1].Skipped != 1 {
		t.Errorf("%+v", read)
	}
	failed := read.Suites[1].Cases[0]
	switch {
	case failed.Failure == nil || failed.Name != "two/bad, seed 0":
		t.Fatalf("%+v", failed)
	case failed.Failure.Message != "found <x> at 50%, a|b; and\uFFFD\nmore ]]> \uFFFD":
		t.Errorf("message %q", failed.Failure.Message)
	case failed.Failure.Text != "   1  a & b\n```\n]]>\uFFFD <story>\n\nrepeat: redlocksim run 'f,g:h.yaml' --case bad\n":
		t.Errorf("text %q", failed.Failure.Text)
	}
	if s := read.Suites[1].Cases[1].Skipped; s == nil || s.Message != "cannot be shown: \"quoted\" <why>" {
		t.Errorf("%+v", s)
	}
}

// A message ends a command where its line ends, and a property at a comma or a colon; none of a case's texts does.
func TestAnnotationsAreEscaped(t *testing.T) {
	var b bytes.Buffer
	if err := reports.Annotations(&b, cases()); err != nil {
		t.Fatal(err)
	}
	want := "::error file=dir%2Cx/f%3Ag.yaml,line=12,title=two/bad on wire%2C seed 0::" +
		"found <x> at 50%25, a|b%0Aand\\r%0Amore ]]> \\x00%0Arepeat: redlocksim run 'f,g:h.yaml' --case bad\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", &b, want)
	}
}

func TestMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := reports.Markdown(&b, &reports.Job{Name: "a suite", Cases: cases(), Took: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"## a suite: 1 of 2 not as expected\n",
		"| model | 1 | 1 | 0 | 0 |\n| wire | 1 | 0 | 1 | 1 |\n",
		"\n| two/bad | wire | 0 | holds | two holders (lease-overlap) | found &lt;x&gt; at 50%, a\\|b; and more ]]&gt;",
		"<summary>two/bad on wire, seed 0: a &lt;b&gt; &amp; `c` | d</summary>\n\n````text\n   1  a & b\n```\n",
		"\n```text\nredlocksim run 'f,g:h.yaml' --case bad\n```\n\n</details>\n",
		"<details><summary>1 not run</summary>\n\n- three: cannot be shown: &#34;quoted&#34; &lt;why&gt;\n",
	} {
		if !strings.Contains(b.String(), strings.ReplaceAll(want, "]]&gt;", `\]\]&gt;`)) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// Of a search the page has what the command says of all its runs: the cases are only what was found.
func TestMarkdownOfASearch(t *testing.T) {
	var b bytes.Buffer
	if err := reports.Markdown(&b, &reports.Job{Name: "a search", Cases: cases()[1:2], Search: "runs       10000\n"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"## a search\n\n```text\nruns       10000\n```\n", "\n| two/bad | wire |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "| tier | runs |") {
		t.Errorf("the cases are counted as runs in\n%s", &b)
	}
}

// A page that is too long for GitHub would not be shown at all.
func TestMarkdownIsBounded(t *testing.T) {
	var many []reports.Case
	for i := range 3000 {
		c := cases()[1]
		c.Name, c.Story = fmt.Sprintf("number-%d", i), strings.Repeat("a line of a story\n", 40)
		many = append(many, c)
	}
	var b bytes.Buffer
	if err := reports.Markdown(&b, &reports.Job{Name: "a suite", Cases: many, Took: time.Second}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 1<<20 || !strings.Contains(b.String(), "more, for which there is no place here") {
		t.Errorf("%d bytes", b.Len())
	}
	if open, closed := strings.Count(b.String(), "<details>"), strings.Count(b.String(), "</details>"); open == 0 || open != closed {
		t.Errorf("%d are opened and %d closed", open, closed)
	}
}
