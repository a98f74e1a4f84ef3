package wordwrap

import (
	"regexp"
	"strings"
)

// lastColumn is how far to the right the last column of a report may begin.
const lastColumn = 20

var gap = regexp.MustCompile(`  +`)

// Report breaks the lines of a report that are wider than so many columns between their words. What goes on is below the last
// of the columns that gaps of two spaces and more set apart. A command stays whole, so that it can be copied, and so does a
// line with colours.
func Report(text string, width int) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		body := strings.TrimSuffix(line, "\n")
		prefix := ""
		for _, at := range gap.FindAllStringIndex(body, -1) {
			if at[0] <= lastColumn {
				prefix = body[:at[1]]
			}
		}
		rest, indent := body[len(prefix):], strings.Repeat(" ", max(columns(prefix), 2))
		if columns(body) <= width || strings.Contains(body, "\x1b") || strings.HasPrefix(rest, "redlocksim ") || width <= columns(prefix) {
			b.WriteString(line)
			continue
		}
		lines := hanging(strings.TrimSuffix(prefix, " "), indent, rest, width)
		b.WriteString(strings.Join(lines, "\n") + line[len(body):])
	}
	return b.String()
}
