package reports_test

import (
	"bytes"
	"fmt"
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

// The report has the shape of Jenkins' schema (xunit-plugin, junit-10.xsd): all suites together have no count of what was
// skipped, and no text has what XML cannot say.
func TestJUnit(t *testing.T) {
	var b strings.Builder
	if err := reports.JUnit(&b, &reports.Job{Name: "a & b", Cases: cases(), Took: 2 * time.Second}); err != nil {
		t.Fatal(err)
	}
	const want = `<?xml version="1.0" encoding="UTF-8"?>
<!-- Generator: redlocksim -->
<testsuites name="a &amp; b" time="2.000" tests="3" failures="1">
	<testsuite name="a &amp; b model" tests="1" failures="0" errors="0" id="0" time="1.500">
		<testcase name="one, seed 7" classname="redlocksim.model" time="1.500"></testcase>
	</testsuite>
	<testsuite name="a &amp; b wire" tests="2" failures="1" errors="0" id="1" skipped="1" time="0.020">
		<testcase name="two/bad, seed 0" classname="redlocksim.wire" time="0.020">
			<failure message="found &lt;x&gt; at 50%, a|b; and�&#xA;more ]]&gt; �" type="safety"><![CDATA[   1  a & b
FENCE
]]]]><![CDATA[>� <story>

repeat: redlocksim run 'f,g:h.yaml' --case bad
]]></failure>
		</testcase>
		<testcase name="three" classname="redlocksim.wire" time="0.000">
			<skipped message="cannot be shown: &#34;quoted&#34; &lt;why&gt;"></skipped>
		</testcase>
	</testsuite>
</testsuites>
`
	if b.String() != strings.ReplaceAll(want, "FENCE", "```") {
		t.Errorf("%s", &b)
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
