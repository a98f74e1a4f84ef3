package timeline

import (
	"slices"
	"strings"
	"testing"

	"redlocksim/scenarios"
)

// encoded is a scenario of the catalogue as a file.
func encoded(t *testing.T, name string) []byte {
	t.Helper()
	s, ok := scenarios.Find(name)
	if !ok {
		t.Fatalf("there is no %s", name)
	}
	text, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A vote that is given back before the client believes is no loss, though the value is used again; and of votes that are gone
// before the client believes it is not said that it gets the lock with them. A client's own release does not vote again.
func TestExplanationsOfOtherLocks(t *testing.T) {
	for _, x := range []struct{ name, never string }{
		{"105-restarted-client/late-release-by-name", "comes to believe"},
		{"52-implementations-and-slow-acquires/node-redlock", "gets the lock at 13s with the votes"},
	} {
		_, line := drawn(t, x.name)
		for _, sentence := range line.Explanation {
			if strings.Contains(sentence, x.never) {
				t.Errorf("%s: %q", x.name, sentence)
			}
		}
	}
	for _, name := range []string{"40-careless-renewal/one-node", "20-client-clock-steps-back/wall"} {
		_, line := drawn(t, name)
		for _, l := range line.Lanes {
			told := 0
			for _, s := range l.all(votesSpan) {
				if strings.Contains(s.Label, "again") {
					told++
				}
			}
			if told > 1 {
				t.Errorf("%s: %s has %d counts of which some vote again", name, l.Name, told)
			}
		}
	}
	// The only vote, lost by a failover, is told; and a lease that is over before a late write.
	for name, want := range map[string]string{"06-failover-to-a-replica": "the key on M is gone, and client-1 still believes in its lock", "32-pause-before-write": "The lease of client-1 is over at"} {
		_, line := drawn(t, name)
		if !strings.Contains(strings.Join(line.Explanation, " "), want) {
			t.Errorf("%s: %q lacks %q", name, line.Explanation, want)
		}
	}
}

// The clock jump for somebody who has read neither post; a run in which nothing breaks has nothing to explain.
func TestExplanation(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	want := []string{
		`A client has the lock on "R" while 3 of the 5 nodes keep its key. A node keeps the key of one client at a time, for 10s by its own clock.`,
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

// A deposed master and the replica in its place both vote, and the picture says so; with one server for a node, none does.
func TestTwoServersVoteForOneNode(t *testing.T) {
	for name, want := range map[string]struct{ label, sentence string }{
		"07-failover-with-wait/both-sides-serve": {"M3 grants beside M", "gets the lock at 4.01s, and believes in it until 11.03s; M3 keeps its key while M still keeps that of client-1."},
		"07-failover-with-wait/other-replica":    {},
		"08-redlock-over-replicated-nodes":       {},
		"17-clock-jump":                          {},
	} {
		_, line := drawn(t, name)
		var labels []string
		for _, l := range line.Lanes {
			for _, s := range l.all(votesSpan) {
				if strings.Contains(s.Label, "beside") {
					labels = append(labels, l.Name+": "+s.Label)
				}
			}
		}
		var sentences []string
		for _, sentence := range line.Explanation {
			if strings.Contains(sentence, "still keeps") {
				sentences = append(sentences, sentence)
			}
		}
		if want.label == "" {
			if len(labels)+len(sentences) > 0 {
				t.Errorf("%s: %q, %q", name, labels, sentences)
			}
			continue
		}
		if !slices.Equal(labels, []string{"client-2: " + want.label}) || len(sentences) != 1 || !strings.HasSuffix(sentences[0], want.sentence) {
			t.Errorf("%s: %q, %q", name, labels, line.Explanation)
		}
	}
}

// A known counterexample is no alarm, and what nobody expected is one.
func TestHeadline(t *testing.T) {
	_, line := drawn(t, "17-clock-jump")
	if got, want := line.Headline(), "two holders (lease-overlap): breaks, as published"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// What is not in the catalogue as it is nobody has published, whatever its source says.
	own, err := scenarios.Parse("own.yaml", encoded(t, "17-clock-jump"))
	if err != nil {
		t.Fatal(err)
	}
	own[0].Name = "17-clock-jump"
	ours := timelineOf(t, judged(t, own[0], scenarios.Options{Record: true}))
	if got, want := ours.Headline(), "two holders (lease-overlap): breaks, as expected"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	own[0].Expect.Findings = nil
	wrong := timelineOf(t, judged(t, own[0], scenarios.Options{Record: true}))
	if got, want := wrong.Headline(), "two holders (lease-overlap), NOT AS EXPECTED (expected: holds)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A lock that nobody can take any more has no violation, and is no lock that holds.
	_, stuck := drawn(t, "01-setnx-then-expire/a-minute")
	if got, want := stuck.Headline(), "stuck, leaks R, as published"; got != want || !stuck.IsKnown() {
		t.Errorf("%q, want %q, and known: %v", got, want, stuck.IsKnown())
	}
}

// Of two leases of one client, nothing is told twice.
func TestNothingIsExplainedTwice(t *testing.T) {
	found, err := scenarios.Parse("two-leases.yaml", []byte(`title: two callers of one client
source: test
explanation: E forgets its vote, and another caller of the same client gets it
claim: holds
nodes: {names: [A, B, E]}
clients: [client-3]
timeline:
  - {at: 0s, client: client-3, do: [lock]}
  - {at: 0s, client: client-3, do: [try-lock]}
  - {at: 5ms, fault: {evict: {node: E}}}
duration: 10s
expect: {findings: lease-overlap, unavailable: {at-most: 7ms}}
`))
	if err != nil {
		t.Fatal(err)
	}
	line := timelineOf(t, judged(t, found[0], scenarios.Options{Record: true, Seed: 582630707856718}))
	const forgets = "At 5ms all locks are evicted from E; E forgets: client-3 is left with 1 of 3 votes, and comes to believe in its lock."
	all := slices.Sorted(slices.Values(line.Explanation))
	if !slices.Contains(all, forgets) || len(slices.Compact(all)) < len(line.Explanation) {
		t.Errorf("%q", line.Explanation)
	}
}
