package printable_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	_ "redlocksim/internal/nofailfile"

	"redlocksim/internal/printable"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "",
		`client 1, "naïve" 锁 \n`: `client 1, "naïve" 锁 \n`,
		"a\n::error::x":          `a\n::error::x`,
		"\x1b[31mred\x1b]0;t\a":  `\x1b[31mred\x1b]0;t\a`,
		"a\xffb":                 `a\xffb`,
		"a\u202eb\u2028c\u0085":  `a\u202eb\u2028c\u0085`,
		"\ufffd":                 "\ufffd",
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever the bytes are, the line has nothing in it that is not printable, and is its own line.
func TestLineIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := printable.Line(string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text"))
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || printable.Line(line) != line {
			t.Fatalf("%q", line)
		}
	})
}
