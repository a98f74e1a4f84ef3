package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A shell reads back what was quoted.
func TestQuote(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	for _, word := range []string{"plain/file.yaml", "two words", "it's", "$HOME", "*", "a;b", "`x`", "back\\slash", "", "-n", "ü"} {
		out, err := exec.Command(sh, "-c", "printf %s "+Quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q is read as %q: %v", word, out, err)
		}
	}
	if got := Quote("plain/file.yaml"); got != "plain/file.yaml" {
		t.Errorf("a plain word is quoted: %s", got)
	}
}

// What was quoted is split into the words that it was.
func TestSplit(t *testing.T) {
	words := []string{"python3", "my locks/lock.py", "--name=it's", "a\\b", "$HOME", "a;b", "ü"}
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, Quote(w))
	}
	if got, err := Split(strings.Join(quoted, "  ")); err != nil || !slices.Equal(got, words) {
		t.Errorf("%q, %v", got, err)
	}
	for command, want := range map[string]string{
		"a 'b":    "not closed",
		"a | b":   `more than one command: quote what is meant literally from "| b" on`,
		"a; rm b": "more than one command",
		"a > b":   "more than one command",
	} {
		if got, err := Split(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", command, got, err)
		}
	}
	if got, err := Split(" "); err != nil || len(got) > 0 {
		t.Errorf("%q, %v", got, err)
	}
}
