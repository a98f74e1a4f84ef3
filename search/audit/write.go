package audit

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/internal/mark"
	"redlocksim/internal/wordwrap"
)

// count is how many assumptions have a verdict.
func (a *Audit) count(v Verdict) int {
	n := 0
	for _, x := range a.Assumptions {
		if x.Verdict == v {
			n++
		}
	}
	return n
}

// Summary is the audit in a sentence.
func (a *Audit) Summary() string {
	unsafe, missed, all := a.count(Unsafe), a.count(NotTested), len(a.Assumptions)
	text := fmt.Sprintf("all of %d assumptions hold", all)
	switch {
	case unsafe == 1:
		text = fmt.Sprintf("1 of %d assumptions does not hold", all)
	case unsafe > 1:
		text = fmt.Sprintf("%d of %d assumptions do not hold", unsafe, all)
	case missed > 0:
		text = fmt.Sprintf("%d of %d assumptions hold", all-missed, all)
	}
	if missed > 0 {
		text += fmt.Sprintf(", and %d could not be tested", missed)
	}
	return text
}

// heading is what was audited.
func (a *Audit) heading() string {
	s := a.Answers.Settings
	nodes := fmt.Sprintf("%d nodes", len(s.Nodes.Names))
	if len(s.Nodes.Names) == 1 {
		nodes = "1 node"
	}
	text := fmt.Sprintf("%s, %s, TTL %v", a.Answers.Library, nodes, s.Lock.TTL)
	if s.Title != "" && s.Title != s.Name {
		text = s.Title + " (" + text + ")"
	}
	return text
}

// worstFirst are the numbers of the lines, from 0: what is unsafe, what was not tested, and what is safe.
func (a *Audit) worstFirst() []int {
	var order []int
	for _, v := range []Verdict{Unsafe, NotTested, Safe} {
		for i, x := range a.Assumptions {
			if x.Verdict == v {
				order = append(order, i)
			}
		}
	}
	return order
}

// WriteText writes the audit for people, the bad news first. paint colours words that say a verdict; nil if nothing does.
func (a *Audit) WriteText(w io.Writer, paint func(v Verdict, words string) string) error {
	if paint == nil {
		paint = func(_ Verdict, words string) string { return words }
	}
	var b strings.Builder
	b.WriteString(wordwrap.Help("", "  ", a.heading()))
	fmt.Fprintf(&b, "%s\n\n", a.Summary())
	for _, i := range a.worstFirst() {
		x := &a.Assumptions[i]
		fmt.Fprintf(&b, "%2d  %s  %s\n", i+1, paint(x.Verdict, fmt.Sprintf("%-10s", x.Verdict)), x.Name)
		b.WriteString(wordwrap.Help("     ", "      ", x.Text))
		if x.Fix != "" {
			b.WriteString(wordwrap.Help("      fix:", "           ", x.Fix))
		}
	}
	remarks(&b, a.Beyond, a.Assumed)
	if a.Failed > 0 {
		fmt.Fprintf(&b, "\n%s", a.Failures.Text("", ""))
	}
	b.WriteString("\nEach line was attacked as you have it, and just beyond its limit. --show N tells\nthe run behind line N:\n")
	if len(a.Assumptions) > 0 {
		fmt.Fprintf(&b, "  %s\n", a.Assumptions[max(0, a.first(Unsafe))].Repeat)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// remarks is what no setting mends, and what was taken for granted.
func remarks(b *strings.Builder, beyond, assumed []string) {
	for _, list := range []struct {
		heading string
		all     []string
	}{{"What no setting mends", beyond}, {"Taken for granted, since nothing was said", assumed}} {
		if len(list.all) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", list.heading)
		for _, text := range list.all {
			b.WriteString(wordwrap.Help("  -", "    ", text))
		}
	}
}

// first is the number of the first assumption with a verdict, from 0; −1 if there is none.
func (a *Audit) first(v Verdict) int {
	for i, x := range a.Assumptions {
		if x.Verdict == v {
			return i
		}
	}
	return -1
}

// WriteMarkdown writes the audit as a page.
func (a *Audit) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	fmt.Fprintf(&b, "%s\n\n## %s\n\n%s.\n\n", mark.XML, cell.Replace(a.heading()), a.Summary())
	b.WriteString("| # | assumption | verdict | yours | limit | what decides | fix |\n|--:|---|---|---|---|---|---|\n")
	for _, i := range a.worstFirst() {
		x := &a.Assumptions[i]
		verdict := string(x.Verdict)
		if x.Verdict != Safe {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %s |\n", i+1, x.Name, verdict, cell.Replace(x.Yours), x.Limit, cell.Replace(x.Text), cell.Replace(x.Fix))
	}
	list := func(heading string, all []string) {
		if len(all) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s:\n\n", heading)
		for _, text := range all {
			fmt.Fprintf(&b, "- %s\n", text)
		}
	}
	list("What no setting mends", a.Beyond)
	list("Taken for granted, since nothing was said", a.Assumed)
	if a.Failed > 0 {
		fmt.Fprintf(&b, "\nRuns that failed:\n\n```text\n%s```\n", a.Failures.Text("", ""))
	}
	if len(a.Assumptions) > 0 {
		fmt.Fprintf(&b, "\nTo see the run that decides: `%s`\n", a.Assumptions[max(0, a.first(Unsafe))].Repeat)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
