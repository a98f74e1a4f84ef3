// Package printable makes the texts of others fit for terminals, logs, errors and XML: servers' answers, names that callers
// chose, histories from anywhere.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a text of somebody else's as one line for a terminal or a log: what is not printable is escaped as in Go. A
// name with a line break in it could otherwise begin a line of its own, which a terminal obeys and GitHub Actions takes for a
// command.
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

// Text is the text as a Line, of at most about max bytes before what is not printable is escaped.
func Text(text string, max int) string { return Line(Short(text, max)) }

// Short is the text, cut after about max bytes if it is longer, with … and its length in its place then.
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
