// Package printable makes texts from others safe for terminals, logs, errors and XML: answers of servers, names that callers
// chose, histories from elsewhere.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a text as one line for a terminal or a log: what is not printable is escaped as in Go. Otherwise a name with a line
// break could begin a line that a terminal or GitHub Actions takes for a command.
func Line(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if isBroken := r == utf8.RuneError && size == 1; unicode.IsPrint(r) && !isBroken {
			b.WriteRune(r)
		} else {
			quoted := strconv.Quote(text[:size])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[size:]
	}
	return b.String()
}

// Lines is a text of several lines, each of which is a Line but for its tabs.
func Lines(text string) string {
	var b strings.Builder
	for {
		end := strings.IndexAny(text, "\n\t")
		if end < 0 {
			b.WriteString(Line(text))
			return b.String()
		}
		b.WriteString(Line(text[:end]))
		b.WriteByte(text[end])
		text = text[end+1:]
	}
}

// Text is the text as a Line, shortened to about max bytes before escaping.
func Text(text string, max int) string { return Line(Short(text, max)) }

// Short is the text; if it is longer than max bytes it is cut there, and … and its length follow.
func Short(text string, max int) string {
	if len(text) <= max {
		return text
	}
	end := max
	for end > 0 && end > max-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… (" + strconv.Itoa(len(text)) + " bytes)"
}
