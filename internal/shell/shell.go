// Package shell writes words for the command lines that reports print, to be pasted, and reads commands.
package shell

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/mattn/go-shellwords"
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

// Split is the words of a command, as a POSIX shell reads quotes and backslashes. Nothing is put in the place of variables, and
// pipes and further commands are refused.
func Split(command string) ([]string, error) {
	p := shellwords.NewParser()
	words, err := p.Parse(command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q has a quote or a bracket that is not closed", command)
	case p.Position >= 0:
		return nil, fmt.Errorf("%q is more than one command: quote what is meant literally from %q on", command, command[p.Position:])
	}
	return words, nil
}
