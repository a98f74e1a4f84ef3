package reports

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/internal/plural"
	"redlocksim/internal/rounded"
	"redlocksim/internal/wordwrap"
	"redlocksim/reports/why"
	"redlocksim/scenarios/verdict"
)

// paper is how wide the text of an explanation is where no terminal says.
const paper = 100

// Why writes what a run is about, what was looked for in it, and what would have prevented what is wrong. repeat is the command
// that makes the run.
func Why(w io.Writer, x *why.Explanation, repeat string, look Look) error {
	b := &strings.Builder{}
	r := x.Result
	fmt.Fprintf(b, "What it is about\n")
	look.paragraph(b, "  ", r.Scenario.Explanation)
	fmt.Fprintf(b, "\nWhat was looked for\n")
	for _, rule := range x.Rules {
		look.rule(b, r, rule)
	}
	look.prevention(b, x, repeat)
	_, err := io.WriteString(w, b.String())
	return err
}

// paragraph writes text in lines as wide as there is place for.
func (l Look) paragraph(b *strings.Builder, indent, words string) {
	for _, line := range wordwrap.Lines(words, l.width()-len(indent)) {
		fmt.Fprintf(b, "%s%s\n", indent, line)
	}
}

// width is how wide text can be.
func (l Look) width() int {
	if l.Width > 0 {
		return max(24, min(l.Width, paper))
	}
	return paper
}

func (l Look) rule(b *strings.Builder, r *verdict.Result, rule why.Rule) {
	state := l.Good("not found")
	switch {
	case rule.Finding != nil && rule.Kind.Defect():
		state = l.Bad("FOUND")
	case rule.Finding != nil:
		state = l.Doubtful("found")
	}
	fmt.Fprintf(b, "  %s: %s\n", rule.Kind.Says(), state)
	l.paragraph(b, "    ", rounded.Text(rule.Why))
	if rule.Finding != nil {
		for _, win := range rule.Finding.Windows {
			fmt.Fprintf(b, "    %s\n", window(r.History, win))
		}
	}
}

func (l Look) prevention(b *strings.Builder, x *why.Explanation, repeat string) {
	if x.Wrong == "" {
		fmt.Fprintf(b, "\nNothing is wrong, so there is nothing to prevent.\n")
		return
	}
	of := func(status why.Status) (some []why.Tried) {
		for _, t := range x.Tried {
			if t.Status == status {
				some = append(some, t)
			}
		}
		return some
	}
	prevents := of(why.Prevents)
	if len(prevents) == 0 {
		fmt.Fprintf(b, "\nNothing that was tried would have prevented this: %s.\n", x.Wrong)
	} else {
		fmt.Fprintf(b, "\nWhat would have prevented this: %s (%d runs of each; a number is the least with which they hold)\n", x.Wrong, prevents[0].Runs)
	}
	for i, t := range prevents {
		for n, line := range wordwrap.Lines(t.What(), l.width()-len("  1  ")) {
			number := "   "
			if n == 0 {
				number = fmt.Sprintf("%3d", i+1)
			}
			fmt.Fprintf(b, "%s  %s\n", number, l.Good(line))
		}
		for _, k := range t.Keys {
			if k.Path+": "+k.To != t.What() { // which says it already
				fmt.Fprintf(b, "       %s\n", k)
			}
		}
		fmt.Fprintf(b, "       grants: %s; longest wait without a grant: %s\n",
			instead(fmt.Sprint(t.Grants), fmt.Sprint(x.Result.Report.Grants)),
			instead(rounded.Duration(t.Unavailable).String(), rounded.Duration(x.Result.Unavailable).String()))
		if t.Why != "" {
			fmt.Fprintf(b, "       %s\n", t.Why)
		}
	}
	if moot := of(why.Moot); len(moot) > 0 {
		fmt.Fprintf(b, "\nWith these the situation never arises\n")
		for _, t := range moot {
			l.paragraph(b, "  ", fmt.Sprintf("%s: %s", t.What(), t.Why))
		}
	}
	if fails := of(why.Fails); len(fails) > 0 {
		fmt.Fprintf(b, "\nWhat does not help\n")
		l.fails(b, fails)
	}
	if x.Without > 0 {
		fmt.Fprintf(b, "\n%s made no difference.\n", plural.Count(x.Without, "further change"))
	}
	if len(prevents) > 0 {
		fmt.Fprintf(b, "\nTo write the scenario with the first of these, which then runs as expected:\n  %s --variant 1 --write FILE\n", repeat)
	}
}

// instead says what something is, and what it was if that is something else.
func instead(is, was string) string {
	if is == was {
		return is + ", as before"
	}
	return is + " instead of " + was
}

// fails lists what does not help, together where the same happens all the same.
func (l Look) fails(b *strings.Builder, fails []why.Tried) {
	var whys []string
	by := map[string][]string{}
	for _, t := range fails {
		if by[t.Why] == nil {
			whys = append(whys, t.Why)
		}
		by[t.Why] = append(by[t.Why], t.What())
	}
	for _, why := range whys {
		l.paragraph(b, "  ", fmt.Sprintf("%s: %s", why, strings.Join(by[why], "; ")))
	}
}
