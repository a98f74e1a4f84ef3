package exitcode

import (
	"strings"
	"testing"

	"redlocksim/internal/wordwrap"
)

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		codes []Code
		want  Code
	}{
		{nil, OK},
		{[]Code{OK, OK}, OK},
		{[]Code{OK, NotTested}, NotTested},
		{[]Code{NotTested, Liveness}, Liveness},
		{[]Code{Liveness, Safety, NotTested}, Safety},
		{[]Code{Safety, NotRepeated}, NotRepeated},
		{[]Code{NotRepeated, Usage, Safety}, Usage},
		{[]Code{Usage, NotWritten}, NotWritten},
		{[]Code{NotWritten, Internal, Usage}, Internal},
		{[]Code{99, Safety}, Internal},
	} {
		if got := Worst(c.codes...); got != c.want {
			t.Errorf("Worst(%v) is %d, want %d", c.codes, got, c.want)
		}
	}
}

// Every code has one row and one place in the order of precedence.
func TestTableIsComplete(t *testing.T) {
	table := Table()
	if len(table) != len(precedence) {
		t.Errorf("%d rows, %d codes with a precedence", len(table), len(precedence))
	}
	for i, e := range table {
		if e.Code != i {
			t.Errorf("row %d is of code %d", i, e.Code)
		}
		if got := Worst(OK, e.Code); got != e.Code {
			t.Errorf("code %d and success give %d", e.Code, got)
		}
		if e.Name == "" || e.Meaning == "" {
			t.Errorf("code %d has no name or no meaning", e.Code)
		}
	}
}

func TestHelp(t *testing.T) {
	want := `Exit codes:
  0  as expected
  1  unexpected safety verdict: a history is bad, or something else that takes
     more than a line to say
  2  bad input or usage
  5  internal error
  7  an output could not be written`
	got := Help(Specifics{Safety: "a history is bad, or something else that takes more than a line to say"})
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, line := range strings.Split(Help(Specifics{Safety: strings.Repeat("word ", 40)}), "\n") {
		if len(line) > wordwrap.HelpWidth {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
}
