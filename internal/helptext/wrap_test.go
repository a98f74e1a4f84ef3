package helptext

import (
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct{ first, indent, text, want string }{
		{"  0", "     ", "as expected", "  0 as expected\n"},
		{"", "", strings.Repeat("0123456789 ", 8), strings.TrimSpace(" "+strings.Repeat("0123456789 ", 7)) + "\n0123456789\n"},
		{"a:", "  ", strings.Repeat("ρ", 77) + " b", "a: " + strings.Repeat("ρ", 77) + "\n  b\n"},
		{"a:", "  ", strings.Repeat("ρ", 78) + " b", "a:\n  " + strings.Repeat("ρ", 78) + "\n  b\n"},
		{"a:", "  ", "", "a:\n"},
	} {
		if got := Wrap(c.first, c.indent, c.text); got != c.want {
			t.Errorf("Wrap(%q, %q, %q):\n%s\nwant\n%s", c.first, c.indent, c.text, got, c.want)
		}
	}
}
