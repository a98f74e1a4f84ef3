// Package shell writes words for the command lines that reports print, to be pasted.
package shell

import (
	"regexp"
	"strings"
)

// plain is what a shell takes as it is.
var plain = regexp.MustCompile(`^[\w./:=@%+,-]+$`)

// Quote is a word as a POSIX shell reads it.
func Quote(word string) string {
	if plain.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
