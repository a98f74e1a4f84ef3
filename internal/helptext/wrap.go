// Package helptext wraps the help of the command for a terminal of 80 columns.
package helptext

import "strings"

// Width is how many columns a line of help may take.
const Width = 80

// Wrap breaks text at spaces into lines of at most Width columns, each ended by a newline. The first line begins with first,
// the others with indent. A word that is longer than a line gets one of its own.
func Wrap(first, indent, text string) string {
	var b strings.Builder
	line := first
	for _, word := range strings.Fields(text) {
		if columns(line)+1+columns(word) > Width {
			b.WriteString(line + "\n")
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	b.WriteString(line + "\n")
	return b.String()
}

func columns(text string) int { return len([]rune(text)) }
