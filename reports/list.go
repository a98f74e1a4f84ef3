package reports

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/checker"
	"redlocksim/internal/wordwrap"
	"redlocksim/scenarios"
)

// List writes scenarios by theme: what each is called, how the lock does in it, what it is about and, if sources is set, where
// it comes from. No line is wider than the terminal, nor than 80 columns.
func List(w io.Writer, all []*scenarios.Scenario, sources bool, look Look) error {
	return listed(w, all, look, func(s *scenarios.Scenario) (name, verdict string, about []string) {
		about = []string{s.Title}
		if sources {
			about = append(about, s.Source)
		}
		return s.Name, s.Says(), about
	})
}

// Overview lists the files of scenarios: in how many of its cases the lock breaks, and what they are about.
func Overview(w io.Writer, all []*scenarios.Scenario, look Look) error {
	cases := map[string]ofFile{}
	var first []*scenarios.Scenario
	for _, s := range all {
		name, _, _ := strings.Cut(s.Name, "/")
		if cases[name] == nil {
			first = append(first, s)
		}
		cases[name] = append(cases[name], s)
	}
	err := listed(w, first, look, func(s *scenarios.Scenario) (name, verdict string, about []string) {
		name, _, _ = strings.Cut(s.Name, "/")
		return name, cases[name].verdict(), []string{s.Topic}
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%d scenarios with %d cases.\nThose about something: redlocksim list WORD.\nTo run one: redlocksim run NAME.\n", len(first), len(all))
	return err
}

// listed writes an entry for each scenario.
func listed(w io.Writer, all []*scenarios.Scenario, look Look, entry func(*scenarios.Scenario) (name, verdict string, about []string)) error {
	width := wordwrap.HelpWidth
	if look.Width > 0 {
		width = min(width, look.Width)
	}
	var b strings.Builder
	for _, theme := range scenarios.Themes() {
		isFirst := true
		for _, s := range all {
			if s.Theme != theme {
				continue
			}
			if isFirst {
				fmt.Fprintln(&b, theme.Title())
				isFirst = false
			}
			name, verdict, about := entry(s)
			for i, text := range append([]string{name + ": " + verdict}, about...) {
				indent := strings.Repeat(" ", 2+4*min(i, 1))
				for _, line := range wordwrap.Lines(text, width-len(indent)) {
					fmt.Fprintln(&b, indent+line)
				}
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ofFile is the cases of a scenario file.
type ofFile []*scenarios.Scenario

// verdict says in a few words how the lock does.
func (f ofFile) verdict() string {
	counts := map[string]int{}
	for _, s := range f {
		counts[s.InOne()]++
	}
	var some []string
	for _, word := range []string{"breaks", string(checker.Stuck), string(checker.Leaks)} {
		switch n := counts[word]; {
		case n == len(f):
			return word
		case n > 0:
			some = append(some, fmt.Sprintf("%d %s", n, strings.TrimSuffix(word, "s")))
		}
	}
	if some == nil {
		return string(checker.Holds)
	}
	return strings.Replace(strings.Join(some, ", "), " ", fmt.Sprintf(" of %d ", len(f)), 1)
}
