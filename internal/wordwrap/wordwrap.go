// Package wordwrap breaks text into lines between its words.
package wordwrap

import "strings"

// HelpWidth is how many columns a line of a command's help, and of what fits a terminal, may take.
const HelpWidth = 80

// Lines breaks text into lines of at most width characters. A word that is longer gets a line of its own: a path or a command
// that is broken cannot be copied.
func Lines(text string, width int) []string { return hanging("", "", text, width) }

// Help breaks text into lines of at most [HelpWidth] columns, each ended by a newline. The first line begins with first and a
// space, the others with indent.
func Help(first, indent, text string) string {
	return strings.Join(hanging(first, indent, text, HelpWidth), "\n") + "\n"
}

func hanging(first, indent, text string, width int) []string {
	var lines []string
	line, gap := first, " "
	if first == "" {
		gap = ""
	}
	for _, word := range strings.Fields(text) {
		if gap != "" && columns(line+gap+word) > width {
			lines = append(lines, line)
			line, gap = indent, ""
		}
		line += gap + word
		gap = " "
	}
	if gap != "" {
		lines = append(lines, line)
	}
	return lines
}

func columns(text string) int { return len([]rune(text)) }
