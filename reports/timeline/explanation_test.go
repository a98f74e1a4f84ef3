package timeline

import (
	"slices"
	"strings"
	"testing"
)

// The clock jump for somebody who has read neither post; a run in which nothing breaks has nothing to explain.
func TestExplanation(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	want := []string{
		"A client has this lock while 3 of the 5 nodes keep its key, and a node keeps the key of one client at a time.",
		"client-1 gets the lock at 6.25ms with the votes of A, B, C (3 of 5), and believes in it until 8.01s.",
		"At 1.01s the wall clock of C jumps forward by 10s; C forgets: client-1 is left with 2 of 5 votes, and still believes in its lock.",
		"client-2 gets the lock at 1.11s with the votes of C, D, E (3 of 5), and believes in it until 3.11s; C votes again.",
		"From 1.11s to 3.11s each of them believes that nobody else has the lock.",
	}
	if !slices.Equal(line.Explanation, want) {
		t.Errorf("%q, want %q", line.Explanation, want)
	}
	_, line = drawn(t, "26-restart-too-early/too-short")
	if third, want := line.Explanation[2], "At 1.01s C is killed; the vote of C is gone: client-1 is left with 2 of 5 votes, and still believes in its lock."; third != want {
		t.Errorf("%q, want %q", third, want)
	}
	// Of several resources, the votes are those on the one that is held twice.
	_, line = drawn(t, "71-locks-on-several-resources/jump")
	if fourth := line.Explanation[3]; !strings.HasSuffix(fourth, "with the votes of C, D, E (3 of 5), and believes in it until 3.11s; C votes again.") {
		t.Errorf("%q", fourth)
	}
	if _, line = drawn(t, "24-restart-at-once/one-of-five"); line.Explanation != nil {
		t.Errorf("%q of a run in which nothing breaks", line.Explanation)
	}
}

// A known counterexample is no alarm, and what nobody expected is one.
func TestHeadline(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	if got, want := line.Headline(), "two holders: the published result (verdict: lease-overlap, as expected)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	line.OK, line.Expected = false, "safe"
	if got, want := line.Headline(), "verdict: lease-overlap, NOT AS EXPECTED (safe)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
