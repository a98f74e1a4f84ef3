// Package printable makes texts of others fit for errors and logs: servers' answers, and names that callers chose.
package printable

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text is the text in one line of printable characters, others escaped as in Go, and of at most about max bytes.
func Text(text string, max int) string {
	short := Short(text, max)
	quoted := strconv.Quote(short)
	if len(quoted) == len(short)+2 {
		return short
	}
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

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
