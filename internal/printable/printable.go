// Package printable makes texts of others fit for terminals, logs and XML.
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
