package reports

import (
	"fmt"
	"io"
	"strings"

	"redlocksim/checker"
	"redlocksim/scenarios/reach"
)

// Rules writes how often each rule of the checker had something to judge, one a line; see reach.Premises.
func Rules(w io.Writer, judged map[string]int) error {
	var b strings.Builder
	word := "rules"
	for _, e := range reach.Table() {
		if e.Kind == reach.Rule {
			fmt.Fprintf(&b, "%-10s %6d  %s\n", word, judged[e.Name], judgedFor(e.What))
			word = ""
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// judgedFor is what a rule judges, and behind it what would be found.
func judgedFor(what string) string {
	kind, judged, is := strings.Cut(what, ": ")
	if k := checker.Kind(kind); is && k.Word() != "" {
		return judged + "; looked for: " + k.Says()
	}
	return what
}

// RulesOf adds up how often each rule had something to judge in the cases.
func RulesOf(cases []Case) map[string]int {
	sum := map[string]int{}
	for i := range cases {
		for rule, n := range cases[i].Rules {
			sum[rule] += n
		}
	}
	return sum
}
