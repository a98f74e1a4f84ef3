package main

import (
	"bytes"
	"cmp"
	"strings"
	"testing"
	"unicode/utf8"

	"redlocksim/internal/wordwrap"
)

// mostLines is how many lines the help of a command may have; pages in docs have the details.
const mostLines = 79

// shorterHelp are the commands whose help has a page of its own to it, and has to leave more to that.
var shorterHelp = map[string]int{"check": 59, "sweep": 59}

// The help of every command can be read on a terminal of 80 columns, without paging for long, and has an example. Only the
// commands of examples may be wider.
func TestHelpFits(t *testing.T) {
	const example = "  redlocksim "
	read := 0
	for _, cmd := range append(newRoot().Commands(), newRoot()) {
		var b bytes.Buffer
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		limit := cmp.Or(shorterHelp[cmd.Name()], mostLines)
		if lines := strings.Count(b.String(), "\n"); lines > limit {
			t.Errorf("%s: the help has %d lines, at most %d fit", cmd.Name(), lines, limit)
		}
		if !strings.Contains(b.String(), "\n"+example) {
			t.Errorf("%s: the help has no example", cmd.Name())
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > wordwrap.HelpWidth && !strings.HasPrefix(line, example) {
				t.Errorf("%s: %d columns: %s", cmd.Name(), n, line)
			}
			read++
		}
	}
	if read < 500 {
		t.Errorf("%d lines of help were read, there were more", read)
	}
}

// Every command refuses a word that stands for nothing, and says so on standard error.
func TestWordsThatStandForNothing(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, cmd := range newRoot().Commands() {
		if cmd.Name() == "new" { // which would make the file
			continue
		}
		var stdout, stderr bytes.Buffer
		if code := run([]string{cmd.Name(), "no-such-thing"}, &stdout, &stderr); code != exitUsage || !strings.HasPrefix(stderr.String(), "redlocksim: ") {
			if cmd.Name() != "lint" || code != exitUsage { // whose answer that is
				t.Errorf("%s: exit code %d, want %d: %s", cmd.Name(), code, exitUsage, &stderr)
			}
		}
		// To keys the word is a server that does not answer.
		if stdout.Len() > 0 && cmd.Name() != "lint" && cmd.Name() != "keys" {
			t.Errorf("%s says on standard output: %s", cmd.Name(), &stdout)
		}
	}
}
