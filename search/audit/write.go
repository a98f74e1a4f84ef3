package audit

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/internal/wordwrap"
)

// count is how many assumptions have a verdict.
func (a *Audit) count(v Verdict) (n int) {
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

// Paint colours words that say a verdict.
type Paint func(v Verdict, words string) string

// WriteText writes the audit for people, the bad news first; nothing is coloured if paint is nil.
func (a *Audit) WriteText(w io.Writer, paint Paint) error {
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
	for _, list := range []struct {
		heading string
		all     []string
	}{{"What no setting mends", a.Beyond}, {"Taken for granted, since nothing was said", a.Assumed}} {
		if len(list.all) > 0 {
			fmt.Fprintf(&b, "\n%s\n", list.heading)
		}
		for _, text := range list.all {
			b.WriteString(wordwrap.Help("  -", "    ", text))
		}
	}
	if a.Failed > 0 {
		fmt.Fprintf(&b, "\n%s", a.Failures.Text("", ""))
	}
	if repeat := a.Assumptions[max(0, a.first(Unsafe))].Repeat; repeat != "" {
		b.WriteString("\nEach line was attacked as you have it, and just beyond its limit. --show N tells\nthe run behind line N:\n  " + repeat + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// first is the number of the first assumption with a verdict, from 0; −1 if there is none.
func (a *Audit) first(v Verdict) int {
	return slices.IndexFunc(a.Assumptions, func(x Assumption) bool { return x.Verdict == v })
}
