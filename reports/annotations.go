package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"redlocksim/internal/printable"
)

// What stands for itself in a workflow command of GitHub Actions, and what does not: in its message, and in its properties.
// From the actions toolkit, packages/core/src/command.ts.
var (
	inMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// Annotations writes, for each case that is not as expected, the command that has GitHub Actions show an error at the
// scenario's line.
func Annotations(w io.Writer, cases []Case) error {
	var b strings.Builder
	for i := range cases {
		c := &cases[i]
		if len(c.Problems) == 0 {
			continue
		}
		b.WriteString("::error ")
		if c.File != "" {
			fmt.Fprintf(&b, "file=%s,", inProperty.Replace(printable.Line(c.File)))
			if c.Line > 0 {
				fmt.Fprintf(&b, "line=%d,", c.Line)
			}
		}
		fmt.Fprintf(&b, "title=%s::%s\n", inProperty.Replace(printable.Line(fmt.Sprintf("%s on %s, seed %d", c.Name, c.Tier, c.Seed))),
			inMessage.Replace(strings.Join(printableLines(append(slices.Clone(c.Problems), "repeat: "+c.Repeat)), "\n")))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printableLines makes each line of some texts printable, and leaves the lines apart.
func printableLines(texts []string) []string {
	var lines []string
	for _, t := range texts {
		for line := range strings.SplitSeq(t, "\n") {
			lines = append(lines, printable.Line(line))
		}
	}
	return lines
}
