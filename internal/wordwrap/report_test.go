package wordwrap

import "testing"

func TestReport(t *testing.T) {
	for _, x := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"   5    1.0063s  the clock of C jumps far\n", "   5    1.0063s  the clock of\n                 C jumps far\n"},
		{"verdict    one two three four five\nsix", "verdict    one two three four\n           five\nsix"},
		{"redlocksim: nothing is known of it", "redlocksim: nothing is known\n  of it"},
		{"  [K] a title that is too long, too", "  [K] a title that is too\n  long, too"},
		{"repeat     redlocksim run a-long-name --seed 7\n", "repeat     redlocksim run a-long-name --seed 7\n"},
		{"\x1b[32mcolours are left as they are\x1b[0m, always", "\x1b[32mcolours are left as they are\x1b[0m, always"},
		{"", ""},
	} {
		if got := Report(x.text, 30); got != x.want {
			t.Errorf("%q becomes\n%q, want\n%q", x.text, got, x.want)
		}
	}
}
