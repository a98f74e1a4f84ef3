package printable_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

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

func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"one\n\ttwo\n":                 "one\n\ttwo\n",
		"a\x1b[31m\nb\r\nc\a\td\u202e": `a\x1b[31m` + "\n" + `b\r` + "\n" + `c\a` + "\t" + `d\u202e`,
	} {
		if got := printable.Lines(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		text string
		max  int
		want string
	}{
		{"", 10, ""},
		{"LOADING Redis is loading", 100, "LOADING Redis is loading"},
		{`user "x" \ y`, 100, `user "x" \ y`},
		{"a\x1b[31mred\r\nb\x00", 100, `a\x1b[31mred\r\nb\x00`},
		{"0123456789", 4, "0123… (10 bytes)"},
		{"Grüße", 3, "Gr… (7 bytes)"},
		{"\xff\xfe", 10, `\xff\xfe`},
		{strings.Repeat("\x80", 20), 10, strings.Repeat(`\x80`, 6) + "… (20 bytes)"},
	} {
		if got := printable.Text(c.text, c.max); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// Whatever the text, what comes out is printable, and no longer than the longest escapes of what is kept.
func TestAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		max := rapid.IntRange(0, 50).Draw(t, "max")
		got := printable.Text(text, max)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) || len(got) > 10*max+40 {
			t.Errorf("%q", got)
		}
	})
}
