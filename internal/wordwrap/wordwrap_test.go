package wordwrap

import (
	"slices"
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	for _, c := range []struct{ first, indent, text, want string }{
		{"  0", "     ", "as expected", "  0 as expected\n"},
		{"", "", strings.Repeat("0123456789 ", 8), strings.TrimSpace(" "+strings.Repeat("0123456789 ", 7)) + "\n0123456789\n"},
		{"a:", "  ", strings.Repeat("ρ", 77) + " b", "a: " + strings.Repeat("ρ", 77) + "\n  b\n"},
		{"a:", "  ", strings.Repeat("ρ", 78) + " b", "a:\n  " + strings.Repeat("ρ", 78) + "\n  b\n"},
		{"a:", "  ", "", "a:\n"},
	} {
		if got := Help(c.first, c.indent, c.text); got != c.want {
			t.Errorf("Help(%q, %q, %q):\n%s\nwant\n%s", c.first, c.indent, c.text, got, c.want)
		}
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", " \n ", nil},
		{"as wide as a line", "0123 56789", []string{"0123 56789"}},
		{"one column wider", "01234 56789", []string{"01234", "56789"}},
		{"characters, not bytes", "ρρρρ ρρρρρ", []string{"ρρρρ ρρρρρ"}},
		{"a word longer than a line", "0123456789ab c", []string{"0123456789ab", "c"}},
		{"a long word behind another", "a 0123456789ab", []string{"a", "0123456789ab"}},
		{"spaces of all kinds", "a  b\nc\td", []string{"a b c d"}},
	} {
		if got := Lines(c.text, 10); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
