package shell

import (
	"os/exec"
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
